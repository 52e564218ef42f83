"""Memory as tools of the Model Context Protocol: its frames, its two eras, and the table of the tools."""
