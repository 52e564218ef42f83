"""The careful writer: other programs that write meanwhile, killed writers, and what doctor asks."""

import json

import pytest

from memman.integrations.clients import TARGETS
from memman.integrations.edits import CannotEdit
from memman.integrations.files import clear_draft, digest, missing_folders, swap
from memman.integrations.installer import InstallRecord, drift, expected, installed, plan, unreadable, wire
from memman.integrations.target import LAID, File, Wiring
from memman.model.errors import BadConfig, Busy, CannotWrite

CLAUDE = TARGETS["claude-code"]


def wired(box, target, **wiring):
    """Wire one agent in this process."""
    manifest = InstallRecord(str(box.data))
    for file in target.files(Wiring(str(box.data), **wiring)):
        wire(manifest, target, file)
    launcher = box.data / "bin/memman"
    launcher.parent.mkdir(exist_ok=True)
    launcher.write_text("program=/bin/true\n")


def hooks_file(path, also):
    """Return a hooks file of Gemini's form whose making is watched: `also` runs while it is worked out."""
    return File(
        str(path), "hooks-json", "hooks", lambda text: also(text) or (text or "{}").replace("{", '{"ours": 1,', 1)
    )


def test_a_change_of_another_program_is_not_overwritten(box, tmp_path):
    """What another program writes while we work is read again, and our change goes on top of it."""
    path = tmp_path / "settings.json"
    path.write_text('{"a": 1}')
    turns = iter(['{"a": 2}', '{"a": 3}'])

    def meddle(_):
        if other := next(turns, ""):
            path.write_text(other)

    wire(InstallRecord(str(box.data)), CLAUDE, hooks_file(path, meddle))
    assert path.read_text() == '{"ours": 1,"a": 3}'


def test_a_program_that_never_stops_writing_is_given_up_on(box, tmp_path):
    """A file that changes at every try is left to the other program, and the try can be repeated."""
    path = tmp_path / "settings.json"
    path.write_text("{}")

    def meddle(text):
        path.write_text(text + " ")

    with pytest.raises(Busy, match="another program"):
        wire(InstallRecord(str(box.data)), CLAUDE, hooks_file(path, meddle))
    assert "ours" not in path.read_text()
    assert [entry.name for entry in tmp_path.iterdir() if "memman-new" in entry.name] == []


def test_swapping_compares_right_before(tmp_path):
    """A file is replaced, made or removed only while it holds what was expected."""
    path = str(tmp_path / "file")
    assert swap(path, None, b"one")
    assert not swap(path, None, b"two")
    assert not swap(path, b"zero", b"two")
    assert not swap(path, b"zero", None)
    assert swap(path, b"one", b"two")
    assert (tmp_path / "file").read_bytes() == b"two"
    assert swap(path, b"two", None)
    assert list(tmp_path.iterdir()) == []


def test_a_link_to_nothing_is_written_through(tmp_path):
    """A link whose target is missing stays a link; the target is made."""
    (tmp_path / "link").symlink_to("deep/target")
    assert missing_folders(str(tmp_path / "link")) == [str(tmp_path / "deep")]
    assert swap(str(tmp_path / "link"), None, b"one")
    assert (tmp_path / "link").is_symlink()
    assert (tmp_path / "deep/target").read_bytes() == b"one"


@pytest.mark.parametrize(("mode", "left"), [(0o640, 0o600), (0o664, 0o644)])
def test_a_group_that_is_not_ours_to_give_keeps_no_file_from_us(tmp_path, monkeypatch, mode, left):
    """The file is written, and what its group could read nobody else's group can; another owner's file is refused."""
    path = tmp_path / "file"
    path.write_text("one")
    path.chmod(mode)

    def refuse(*_):
        raise PermissionError(1, "Operation not permitted")

    monkeypatch.setattr("os.fchown", refuse)
    monkeypatch.setattr("os.getegid", lambda: path.stat().st_gid + 1)
    assert swap(str(path), b"one", b"two")
    assert (path.read_text(), path.stat().st_mode & 0o777) == ("two", left)
    monkeypatch.setattr("os.geteuid", lambda: path.stat().st_uid + 1)
    with pytest.raises(CannotWrite, match="not permitted"):
        swap(str(path), b"two", b"three")
    assert path.read_text() == "two"


def test_a_draft_of_a_killed_writer_is_cleared(tmp_path):
    """What a killed writer left is removed, be it a link that somebody put there, and never followed."""
    (tmp_path / "precious").write_text("precious")
    draft = tmp_path / ".file.memman-new"
    draft.symlink_to("precious")
    assert swap(str(tmp_path / "file"), None, b"one")
    assert (tmp_path / "precious").read_text() == "precious"
    draft.write_text("half")
    clear_draft(str(tmp_path / "file"))
    assert not draft.exists()


def test_what_cannot_be_written_is_one_line(tmp_path):
    """A file where a folder should be, and a loop of links, are named with the system's own word."""
    (tmp_path / "file").write_text("")
    with pytest.raises(CannotWrite, match="could not be written"):
        swap(str(tmp_path / "file/settings.json"), None, b"one")
    (tmp_path / "a").symlink_to("b")
    (tmp_path / "b").symlink_to("a")
    with pytest.raises(CannotWrite, match="could not be"):
        swap(str(tmp_path / "a"), None, b"one")


def test_an_edit_that_breaks_a_file_is_never_written(box, tmp_path):
    """Should an edit ever give a text that cannot be read, it is refused before anything is written."""
    path = tmp_path / "settings.json"
    path.write_text("{}")
    broken = File(str(path), "hooks-json", "hooks", lambda text: f"{text}]")
    with pytest.raises(BadConfig, match="the file was not changed"):
        wire(InstallRecord(str(box.data)), CLAUDE, broken)
    assert path.read_text() == "{}"


def test_a_damaged_manifest_counts_as_lost(box):
    """A manifest that cannot be read is no failure: what is ours is found by its commands."""
    wired(box, CLAUDE)
    for text in ("{", "[]", '{"files": [{"path": 5}]}', '{"files": 7}'):
        (box.data / "install.json").write_text(text)
        assert InstallRecord(str(box.data)).entries == {}
        assert installed(CLAUDE, str(box.data))


def test_a_lost_backup_makes_uninstall_take_out_our_part(box, tmp_path):
    """Without the original's bytes our entries are taken out, and the rest stays."""
    path = tmp_path / ".claude/settings.json"
    path.parent.mkdir()
    path.write_text('{\n  "model": "x"\n}\n')
    wired(box, CLAUDE)
    for kept in (box.data / "backups/settings").iterdir():
        kept.write_text("damaged")
    assert box.memman("uninstall").returncode == 0
    assert path.read_text() == '{\n  "model": "x"\n}\n'


def test_doctor_learns_what_is_installed_and_what_differs(box, tmp_path):
    """Installed and drift tell a sound installation from a changed, doubled or half one."""
    data, path = str(box.data), tmp_path / ".claude/settings.json"
    assert not installed(CLAUDE, data)
    assert [file.form for file in expected(CLAUDE, data)] == ["claude-settings", *[LAID] * 4, "mcp-json"]
    wired(box, CLAUDE)
    assert installed(CLAUDE, data)
    assert drift(CLAUDE, data) == unreadable(CLAUDE) == []
    held = json.loads(path.read_text())
    held["hooks"]["Stop"] *= 2
    path.write_text(json.dumps(held))
    assert any(f"{path} was changed" in line for line in drift(CLAUDE, data))
    (box.data / "bin/memman").unlink()
    assert any("the launcher is missing" in line for line in drift(CLAUDE, data))
    path.write_text("{")
    assert str(path) in unreadable(CLAUDE)[0]
    assert any(str(path) in line for line in drift(CLAUDE, data))


def test_an_upgrade_replaces_what_the_last_version_laid(box, tmp_path):
    """Files as an older version left them give way to this version's, and uninstall still goes back to the first."""
    path = tmp_path / ".claude/settings.json"
    path.parent.mkdir()
    path.write_text("{\t}")
    wired(box, CLAUDE)
    manifest = InstallRecord(str(box.data))
    entry = manifest.entries[str(path)]
    older = path.read_bytes().replace(b'"timeout": ', b'"timeout": 4')
    assert swap(str(path), path.read_bytes(), older)
    entry.ours.append(digest(older))
    manifest.save()
    assert drift(CLAUDE, str(box.data))
    wired(box, CLAUDE)
    assert drift(CLAUDE, str(box.data)) == []
    assert box.memman("uninstall").returncode == 0
    assert path.read_text() == "{\t}"


def test_a_plan_changes_nothing(box, tmp_path):
    """Planning reads only."""
    path = tmp_path / ".claude/settings.json"
    path.parent.mkdir()
    path.write_text("{}")
    for file in expected(CLAUDE, str(box.data)):
        plan(InstallRecord(str(box.data)), file)
    assert path.read_text() == "{}"
    assert not box.data.exists()


def test_unreadable_text_is_refused(box):
    """A launcher path that is not UTF-8 cannot stand in a settings file, and is refused."""
    file = CLAUDE.files(Wiring("/nowhere/\udcff"))[0]
    with pytest.raises((BadConfig, CannotEdit), match="not UTF-8"):
        plan(InstallRecord(str(box.data)), file)
