"""Wiring memman into coding agents: one file an agent, and the one careful writer of other programs' settings."""
