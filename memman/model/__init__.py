"""Pure records and the error tree: no I/O, no clock, no environment."""
