"""The copy that `install` keeps where memman runs from a cache; e2e/test_cached.py makes one with uv and pipx."""

import pytest

from memman.config import kept


@pytest.mark.parametrize(
    ("place", "cached"),
    [
        ("home/.cache/uv/archive-v0/x", True),
        ("home/Library/Caches/uv/archive-v0/x", True),
        ("home/.local/pipx/.cache/0123abcd", True),
        ("tagged/archive-v0/x", True),
        ("home/.local/share/uv/tools/memman", False),
        ("home/.local/share/pipx/venvs/memman", False),
        ("src/memman/.venv", False),
    ],
)
def test_what_is_below_a_cache_vanishes(tmp_path, place: str, cached: bool) -> None:
    """A folder above it is called as caches are, or has their tag; a tag of its own, as uv writes, says nothing."""
    for folder in (place, "tagged"):
        (tmp_path / folder).mkdir(parents=True, exist_ok=True)
        (tmp_path / folder / "CACHEDIR.TAG").touch()

    assert kept.in_cache(str(tmp_path / place)) is cached


def test_a_memman_that_stays_keeps_no_copy(box, monkeypatch) -> None:
    """Installed for good, it removes the copies of before; in a cache with its Python it says what to do."""
    old = box.data / "program/0123abcd/bin"
    old.mkdir(parents=True)
    dry = box.memman("uninstall", "--dry-run")
    assert box.memman("install", "--no-wizard", "--target", "claude-code").returncode == 0
    assert list((box.data / "program").iterdir()) == []
    assert str(box.data / "program") in box.memman("uninstall", "--dry-run").stdout
    assert str(box.data / "program") not in dry.stdout
    assert box.memman("uninstall").returncode == 0
    assert not (box.data / "program").exists()

    monkeypatch.setattr(kept, "in_cache", lambda _: True)
    with pytest.raises(kept.CannotWrite, match="install memman with pipx or uv tool"):
        kept.stay(str(box.data))
    assert not (box.data / "program").exists()
