"""Who starts drains: systemd, launchd, a loop in the foreground (serve.py, for containers), or else a write."""
