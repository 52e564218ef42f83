"""The page: what memman knows, to look at in a browser."""
