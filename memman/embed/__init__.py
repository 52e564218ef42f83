"""Embedders behind one Protocol. numpy costs 57 ms: what the agent's turn needs of them is in `static`."""
