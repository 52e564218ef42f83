"""Where things are and what is set: the data folder, store names, the table of keys."""
