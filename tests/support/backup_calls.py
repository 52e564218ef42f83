"""How tests call the verbs of backups."""

import json


def run(box, *args, code=0):
    """Run `memman`; return what it printed."""
    done = box.memman(*args)
    assert done.returncode == code, done.stderr
    return done.stdout if code == 0 else done.stderr


def restored(box, *args, code=0):
    """Restore the last backup; return what became of each store."""
    said = run(box, "backup", "restore", "latest", "--json", *args, code=code)
    return json.loads(said) if code == 0 else said
