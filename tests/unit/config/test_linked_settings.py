"""An env file that is a link: what it leads to is written, and nobody else can read it."""

import stat

import pytest

KEY = "sk-of-the-test-0123456789"


@pytest.mark.parametrize("there", [True, False], ids=["present", "dangling"])
def test_a_setting_is_written_through_a_link(box, there):
    """`config set` and `unset` change the file a link leads to, make it private, and keep the link."""
    kept = box.data.parent / "dotfiles"
    kept.mkdir()
    if there:
        (kept / "env").write_text("# mine\nMEMMAN_HTTP_TRIES=3\n")
        (kept / "env").chmod(0o644)
    box.data.mkdir()
    (box.data / "env").symlink_to(kept / "env")
    assert box.memman("config", "set", "LLM_API_KEY", KEY).returncode == 0
    assert (box.data / "env").is_symlink()
    assert stat.S_IMODE((kept / "env").stat().st_mode) == 0o600
    assert f"MEMMAN_LLM_API_KEY={KEY}" in (kept / "env").read_text()
    assert ("# mine" in (kept / "env").read_text()) == there
    assert box.memman("config", "unset", "LLM_API_KEY").returncode == 0
    assert KEY not in (kept / "env").read_text()
    assert sorted(path.name for path in kept.iterdir()) == ["env"]


def test_a_link_that_leads_nowhere_is_one_line(box):
    """A link in a circle cannot be written, and that is said."""
    box.data.mkdir()
    (box.data / "env").symlink_to(box.data / "env")
    done = box.memman("config", "set", "LLM_API_KEY", KEY)
    assert done.returncode != 0
    assert done.stderr.count("\n") == 1
    assert "env could not be" in done.stderr
