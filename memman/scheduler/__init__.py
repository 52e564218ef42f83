"""Who starts drains: systemd, launchd, or a loop in the foreground."""
