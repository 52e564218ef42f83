"""What install laid down and somebody changed, by as little as one byte, is found by doctor."""

import random
import re
from collections import Counter
from pathlib import Path

import pytest

from memman.config.command import launcher_path
from memman.doctor import examine
from memman.doctor.finding import Context
from memman.integrations.installer import InstallRecord

# What users may set in the entry of the MCP server, and our remark on one.
THEIRS = re.compile(rb'"(?:tools|enabled|timeout)": (?:\[[^]]*\]|true|10000)|# by `memman install`')
AGENTS = ("claude-code", "codex", "gemini", "qwen", "copilot", "opencode")


def failed(data, check):
    """Return what one of doctor's checks fails of, in this process."""
    return [found.says for _, found in examine(Context(data), (check,)) if found.status == "fail"]


@pytest.mark.promise("S8")
def test_a_changed_byte_of_hooks_or_scripts_is_found(box, rounds, kept):
    """Of every file that memman wrote for an agent any byte that is changed makes doctor fail; put back, it is well."""
    targets = [word for name in AGENTS for word in ("--target", name)]
    box.memman("install", "--no-wizard", *targets)
    data = str(box.data)
    files = {Path(launcher_path(data)): "launcher"} | {Path(path): "agents" for path in InstallRecord(data).entries}
    assert [failed(data, check) for check in ("launcher", "agents")] == [[], []]
    chance, found, missed = random.Random(8), Counter(), []
    for number in range(rounds(56, 2000)):
        path, check = [*files.items()][number % len(files)]
        whole = path.read_bytes()
        theirs = {at for one in THEIRS.finditer(whole) for at in range(*one.span())}
        at = chance.choice([at for at in range(len(whole)) if at not in theirs])
        path.write_bytes(whole[:at] + bytes([whole[at] ^ 1]) + whole[at + 1 :])
        if failed(data, check):
            found[path.name] += 1
        else:
            missed.append((path.name, whole[max(0, at - 30) : at + 30], at))
        if number < len(files):
            assert box.memman("doctor", "--check", check).returncode == 1
        path.write_bytes(whole)
    assert missed == []
    assert [failed(data, check) for check in ("launcher", "agents")] == [[], []]
    assert len(files) > len(AGENTS)
    kept(f"{found.total()} changed bytes in {len(files)} files of {len(AGENTS)} agents: {len(missed)} missed")
