"""The SQLite adapter: one file a store."""
