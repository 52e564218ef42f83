"""How often a note is tried, and how long it waits before it is tried again."""

# Failures of a note's own after which it is parked; memman.drain.consequences says which failures those are.
ATTEMPTS = 5
# Waiting time after the n-th transient failure of one note, in seconds; lifted when the provider recovers.
BACKOFF = (0, 0, 0, 60, 120, 240, 480, 900, 1800, 3600)
