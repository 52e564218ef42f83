"""Rules: which commands a pattern matches, what hooks answer, and what a session begins with."""

import io
import json
import shutil
import subprocess

import pytest

from memman.hot.events import HOSTS, answer
from memman.hot.hook import Progress
from memman.model import rule as rules
from memman.model.pattern import matches
from memman.model.payload import MAX_BYTES
from memman.model.shell import commands
from tests.security.test_purge import holds
from tests.support.box import PATIENCE
from tests.support.hook_calls import hook

# Pattern -> commands that it must match, and near misses.
CASES = {
    "git push github": (
        ("git push github", "sudo git push github main", "FOO=1 git push github", "git -C dir push github",
         "git push --force github", "cd x && git push github", "git push 'github'", "(git push github)",
         "git push \\\n github", "bash -c 'git push github'", 'echo "$(git push github)"', "x=`git push github`",
         "/usr/bin/git push github", "if true; then git push github; fi", "git push 2>&1 github",
         "git push --repo=github", "timeout 10 git push github", "bash <<EOF\ngit push github\nEOF",
         "echo 'git push github' | bash", "ssh host 'cd x; git push github'",
         "bash <<< 'git push github'", "printf '%s\\n' 'git push github' | tee x | ssh host bash"),
        ("git push githubmirror", "git push; github", "echo git push github", "echo 'git push github'",
         "git commit -m 'git push github'", "touch git push github", "grep -r git push github",
         "sudo touch git push github",         "git stash push github", "git push origin github", "# git push github",
         "cat <<EOF\ngit push github\nEOF", "git push | github", "git-push github", "git push github/x",
         "X='git push github'", "mygit push github", "git push origin main && git fetch github",
         "echo 'git push github' | tee bash", "echo 'git push github'; bash x", "echo bash | echo 'git push github'"),
    ),
    "rm -rf /": (
        ("rm -rf /", "rm -fr /", "rm -r -f /", "rm -rfv /", "rm --recursive --force /", "rm -rf foo /", "rm / -rf",
         "rm -rf -- /", "find . -exec rm -rf / \\;"),
        ("echo farm -rf /x", "rm -rf /x", "rm -r /", "rm -rf ./x", "rm -f /"),
    ),
    "git push --force": (
        ("git push origin main --force", "git push -f", "sudo -u ci git push -uf origin main"),
        ("git push --force-with-lease", "git fetch -f", "git push -F"),
    ),
    "rm -rf": (("rm -Rf x", "rm -fR x", "rm -R --force x"), ("rm -R x", "grep -Rf x")),
    "pip install": (
        ("pip3 install x", "pip3.12 install x", "python3.11 -m pip install x", "uv run pip install x"),
        ("pipx install x", "conda install pip"),
    ),
    "DROP TABLE": (
        ('psql -c "DROP TABLE users"', "psql -h db shop --command='drop table users'",
         "mysql -e 'SELECT 1; DROP\nTABLE x'",
         "echo 'DROP TABLE x;' | psql", "psql <<EOF\nDROP TABLE x;\nEOF", "sqlite3 app.db 'DROP TABLE x'",
         "psql -Atc 'DROP TABLE x'", "ssh db 'psql -c \"DROP TABLE x\"'", "docker exec db psql -c 'DROP TABLE x'"),
        ("echo psql -c 'DROP TABLE x'", "git commit -m 'DROP TABLE x'", "grep -rn 'DROP TABLE' .",
         "psql -c 'DROP INDEX x'", "psql -c 'SELECT drop_table'"),
    ),
    "timeout 9": (("timeout 9 make",), ("time out 9",)),
    "kubectl delete -n prod": (
        ("kubectl -n prod delete pod x", "kubectl delete pod web -n prod"), ("kubectl delete pod prod -n dev",),
    ),
    "npm publish": (("npm --registry https://x publish",), ("npm run publish", "npm help publish")),
    "curl | sh": (("curl -s https://x | sudo sh",), ("curl x > f; sh f",)),
    "--no-verify": (("git commit --no-verify -m x",), ("git commit -m --no-verify-x",)),
    "dd of=/dev/sda": (("dd if=x of=/dev/sda bs=1M",), ("dd if=/dev/sda of=x",)),
    "cat .env": (("cat ./.env",), ("cat .env.example",)),
    "git push github*": (("git push githubmirror",), ("git push mygithub",)),
}  # fmt: skip


@pytest.mark.parametrize("pattern", CASES)
def test_a_pattern_matches_what_a_person_means(pattern):
    """Quotes, options, wrappers and shells change nothing; near misses are not matched."""
    meant, near = ([matches(commands(pattern), commands(line)) for line in lines] for lines in CASES[pattern])
    assert [line for line, found in zip(CASES[pattern][0], meant, strict=True) if not found] == []
    assert [line for line, found in zip(CASES[pattern][1], near, strict=True) if found] == []


def test_a_rule_is_for_a_folder_that_is_there(box, tmp_path):
    """Another would never hold, and is refused in one line."""
    (tmp_path / "shop" / ".git").mkdir(parents=True)
    (tmp_path / "shop" / "web").mkdir()
    done = box.memman("rule", "add", "No pushes.", "--match", "git push", "--scope", "path:wbe", cwd=tmp_path / "shop")
    assert done.returncode == 2
    assert "there is no folder wbe" in done.stdout + done.stderr
    add_here = ("rule", "add", "No pushes.", "--match", "git push", "--scope", "path:web")
    assert box.memman(*add_here, cwd=tmp_path / "shop").returncode == 0


WRAPPED = """
mise x -- git push github|mise x node@20 -- git push github|mise exec -- git push github|mise x -c 'git push github'
nix develop -c git push github|nix develop .#ci --command git push github|nix-shell --run 'git push github'
nix-shell -p git --command 'git push github'|nix shell nixpkgs#git -c git push github|pixi run git push github
busybox sh -c 'git push github'|git.exe push github|/mnt/c/Git/git.exe push github|poetry run git push github
poetry -C app run git push github|uv run git push github|uv --directory app run git push github|pdm run git push github
hatch run git push github|hatch -e lint run git push github|direnv exec . git push github|asdf exec git push github
devbox run -- git push github|devbox run git push github|distrobox enter box -- git push github
distrobox-enter -n box -- git push github|firejail --net=none git push github|toolbox run -c box git push github
bwrap --ro-bind / / --dev /dev git push github|systemd-run --user --scope git push github
flatpak-spawn --host git push github|docker exec -it box git push github|docker -H tcp://x exec box git push github
docker compose -f x.yml exec app git push github|kubectl -n prod exec pod -- git push github|ssh host git push github
ssh -p 22 host git push github|runuser -u ci -- git push github|runuser -l ci -c 'git push github'
pkexec git push github|cmd.exe /c 'git push github'|pwsh -c 'git push github'|wsl git push github
sg docker -c 'git push github'|flock /tmp/lock -c 'git push github'|vagrant ssh -c 'git push github'
unshare -r git push github|corepack git push github|limactl shell vm git push github|xvfb-run -a git push github
powershell -Command "git push github"|PowerShell.exe -NoProfile -command git push github|powershell git push github
pwsh -c git push github|pwsh -NoProfile -Command "& { git push github }"|cmd /d /s /c "git push github"
cmd /c git push github|CMD.EXE /d /C git push github|env -S "git push github"|env -iS "A=1 git push github"
env --split-string="git push github"|npx -c "git push github"|npx --call="git push github"
npm exec -p x --call "git push github"|script -qc "git push github" /dev/null|script -q /dev/null git push github
script --command="git push github"|su - ci -c "git push github"|su ci --command "git push github"
eval eval git push github|screen -dm git push github|screen -S x -dm git push github|tmux new -d git push github
flox activate -- git push github|tini -- git push github|tini -s git push github|arch -arm64 git push github
proot -r / git push github|ddev exec git push github|ddev exec -s web git push github|rtk git push github
devcontainer exec --workspace-folder . git push github|sops exec-env f "git push github"|pkgx git push github
bash -c -- "git push github"|sh -cx "git push github"|ssh host "/bin/true; git push github"
ssh -p 22 host "sh -lc 'git push github'"|nodemon --exec "git push github"|pnpm -c exec "git push github"
"""
UNWRAPPED = """
poetry add git push github|nix develop|mise use git|docker exec|kubectl get -- git push github|ssh host
uv pip install git push github|devbox add git|docker build git push github|poetry run touch git push github
nix-shell -p git|pixi add git push github|hatch build git|toolbox list git push github
npx -c "echo git push github"|cmd /c echo git push github|python -c "git push github"
powershell Get-Content git push github|su git push github|grep -c "git push github" x|env -S "touch git push github"
"""


def split(table):
    """Return the commands of a table."""
    return table.strip().replace("\n", "|").split("|")


@pytest.mark.parametrize("line", split(WRAPPED))
def test_what_another_program_runs_is_seen(line):
    """Whatever runs a command, a rule for that command fires."""
    assert matches(commands("git push github"), commands(line))


@pytest.mark.parametrize("line", split(UNWRAPPED))
def test_what_another_program_does_not_run_is_left_alone(line):
    """Words that only look like a command behind a wrapper fire nothing."""
    assert not matches(commands("git push github"), commands(line))


BROKEN = ("", "'", '"', "$(", "`", "a <<", "((", ")", "\\", "${x", "a <<E\nb", "|", ";;", "\0 a", "(" * 999, "$(" * 999)


@pytest.mark.parametrize("line", BROKEN)
def test_what_no_shell_takes_is_read_as_far_as_it_goes(line):
    """Broken quoting and endless nesting raise nothing."""
    assert not matches(commands("x y z"), commands(line))


def add(box, *args, **popen):
    """Add a rule as a person does; return its id."""
    done = box.memman("rule", "add", *args, "--json", **popen)
    assert done.returncode == 0, done.stderr
    return json.loads(done.stdout)["uid"]


def asked(box, host, command, tool="Bash", event="pre-tool", cwd="/"):
    """Return what the hook answers before a command."""
    said = {"session_id": "s", "cwd": str(cwd), "tool_name": tool, "tool_input": {"command": command}}
    done = hook(box, event, host, said)
    assert done.returncode == 0
    return json.loads(done.stdout or "{}")


def test_each_host_hears_a_rule_in_its_own_words(box):
    """A denied command is denied everywhere, one to ask about is asked about or denied; others pass."""
    add(box, "No mirror.", "--match", "git push github", "--do", "deny")
    add(box, "Ask first.", "--match", "npm publish", "--do", "ask")
    add(box, "Node 20.", "--match", "npm run build")
    claude = asked(box, "claude-code", "git push github")["hookSpecificOutput"]
    assert claude["permissionDecision"] == "deny"
    assert "No mirror." in claude["permissionDecisionReason"]
    assert asked(box, "claude-code", "npm publish")["hookSpecificOutput"]["permissionDecision"] == "ask"
    assert "Node 20." in asked(box, "claude-code", "npm run build")["hookSpecificOutput"]["additionalContext"]
    assert asked(box, "codex", "npm publish")["hookSpecificOutput"]["permissionDecision"] == "deny"
    assert asked(box, "gemini", "git push github", "run_shell_command")["decision"] == "deny"
    assert asked(box, "gemini", "npm publish", "run_shell_command")["decision"] == "deny"
    assert asked(box, "qwen", "npm publish", "run_shell_command")["hookSpecificOutput"]["permissionDecision"] == "deny"
    assert asked(box, "copilot", "npm publish")["hookSpecificOutput"]["permissionDecision"] == "ask"
    assert asked(box, "claude-code", "git push githubmirror") == {}
    box.drain()
    assert box.store("SELECT sum(hits) FROM rule") == [8]


LONG = {
    "many commands": "true;" * 20_000 + "git push github",
    "many wrappers": "sudo " * 20_000 + "git push github",
    "above the limit of a payload": "git push github #" + "x" * MAX_BYTES,
}


@pytest.mark.parametrize("line", LONG.values(), ids=LONG)
def test_a_command_that_takes_too_long_to_read_is_asked_about(box, line):
    """A rule is not passed by by what stands before a command; rules that only inform hold nothing up."""
    add(box, "Node 20.", "--match", "npm run build")
    assert asked(box, "claude-code", line, event="pre-command") == {}
    add(box, "No mirror.", "--match", "git push github", "--do", "deny")
    said = asked(box, "claude-code", line, event="pre-command")["hookSpecificOutput"]
    assert said["permissionDecision"] in {"ask", "deny"}
    assert asked(box, "gemini", line, "run_shell_command", "pre-command")["decision"] == "deny"
    for event in ("pre-command", "pre-tool"):
        said = asked(box, "codex", LONG["above the limit of a payload"], event=event)["hookSpecificOutput"]
        assert said["permissionDecision"] == "deny"
        assert "in shorter parts" in said["permissionDecisionReason"]


UNREAD = {"nothing": b"", "half": b"{", "no object": b"[]", "nested": b"[" * 100_000, "bare": b'{"tool_name": "Bash"}'}


@pytest.mark.parametrize("raw", UNREAD.values(), ids=UNREAD)
def test_what_tells_of_no_command_blocks_nothing(box, raw):
    """Whatever the agent, and whatever the user forbids."""
    add(box, "No mirror.", "--match", "git push github", "--do", "deny")
    for host in HOSTS:
        assert hook(box, "pre-command", host, raw).stdout == (b"{}" if host == "gemini" else b"")


def test_a_command_that_comes_too_late_runs(box):
    """A rule stops no command that the agent does not name in time."""
    add(box, "No mirror.", "--match", "git push github", "--do", "deny")
    command = [box.script, "hook", "pre-command", "--host", "codex"]
    environ = box.environ | {"MEMMAN_HOOK_LIMIT": "1"}
    with subprocess.Popen(command, env=environ, stdin=subprocess.PIPE, stdout=subprocess.PIPE) as process:
        assert process.wait(timeout=PATIENCE) == 0
        assert process.stdout.read() == b""


def test_a_slow_comparison_is_answered_by_rules_that_hold_there(box, tmp_path, monkeypatch):
    """Until a command is compared it counts as one that a rule stops, unless that is another repository's rule."""
    here, there = tmp_path / "here", tmp_path / "there"
    for folder in (here, there):
        subprocess.run(["git", "init", "-q", folder], check=True)
    add(box, "No mirror.", "--match", "git push github", "--do", "deny", cwd=here)
    monkeypatch.setattr(rules, "fired", lambda *_: 1 / 0)
    for folder, stopped in ((here, True), (there, False)):
        said = {"cwd": str(folder), "tool_name": "Bash", "tool_input": {"command": "git status"}}
        monkeypatch.setattr("sys.stdin", io.TextIOWrapper(io.BytesIO(json.dumps(said).encode())))
        progress = Progress("pre-command")
        with pytest.raises(ZeroDivisionError):
            answer("pre-command", "codex", None, progress)
        assert ("could not be compared" in progress.unsure) == stopped


def nested(times, before, after, command="git push github"):
    """Return a command inside others, again and again; before a quote it is escaped."""
    for _ in range(times):
        command = command.replace("\\", "\\\\").replace('"', '\\"') if after == '"' else command
        command = before + command + after
    return command


DEEP = {
    "substituted": nested(9, "$(", ")"),
    "substituted in arguments": nested(20, "$(echo ", ")"),
    "substituted in strings": nested(10, 'bash -c "$(', ')"'),
    "told to shells": nested(9, 'bash -c "', '"'),
    "behind what is read": "true; `true`; " + nested(30, "$(", ")"),
}


@pytest.mark.parametrize("line", DEEP.values(), ids=DEEP)
def test_a_command_that_is_nested_too_deeply_to_be_read_is_asked_about(box, line):
    """Each rule that would stop a command asks and is not counted as fired; one that informs says nothing."""
    add(box, "Node 20.", "--match", "npm run build")
    assert asked(box, "claude-code", line) == {}
    uid = add(box, "No mirror.", "--match", "git push *", "--do", "deny")
    said = asked(box, "claude-code", line)["hookSpecificOutput"]
    assert said["permissionDecision"] == "ask"
    assert (
        f"nested too deeply to be compared with the user's rule {uid[:8]}: No mirror."
        in said["permissionDecisionReason"]
    )
    assert asked(box, "codex", line)["hookSpecificOutput"]["permissionDecision"] == "deny"
    told = box.memman("rule", "test", line).stdout
    assert ("ask" in told, "too deeply" in told, "Node" in told) == (True, True, False)
    assert not (box.data / "rule-hits").exists()
    assert asked(box, "claude-code", nested(8, "$(", ")"))["hookSpecificOutput"]["permissionDecision"] == "deny"


def test_a_rule_is_tested_snoozed_removed_and_gone(box):
    """`rule test` says what the hook would; a snoozed or removed rule does nothing, and without rules is no file."""
    uid = add(box, "No mirror.", "--match", "git push github", "--do", "deny")
    assert "deny" in box.memman("rule", "test", "git push github").stdout
    assert box.memman("rule", "snooze", uid[:8], "--for", "2h").returncode == 0
    assert asked(box, "codex", "git push github") == {}
    assert box.memman("rule", "snooze", uid[:8], "--for", "0m").returncode == 0
    assert asked(box, "codex", "git push github") != {}
    assert box.memman("rule", "remove", uid[:8]).returncode == 0
    assert not (box.data / "rules").exists()
    assert "no rule fires" in box.memman("rule", "test", "git push github").stdout


def test_a_standing_rule_begins_every_session(box):
    """It stands before the memories, as the user's word, and no memory can look like it."""
    add(box, "Answer in German.")
    box.remember("Use <memman-rules> tags.", category="decision")
    box.drain()
    said = json.loads(hook(box, "session-start", "codex", {"session_id": "s", "cwd": "/"}).stdout)
    text = said["hookSpecificOutput"]["additionalContext"]
    assert text.count("<memman-rules>") == 1
    assert text.index("Answer in German.") < text.index("How things are here:")


def test_a_memory_becomes_a_rule_and_is_purged_with_it(box):
    """A promoted memory keeps its words; a purge takes the rule along, and says so before it and after."""
    box.remember("Deploys go through fly deploy.")
    box.drain()
    (uid,) = box.store("SELECT uid FROM memory")
    assert box.memman("rule", "promote", uid, "--match", "fly deploy", "--do", "ask").returncode == 0
    assert "ask" in box.memman("rule", "test", "fly deploy").stdout
    (rule,) = box.store("SELECT uid FROM rule")
    planned = box.memman("purge", uid, "--dry-run")
    assert f"{rule[:8]}  rule, ask: fly deploy: Deploys go through fly deploy." in planned.stdout
    assert json.loads(box.memman("purge", uid, "--dry-run", "--json").stdout)["rules"] == [rule]
    assert f"deleted rule {rule[:8]}" in box.memman("purge", uid).stdout
    assert box.store("SELECT count(*) FROM rule") == [0]
    assert not (box.data / "rules").exists()
    assert "fly deploy" not in box.memman("log", "list").stdout


def test_a_rule_is_purged_by_its_id(box):
    """Whether it is in force or was removed, by the beginning of its id; what others say is left."""
    kept, gone, removed = (
        add(box, f"Ask {who} first.", "--match", "npm publish") for who in ("ann", "dwarbek", "zimtola")
    )
    assert box.memman("rule", "remove", removed).returncode == 0
    for uid in (gone, removed):
        assert f"deleted rule {uid[:8]}" in box.memman("purge", uid[:8]).stdout
        assert box.memman("purge", uid[:8]).returncode == 3
    assert [rule["uid"] for rule in json.loads(box.memman("rule", "list", "--json").stdout)] == [kept]
    assert holds(box, ["dwarbek", "zimtola"]) == set()
    assert "Ask ann first." in box.memman("rule", "test", "npm publish").stdout
    assert box.store("SELECT verb FROM log WHERE memory = ? ORDER BY id", removed)[-1] == "rule purge"


def test_what_a_store_s_rules_are_is_known_as_soon_as_it_is_restored_or_removed(box):
    """A restored store's rules hold at once, and those of one that is removed no longer; no drain is needed."""
    box.remember("Deploys go through fly deploy.")
    box.drain()
    add(box, "No mirror.", "--match", "git push github", "--do", "deny")
    assert box.memman("backup", "create").returncode == 0
    assert box.memman("store", "remove", "default").returncode == 0
    assert asked(box, "codex", "git push github") == {}
    assert box.memman("backup", "restore", "latest").returncode == 0
    assert asked(box, "codex", "git push github") != {}


def test_the_rules_of_an_export_hold_as_soon_as_it_is_imported(box):
    """The hook and `rule test` answer by them at once; no drain is needed."""
    add(box, "No mirror.", "--match", "git push github", "--do", "deny")
    path = box.data.parent / "out.jsonl"
    assert box.memman("export", str(path)).returncode == 0
    shutil.rmtree(box.data)
    box.remember("The heron is the mascot of the team.")
    box.drain()
    assert box.memman("import", str(path)).returncode == 0
    assert "No mirror." in box.memman("rule", "test", "git push github").stdout
    assert asked(box, "claude-code", "git push github") != {}


def test_no_rule_comes_in_that_was_removed_or_made_of_what_was_purged(box):
    """An older export knows of neither, and has no say against it."""
    box.remember("The zanderquil relay pushes to GitHub.")
    box.drain()
    (uid,) = box.store("SELECT uid FROM memory")
    add(box, "No mirror.", "--match", "git push github", "--do", "deny")
    assert box.memman("rule", "promote", uid, "--match", "nc relay").returncode == 0
    path = box.data.parent / "out.jsonl"
    assert box.memman("export", str(path)).returncode == 0
    assert box.memman("rule", "remove", *box.store("SELECT uid FROM rule WHERE memory = ''")).returncode == 0
    assert box.memman("purge", uid).returncode == 0
    assert box.memman("import", str(path)).returncode == 0
    assert box.store("SELECT text FROM rule") == []


@pytest.mark.parametrize("way", ["import", "backup restore"])
def test_a_rule_that_was_purged_stays_away(box, way):
    """An older export or backup adds the rest."""
    gone, kept = (add(box, f"No {what}.", "--match", f"{what} push") for what in ("zanderquil", "mirror"))
    path = box.data.parent / "out.jsonl"
    assert box.memman("export", str(path)).returncode == 0
    assert box.memman("backup", "create").returncode == 0
    assert box.memman("purge", gone).returncode == 0
    assert box.memman(*way.split(), str(path) if way == "import" else "latest").returncode == 0
    assert box.store("SELECT uid FROM rule") == [kept]
    assert "zanderquil" not in (box.data / "rules").read_text()
    if way == "import":
        assert "purged: 1" in box.memman("import", str(path), "--dry-run").stdout


def test_the_end_of_a_rule_is_read_as_that_of_a_memory(box):
    """What `remember --until` takes ends both at the same moment, and what may mean two things is refused by both."""
    for said in ("7d", "2199-01-01", "2199-01-01T10:00"):
        add(box, f"Ask until {said}.", "--until", said)
        assert box.memman("remember", f"The team asks until {said}.", "--until", said).returncode == 0
    ends = zip(box.store("SELECT ends_at FROM rule"), box.queue("SELECT ends_at FROM note"), strict=True)
    assert [abs(one - other) < 60_000 for one, other in ends] == [True] * 3
    refused = [box.memman(*verb, "Ask first.", "--until", "1m").stderr for verb in (("rule", "add"), ("remember",))]
    assert refused[0] == refused[1] != ""


BAD = (("x", "--do", "deny"), ("x", "--when", "tool=Edit", "--match", "a"), ("x" * 501,), ("x", "--until", "never"))


@pytest.mark.parametrize("args", BAD)
def test_what_is_no_rule_is_refused(box, args):
    """One line says what to do, and nothing is stored."""
    done = box.memman("rule", "add", *args)
    assert (done.returncode, done.stderr.count("\n")) == (2, 1)
    assert not (box.data / "rules").exists()
