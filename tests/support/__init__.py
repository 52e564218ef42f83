"""Real implementations to test against: no mocks, nothing patched by name."""
