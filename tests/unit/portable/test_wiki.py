"""A store as pages: the same again from the same memories, and what a person edits comes back as a note."""

import os
import re

import pytest

from memman.portable import files

SYNC = (
    "Sync sends photos last, after all text changes.",
    "Sync cursors are per device, not per user.",
    "In sync conflicts the server wins for the schedule, the phone for notes <5 days old.",
)
OTHERS = (
    "Releases go out on Tuesdays.",
    "The map uses MapLibre; see ![tile](http://example.org/x.png).",
    "Texts of the app are in locales/.",
    "Colours come from theme/tokens.ts.",
)


@pytest.fixture
def stored(box):
    """Return a box with a topic and a few memories beside it."""
    for text in (*SYNC, *OTHERS):
        box.remember(text)
    box.drain(seconds=120)
    return box


def built(box, folder):
    """Write the pages; return how many files were written, and the words."""
    done = box.memman("wiki", "build", str(folder))
    assert done.returncode == 0, done.stderr
    return int(done.stdout.split()[0]), done.stdout


def pages(folder):
    """Return what each file says, by its path."""
    return {str(path.relative_to(folder)): path.read_text() for path in sorted(folder.rglob("*.md"))}


def test_pages_are_traceable_and_the_same_when_built_again(stored, tmp_path):
    """Each memory is on a page by its id, each link leads to a file, nothing stored is active in a reader."""
    count, _ = built(stored, tmp_path / "wiki")
    first = pages(tmp_path / "wiki")
    assert count == len(first) == 5
    assert set(first) == {"index.md", "log.md", *(f"personal/{one}.md" for one in ("index", "sync", "everything-else"))}
    for name, text in first.items():
        for target in re.findall(r"\]\(([\w./-]+\.md)\)", text):
            assert os.path.normpath(os.path.join(os.path.dirname(name), target)) in first
        assert "<5" not in text
        assert "![" not in text
    told = [uid for name in first for uid in files.parted(first[name])[0].get("sources", ())]
    assert sorted(told) == sorted(stored.store("SELECT uid FROM memory"))
    assert built(stored, tmp_path / "wiki")[0] == 0
    assert built(stored, tmp_path / "again")[0] == count
    assert pages(tmp_path / "again") == first


def test_an_edit_comes_back_as_a_note_and_no_build_loses_it(stored, tmp_path):
    """A changed line replaces its memory, a new one is a note; until that is stored the page stays as it is."""
    folder = tmp_path / "wiki"
    built(stored, folder)
    path = folder / "personal/sync.md"
    edited = path.read_text().replace("per device, not per user", "per account: 3 < 4 devices, not")
    path.write_text(edited + "- Sync retries for six hours.\n")
    count, said = built(stored, folder)
    assert count == 0
    assert said.splitlines()[1:] == [
        f"edited, so not overwritten: {path}",
        f"`memman import {folder}` imports the edits, except headings and code: remove these yourself",
    ]
    done = stored.memman("import", "--mine", str(folder))
    assert "imported 2 notes" in done.stdout, done.stderr
    assert path.read_text() == edited + "- Sync retries for six hours.\n"
    assert built(stored, folder)[0] == 0
    stored.drain()
    built(stored, folder)
    text = path.read_text()
    assert "per account: 3 &lt; 4 devices, not" in text
    assert "Sync retries for six hours." in text
    assert SYNC[1] not in text
    assert f"~~{SYNC[1]}~~" in (folder / "log.md").read_text()
    assert "imported 0 notes" in stored.memman("import", "--mine", str(folder)).stdout


def test_what_is_no_page_of_ours_is_left_alone(stored, tmp_path):
    """A folder of other files is refused, and a file of one's own in the place of a page stays."""
    other = tmp_path / "other"
    other.mkdir()
    (other / "letter.md").write_text("Dear all")
    done = stored.memman("wiki", "build", str(other))
    assert done.returncode == 2
    assert "name a new folder" in done.stderr
    folder = tmp_path / "wiki"
    built(stored, folder)
    (folder / "personal/sync.md").write_text("mine now")
    assert "edited, so not overwritten" in built(stored, folder)[1]
    assert (folder / "personal/sync.md").read_text() == "mine now"


def test_no_build_takes_what_another_store_or_a_person_wrote(stored, tmp_path):
    """Pages of a store in a folder below, or in the same folder, stay, as an index of one's own does."""
    folder = tmp_path / "wiki"
    assert stored.memman("store", "create", "work").returncode == 0
    stored.memman("remember", "--store", "work", "Invoices are archived for ten years.")
    stored.drain(seconds=120)
    for where in (folder / "work", folder):
        assert stored.memman("wiki", "build", str(where), "--store", "work").returncode == 0
    before = pages(folder)
    (folder / "index.md").write_text("# My notes")
    built(stored, folder)
    after = pages(folder)
    assert after["index.md"] == "# My notes"
    page = "personal/everything-else.md"
    assert [after[page], after[f"work/{page}"]] == [before[page], before[f"work/{page}"]]
    assert "Sync sends photos last" in after["personal/sync.md"]


def test_a_page_goes_with_its_topic_and_a_secret_is_on_none(stored, tmp_path):
    """What is forgotten is on no page of the next build, and a page without lines is removed."""
    built(stored, tmp_path / "wiki")
    uids = stored.store("SELECT uid FROM memory WHERE text LIKE '%ync%'")
    assert stored.memman("forget", *uids).returncode == 0
    assert "1 removed" in built(stored, tmp_path / "wiki")[1]
    assert "Sync" not in "".join(pages(tmp_path / "wiki").values())


def test_what_is_no_memory_on_a_page_stays_there_and_does_not_come_in(stored, tmp_path):
    """Headings, code and rules of tables keep a page as it is; all else comes in without its Markdown."""
    folder = tmp_path / "wiki"
    built(stored, folder)
    path = folder / "personal/sync.md"
    first = path.read_text()
    for own in ("## My heading", "```\nmake sync\n```", "| - | - |"):
        path.write_text(f"{first}\n{own}\n")
        assert f"edited, so not overwritten: {path}" in built(stored, folder)[1]
        assert "imported 0 notes" in stored.memman("import", "--mine", str(folder)).stdout
        assert own in path.read_text()
    (line,) = (line for line in first.splitlines() if SYNC[1] in line and line.startswith("- "))
    edited = first.replace(line, f"{line} They are 64 bits.")
    path.write_text(f"{edited}\n#todo ask Anna\n- [ ] Bob is to be asked, too.\n")
    assert f"edited, so not overwritten: {path}" in built(stored, folder)[1]
    done = stored.memman("import", "--mine", str(folder))
    assert "imported 3 notes" in done.stdout, done.stderr
    stored.drain()
    texts = set(stored.store("SELECT text FROM memory WHERE status = 'current'"))
    assert {f"{SYNC[1]} They are 64 bits.", "#todo ask Anna", "Bob is to be asked, too."} <= texts
    assert SYNC[1] not in texts
    assert built(stored, folder)[1].count("edited") == 0


def test_an_edit_of_what_was_replaced_meanwhile_is_left_on_its_page(stored, tmp_path):
    """It is no second memory beside the newer one: the preview says why, and what brings it in."""
    folder = tmp_path / "wiki"
    built(stored, folder)
    path = folder / "personal/sync.md"
    path.write_text(path.read_text().replace("per device, not per user", "per device and app"))
    (uid,) = stored.store("SELECT uid FROM memory WHERE text = ?", SYNC[1])
    newer = "Sync cursors are per account."
    assert stored.memman("replace", uid, newer).returncode == 0
    stored.drain()
    done = stored.memman("import", "--mine", str(folder))
    assert "left out, edits of a memory replaced meanwhile" in done.stdout, done.stderr
    assert "imported 0 notes" in done.stdout
    assert f"edited, so not overwritten: {path}" in built(stored, folder)[1]
    path.write_text(re.sub(r"(device and app.*) \^\w+", r"\1", path.read_text()))
    assert "imported 1 note" in stored.memman("import", "--mine", str(folder)).stdout
