"""Figures: speed and size, printed as JSON and as a table. Never part of `make test`."""
