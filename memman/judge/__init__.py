"""A small trained encoder that tells what is worth keeping, and what a new statement does to an old one."""
