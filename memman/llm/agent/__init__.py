"""The user's own coding agent as the model: its program, run headless under the login that it has."""
