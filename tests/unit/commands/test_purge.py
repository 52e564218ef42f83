"""`memman purge` as most people have it: without the driver of a server."""

BLOCKS = """
import importlib.util, sys
find = importlib.util.find_spec
importlib.util.find_spec = lambda name, *more: None if name == "psycopg" else find(name, *more)
"""


def test_a_purge_needs_no_driver_of_a_server(box, tmp_path):
    """What only a shared store needs is not asked for where none is."""
    (tmp_path / "sitecustomize.py").write_text(BLOCKS)
    box.remember("The heron is the mascot of the team.")
    box.drain()
    box.environ["PYTHONPATH"] = str(tmp_path)
    done = box.memman("purge", box.store("SELECT uid FROM memory")[0])
    assert (done.returncode, done.stderr) == (0, "")
    assert box.store("SELECT uid FROM memory") == []
    assert "pip install 'memman[postgres]'" in box.memman("team", "members", "default").stderr
