"""A local SQLite store that is a copy of one on a server: read like any store, written through the server."""
