"""What an installation without extras can do: everything but sharing."""

import subprocess
import sys

LOOK = """
import sys
sys.modules["psycopg"] = sys.modules["pyrage"] = None
import memman.drain.run, memman.drain.upkeep, memman.doctor, memman.recovery.restore, memman.upkeep.idle
"""


def test_a_drain_needs_no_driver_of_a_server():
    """What drains, checks and restores is loaded where neither Postgres's driver nor the encryption is installed."""
    done = subprocess.run((sys.executable, "-c", LOOK), capture_output=True, text=True, check=False)
    assert (done.returncode, done.stderr) == (0, "")
