"""Agents that memman wires: what each needs, and whether it stands as this version ships it."""
