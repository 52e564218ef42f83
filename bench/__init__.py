"""Figures: speed and size, printed as JSON and as a table. Never part of `make test`."""

import os

# Figures say themselves when a drain runs.
os.environ["MEMMAN_DRAIN"] = "off"
# As memman sets it for drains; a bench may import numpy before it imports memman.
os.environ.setdefault("OPENBLAS_NUM_THREADS", "1")
