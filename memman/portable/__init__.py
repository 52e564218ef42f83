"""Memories in files: memman's own JSON lines and Markdown, and what other tools have."""
