"""Who starts drains: systemd, launchd, a loop in the foreground, or else a write.

An adapter is a module with what the Protocol in adapter.py says; serve.py is the loop for containers.
"""
