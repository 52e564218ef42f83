"""memman: persistent memory for AI coding agents."""

import os

__version__ = "0.2.0"

# Read when numpy is first imported, by whichever module: a drain's matrices are small, and beside an agent at work,
# threads that wait for each other make the judge six times slower.
os.environ.setdefault("OPENBLAS_NUM_THREADS", "1")
