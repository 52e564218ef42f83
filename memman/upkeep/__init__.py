"""Work on stores that no note asked for: vectors that are missing, secrets that older rules missed, purged bytes."""
