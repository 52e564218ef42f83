"""Figures: speed and size, printed as JSON and as a table. Never part of `make test`."""

import os

# Figures say themselves when a drain runs.
os.environ["MEMMAN_DRAIN"] = "off"
