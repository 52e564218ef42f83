"""The SQLite adapter: one file per store."""
