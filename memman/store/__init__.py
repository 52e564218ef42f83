"""Stores: named, isolated sets of memories. Protocols in `protocols`, adapters beside it."""
