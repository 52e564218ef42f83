"""Whether everything works, one file a check: what is wrong, and the command that mends it."""
