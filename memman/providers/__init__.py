"""Models and embedders: what the settings choose, how each is built, and what stands around it in a drain."""
