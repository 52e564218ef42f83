"""A member of the folder that has the key and means harm, or a newer memman: neither crashes a round nor gets in."""

import json
import shutil

import pytest

from memman.store.records import Record, body
from memman.sync import exchange
from memman.sync.folder import Header, Key, Name, packed
from tests.support.machines import current, done, machine, pair, told

HOST = "f" * 16
TEXT = {
    "note": "n1", "text": "The raven is the mascot.", "category": "fact", "importance": 3, "entities": [],
    "keywords": [], "summary": "", "source": "user", "origin": "s", "valid_from": 1, "recorded_at": 1,
}  # fmt: skip
STATUS = {"status": "current", "valid_to": None, "retired_at": None, "superseded_by": None}
SOUND = Record(HOST, 1, 5, "n1", "m1", "learned", body("add", set={"text": TEXT, "status": STATUS}))


def planted(box, folder, *lines):
    """Put a segment with lines into the folder, as a host that has the key."""
    key = Key.load(str(box.data))
    name = Name.of(1, [7] * len(lines), key)
    header = Header("default", HOST, 1, len(lines), name.digest, {})
    (folder / HOST).mkdir(exist_ok=True)
    (folder / HOST / name.file).write_bytes(packed(header, [line + "\n" for line in lines], key))


def line(**changed):
    """Return a record that is another one in some fields."""
    return json.dumps(SOUND._replace(**({"n": 2} | changed)))


def saying(**parts):
    """Return the body of a record that sets parts of a state."""
    return json.dumps({"how": "add", "set": parts})


BAD = [
    "[]",
    "[" * 5000,
    '"' + "x" * 2000 + '"',
    "{}",
    line(n=3),
    line(host="e" * 16),
    line(n=2**70),
    line(at=-1),
    line(at=2**63),
    line(at=2**52 - 1),
    line(at="5"),
    line(act=""),
    line(memory="rejected:zz/../"),
    line(memory="a b\0"),
    line(kind="purged", body=""),
    line(visibility="all"),
    line(author=7),
    line(body="no json"),
    line(body="[" * 5000),
    line(body=saying(text={**TEXT, "text": 7})),
    line(act="\ud800"),
    line(body=saying(text={**TEXT, "category": "<b>"})),
    line(body=saying(text={**TEXT, "importance": 9})),
    line(body=saying(text={**TEXT, "entities": "x"})),
    line(body=saying(text={**TEXT, "valid_from": 2**70})),
    line(body=saying(text={"text": "alone"})),
    line(body=saying(status={"status": "gone", "valid_to": None, "retired_at": None, "superseded_by": None})),
    line(body=saying(status={"status": "current"})),
    line(body=saying(receipt={"at": 1, "outcome": "stored", "facts": 0, "at) VALUES (1); DROP TABLE note; --": 1})),
    line(body=saying(rule={"text": "x"})),
    line(body=saying(scope=["a"])),
    line(body=saying(**{"evidence [": 1})),
    line(body=saying(**{'edge ["causal","m2"]': {"weight": 9, "detail": ""}})),
    line(body='{"how":"add","set":{"until":NaN}}'),
    line(body='{"how":"add","set":[]}'),
    line(body='{"how":"forget"}'),
]


@pytest.mark.parametrize("bad", BAD)
def test_a_record_of_another_shape_is_refused(bad):
    """It says which it is."""
    assert exchange.read(line(), HOST, 2).said == SOUND.said
    with pytest.raises(exchange.Malformed, match=f"record 2 of host {HOST} "):
        exchange.read(bad, HOST, 2)


def test_nothing_after_a_refused_record_is_taken_in(box):
    """What came before it is there; the round ends well, with one line."""
    one, _, folder = pair(box)
    planted(one, folder, line(n=1), BAD[-1], line(n=3, memory="m3"))
    refused = one.memman("sync")
    assert (refused.returncode, refused.stderr.count("\n")) == (0, 1), refused.stderr
    assert f"record 2 of host {HOST} is not what memman writes" in refused.stderr
    assert "later ones were not read" in refused.stderr
    assert current(one) == ["The raven is the mascot."]


@pytest.mark.parametrize("newer", [line(n=2, kind="dreamt"), line(n=2, body='{"how":"dream"}')])
def test_what_a_newer_memman_writes_waits_for_an_upgrade(box, newer):
    """It says what to do, and takes in nothing that might need it."""
    one, _, folder = pair(box)
    planted(one, folder, line(n=1), newer)
    assert "written by a newer memman: upgrade this one" in one.memman("sync").stderr
    assert current(one) == ["The raven is the mascot."]


def test_a_secret_in_what_comes_is_taken_out(box):
    """Texts of other machines are screened like every text."""
    one, _, folder = pair(box)
    secret = "ghp_" + "a1B2c3D4e5F6g7H8i9J0k1L2m3N4o5P6q7R8"
    planted(one, folder, line(n=1, body=saying(text={**TEXT, "text": f"The token is {secret}."}, status=STATUS)))
    done(one, "sync")
    assert secret not in one.store("SELECT text FROM memory")[0]
    assert one.store("SELECT count(*) FROM record WHERE instr(body, ?)", secret) == [0]


def test_a_store_of_another_name_in_the_folder_is_let_be(box):
    """Several may share one folder."""
    one, _, folder = pair(box)
    told(one, "The heron is the mascot of the team.")
    third = machine(box, "third")
    key = (one.data / "sync" / "key").read_text()
    done(third, "store", "create", "work")
    done(third, "sync", "--folder", str(folder), "--store", "work", "--key", "-", input=key)
    assert third.memman("sync", "--store", "work").stdout == "0 records written, 0 taken in\n"
    shutil.rmtree(third.data)
