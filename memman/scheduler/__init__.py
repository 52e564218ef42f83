"""Who starts drains: systemd, launchd, a loop in the foreground, or a write where there is none of these.

An adapter is a module: systemd.py and launchd.py each have what the Protocol
in adapter.py says. setup.py installs the one that answers here, control.py
starts, stops and triggers it, report.py says how it is doing, serve.py is the
loop for containers. Whoever starts them, drains are the same command.
"""
