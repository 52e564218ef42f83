"""Memories in files: what is exported comes back as it was, and once."""

import json
import re
import shutil

import pytest

from memman.portable.export import read
from memman.recovery.check import troubles
from memman.store.records import TEXT, states_of
from memman.store.sqlite.schema import STEPS
from tests.support.machines import current, differing, done, machine, told
from tests.support.portable import answers, filled


def exported(box, name="out.jsonl", *args):
    """Export the store to a file beside the data folder; return its path."""
    path = box.data.parent / name
    done = box.memman("export", str(path), *args)
    assert done.returncode == 0, done.stderr
    return path


def imported(box, path, *args):
    """Import a file as somebody who agrees does; return the words of the preview."""
    done = box.memman("import", str(path), *args)
    assert done.returncode == 0, done.stderr + done.stdout
    return done.stdout + done.asked


def dumped(path):
    """Return the lines of an export, but when it was made and which machine tells each."""
    return [re.sub(r'"host":"\w+","n":\d+,', "", line) for line in path.read_text().splitlines()[1:]]


@pytest.mark.slow
def test_export_wipe_import_gives_the_same_answers(box):
    """200 questions get the same best hits with about the same scores, and a second export says the same.

    What a purge left free in the first file counts a little in what is usual there.
    """
    filled(box, 100)
    assert box.memman("graph", "rebuild").returncode == 0
    before, path = answers(box), exported(box)
    shutil.rmtree(box.data)
    count = len(box_states(path))
    assert f"imported {count} memories" in imported(box, path)
    box.drain()
    after = answers(box)
    assert sum(map(alike, before, after)) >= 190
    assert sum(map(len, before)) > 400
    assert sorted(dumped(exported(box, "again.jsonl"))) == sorted(dumped(path))
    assert "imported 0 memories" in imported(box, path)


def alike(one, other):
    """Whether two answers begin with the same three hits, their scores but little apart."""
    texts = [[hit[0]["text"] for hit in hits[:3]] for hits in (one, other)]
    scores = [[hit[1] for hit in hits[:3]] for hits in (one, other)]
    return texts[0] == texts[1] and scores[0] == pytest.approx(scores[1], abs=0.01)


def box_states(path):
    """Return the memories that an export has, by uid."""
    states = states_of(read(str(path), path.read_text()).records)
    return {uid: parts for uid, parts in states.items() if TEXT in parts}


def test_a_dash_is_standard_output(box):
    """No file is called `-`."""
    box.remember("The heron is the mascot of the team.")
    box.drain()
    assert "The heron" in box.memman("export", "-").stdout
    assert "-" not in {path.name for path in box.data.parent.iterdir()}


def test_two_copies_of_a_data_folder_take_each_other_in(box):
    """Each has records of the same host and numbers that say something else: all of it is everywhere in the end."""
    one, other, third = (machine(box, name) for name in ("one", "other", "third"))
    told(one, "The billing service listens on port 9110.")
    shutil.copytree(one.data, other.data)
    told(one, "The wiki lives at handbook dot example.")
    told(other, "The heron is the mascot of the team.")
    told(other, "Kafka topics are named by team and event.")
    first, second = exported(one, "first.jsonl"), exported(other, "second.jsonl")
    assert "imported 2 memories" in imported(third, first)
    for each in (third, third, one, one):
        imported(each, second)
    imported(other, first)
    imported(third, exported(other, "third.jsonl"))
    assert len(current(third)) == 4
    assert current(one) == current(other) == current(third)
    assert "imported 0 memories" in imported(third, second)
    told(one, "The lift is inspected in May.")
    assert "imported 1 memory" in imported(other, exported(one, "fourth.jsonl"))
    folder = one.data.parent / "shared"
    folder.mkdir()
    done(one, "sync", "--folder", str(folder))
    for each in (other, third, one, other, third):
        key = (one.data / "sync" / "key").read_text()
        done(each, "sync", "--folder", str(folder), "--key", "-", input=key)
    assert differing(one, other) == differing(one, third) == []
    assert len(current(one)) == 5
    assert troubles(str(one.store_path()), STEPS) == ""


def test_a_record_of_ours_that_we_never_wrote_harms_no_later_one(box):
    """What is recorded here afterwards has another host, and reaches other machines."""
    one, other = machine(box, "one"), machine(box, "other")
    told(one, "The billing service listens on port 9110.")
    path = exported(one)
    head, *lines = map(json.loads, path.read_text().splitlines())
    [said] = [line for line in lines if line["kind"] == "learned"]
    path.write_text(json.dumps(head) + "\n" + json.dumps(said | {"n": 1000, "memory": "m1", "act": "n1"}) + "\n")
    assert "is cut short" in one.memman("import", str(path)).stderr
    path.write_text(path.read_text().replace(f'"records": {len(lines)}', '"records": 1'))
    assert "imported 1 memory" in imported(one, path)
    told(one, "The wiki lives at handbook dot example.")
    folder = one.data.parent / "shared"
    folder.mkdir()
    done(one, "sync", "--folder", str(folder))
    done(other, "sync", "--folder", str(folder), "--key", "-", input=(one.data / "sync" / "key").read_text())
    assert current(other) == current(one)
    assert len(current(one)) == 3


def test_what_was_purged_where_an_export_is_from_is_purged_here(box):
    """The preview says so, nothing of it stays in any file, no older export brings it back; no change goes unsaid."""
    one, other = machine(box, "one"), machine(box, "other")
    for text in ("The zanzibar vault opens with a quokka token.", "The heron is the mascot of the team."):
        told(one, text)
    first = exported(one)
    imported(other, first)
    [uid] = one.store("SELECT uid FROM memory WHERE text LIKE '%quokka%'")
    done(one, "purge", uid)
    second = exported(one, "second.jsonl")
    assert "1 purged there, to be purged here" in done(other, "import", str(second), "--dry-run")
    assert "imported 0 memories, 1 purged" in imported(other, second)
    files = [path for path in other.data.rglob("*") if path.is_file()]
    assert not [path for path in files if b"quokka" in path.read_bytes()]
    assert uid in (other.data / "purged").read_text()
    assert "imported 0 memories" in imported(other, first)


@pytest.mark.parametrize(("scope", "why"), [("bogus", "--scope takes"), ("personal", "leave --scope out")])
def test_an_export_comes_in_with_its_own_scopes(box, scope, why):
    """Another one is refused before anything is asked or stored."""
    box.remember("The API listens on 8080.")
    box.drain()
    path = box.data.parent / "out.jsonl"
    box.memman("export", str(path))
    shutil.rmtree(box.data)
    ran = box.memman("import", str(path), "--scope", scope)
    assert (ran.returncode, ran.stdout) == (2, "")
    assert why in ran.stderr
    assert not (box.data / "data").exists()


def test_what_was_purged_stays_away(box):
    """An older export adds the rest, and says what it leaves out."""
    for text in ("The heron is the mascot of the team.", "The lift is inspected in May."):
        box.remember(text)
    box.drain()
    path = exported(box)
    assert box.memman("purge", *box.store("SELECT uid FROM memory")).returncode == 0
    assert "imported 0 memories" in imported(box, path)
    assert "purged: 2" in box.memman("import", str(path), "--dry-run").stdout


def test_a_file_that_was_tampered_with_costs_its_lines(box):
    """Parts and columns that are not memman's are refused with their line, and the rest comes in."""
    box.remember("The heron is the mascot of the team.")
    box.drain()
    path = exported(box)
    shutil.rmtree(box.data)
    good = path.read_text()
    for old, new in (
        ('"facts":1', '"facts":1,"at) VALUES (1)":2'),
        ('"importance":', '"worth":'),
        ('"n":1,', '"n":-1,'),
    ):
        assert old in good
        path.write_text(good.replace(old, new))
        assert "not carried: line " in box.memman("import", str(path), "--dry-run").stdout
    path.write_text(good.replace('"host"', '"hos"'))
    done = box.memman("import", str(path))
    assert (done.returncode, done.stderr.count("\n")) == (2, 1), done.stderr
    assert "nothing was imported" in done.stderr
    assert not box.store_path().exists()
    assert box.memman("import", str(path), "--store", "nowhere").returncode == 11


def test_an_export_adds_to_a_store_what_it_lacks(box):
    """In a store with memories of its own chains and edges arrive whole, later changes too, and no secret."""
    box.remember("We deploy billing to Fly.io from the main branch.")
    box.drain()
    box.remember("We moved billing from Fly.io to Render.")
    box.remember("The heron is the mascot of the team.")
    box.drain()
    first = exported(box, "first.jsonl")
    assert box.memman("forget", *box.store("SELECT uid FROM memory WHERE text LIKE '%heron%'")).returncode == 0
    path, key = exported(box), "ghp_" + "x7Kq2mZ9vL4tB8nR5wJ1cF6hD3sG0pYaQeUi"
    for file in (first, path):
        file.write_text(file.read_text().replace("the mascot", key + " the mascot"))
    shutil.rmtree(box.data)
    box.remember("Lunch is at noon.")
    box.drain()
    assert "1 superseded\n  2 current" in box.memman("import", str(first), "--dry-run").stdout
    assert "imported 3 memories" in imported(box, first)
    assert "1 changed" in box.memman("import", str(path), "--dry-run").stdout
    assert "imported 0 memories" in imported(box, path)
    chain = "SELECT o.text, n.text FROM memory o JOIN memory n ON n.id = o.superseded_by"
    moved = "We moved billing from Fly.io to Render."
    assert box.store(chain) == [("We deploy billing to Fly.io from the main branch.", moved)]
    assert box.store("SELECT status FROM memory WHERE text LIKE '%heron%'") == ["forgotten"]
    assert "ghp_" not in " ".join(box.store("SELECT body FROM record") + box.store("SELECT text FROM memory"))
    box.drain()
    assert box.store("SELECT count(*) FROM edge WHERE src <> dst")[0] > 0
    assert troubles(str(box.store_path()), STEPS) == ""
    assert exported(box, "b.jsonl").stat().st_mode & 0o777 == 0o600


def test_a_line_that_is_wrong_costs_that_line(box):
    """The rest of an export comes in, and the line is named."""
    for text in ("The heron is the mascot of the team.", "The lift is inspected in May."):
        box.remember(text)
    box.drain()
    path = exported(box)
    shutil.rmtree(box.data)
    lines = path.read_text().split("\n")
    number = next(n for n, line in enumerate(lines) if '"importance"' in line)
    lines[number] = lines[number].replace('"importance":', '"importance":9')
    path.write_text("\n".join(lines))
    assert f"not carried: line {number + 1} of {path}: 'text' is wrong" in imported(box, path)
    assert len(box.store("SELECT uid FROM memory")) == 1


def test_an_import_tells_as_json_what_came_in(box, tmp_path):
    """Of a text file, too: how many notes, of which kind, with examples."""
    (tmp_path / "notes.txt").write_text("The lift is inspected in May.\n")
    done = box.memman("import", str(tmp_path / "notes.txt"), "--json")
    assert done.returncode == 0, done.stderr
    told = json.loads(done.stdout)
    assert (told["imported"], told["samples"]) == (1, ["The lift is inspected in May."])
