"""Doctor on its own: where it looks, what it leaves alone, and what it says of what the planted faults do not reach."""

import contextlib
import hashlib
import json
import os
import subprocess
import threading
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path

import apsw
import pytest

from memman.config.filesystem import file_system, shared
from memman.config.schedule import Schedule
from memman.doctor import CHECKS, examine, manager, python, switches
from memman.doctor.finding import Context
from memman.doctor.trust import fingerprint
from memman.locks import alone
from tests.support.box import PATIENCE, Box, rows
from tests.support.providers import GARBAGE_BODY, ScriptedProvider, status


def doctor(box, *args, code=0):
    """Run doctor; return its findings."""
    done = box.memman("doctor", "--json", *args)
    assert done.returncode == code, done.stdout + done.stderr
    assert "Traceback" not in done.stderr
    return json.loads(done.stdout)["findings"]


def found(box, check, **options):
    """Return (status, what is said) of one check, run in this process."""
    context = Context(str(box.data), **options)
    return [(finding.status, finding.says) for _, finding in examine(context, [check])]


def tree(folder):
    """Return every file below a folder with its mode and content."""
    return {
        str(path): (path.stat().st_mode, hashlib.sha256(path.read_bytes()).hexdigest() if path.is_file() else "")
        for path in [folder, *folder.rglob("*")]
        if not path.name.endswith(("-shm", "-wal"))
    }


def test_a_missing_vector_extension_is_worth_a_warning_in_a_large_store(box, tmp_path):
    """Doctor says what sqlite-vec would bring and how to install it, and warns once a store is large."""
    elsewhere = tmp_path / "elsewhere"
    elsewhere.mkdir()
    # The extension is looked for beside apsw: found through this link, apsw has no such neighbour.
    (elsewhere / "apsw").symlink_to(Path(apsw.__file__).parent)
    box.remember("Redis caches the sessions.")
    box.drain()
    box.environ["PYTHONPATH"] = str(elsewhere)
    (small,) = doctor(box, "--check", "sqlite-vec")
    assert (small["status"], small["mend"]) == ("ok", "")
    assert "-m pip install sqlite-vec" in small["says"]
    box.store("UPDATE memory SET id = 30000")
    (large,) = doctor(box, "--check", "sqlite-vec")
    assert large["status"] == "warn"
    assert large["mend"].endswith("-m pip install sqlite-vec")
    assert "13 ms at 100,000" in large["says"]


@contextlib.contextmanager
def answering(code, body=b"{}"):
    """Serve GET requests with one answer; give the address and the paths asked for."""
    asked = []

    class Handler(BaseHTTPRequestHandler):
        def do_GET(self):
            asked.append((self.path, dict(self.headers)))
            self.send_response(code)
            self.send_header("content-length", str(len(body)))
            self.end_headers()
            self.wfile.write(body)

        def log_message(self, *_):
            pass

    with ThreadingHTTPServer(("127.0.0.1", 0), Handler) as server:
        threading.Thread(target=server.serve_forever, daemon=True).start()
        yield f"http://127.0.0.1:{server.server_port}", asked
        server.shutdown()


# --- healthy ---


def test_memman_that_was_only_installed_by_pip_has_yet_to_be_wired(box):
    """Before any set-up nothing fails and nothing is made, but it is not healthy: no agent is wired."""
    findings = doctor(box)
    assert {finding["check"] for finding in findings} == set(CHECKS)
    assert {finding["status"] for finding in findings} == {"ok", "skipped", "warn"}
    assert "agents" in [finding["check"] for finding in findings if finding["status"] == "warn"]
    assert not box.data.exists()
    assert box.memman("doctor").stdout.splitlines()[-1].startswith("0 failures, ")


def test_claude_code_with_the_plugin_alone_is_wired(box):
    """The plugin brings the hooks: nothing has to be installed for them."""
    settings = box.data.parent / ".claude/settings.json"
    settings.parent.mkdir()
    settings.write_text("{}")
    assert found(box, "agents") == [("warn", "claude-code is on this machine, but memman is not set up in it")]
    settings.write_text('{"enabledPlugins": {"memman@market": true}}')
    assert found(box, "agents") == [("ok", "Claude Code's plugin: up to date")]


def test_a_home_that_cannot_be_written_is_no_ground(box):
    """Where the data folder is not there and cannot be made, that fails; the command makes it possible."""
    home = box.data.parent
    home.chmod(0o500)
    done = box.mortal("doctor", "--json", "--check", "folder")
    (finding,) = json.loads(done.stdout)["findings"]
    assert (done.returncode, finding["status"]) == (1, "fail")
    assert f"{home} is read-only" in finding["says"]
    assert os.system(finding["mend"]) == 0  # noqa: S605
    assert box.mortal("doctor", "--check", "folder").stdout.endswith("healthy\n")


def test_commands_are_named_so_that_they_run(box, tmp_path):
    """Where memman is not on the PATH, or another one is, what mends a fault names it by its path and works."""
    box.remember("The heron nests.")
    box.queue("UPDATE note SET state = 'parked', error = 'Odd: x'")
    (tmp_path / "bin").mkdir()
    (tmp_path / "bin/memman").write_text("#!/bin/sh\nexit 9\n")
    (tmp_path / "bin/memman").chmod(0o755)
    for path in ("/usr/bin:/bin", f"{tmp_path}/bin:/usr/bin:/bin"):
        elsewhere = Box(box.data, box.environ | {"PATH": path})
        (finding,) = doctor(elsewhere, "--check", "parked")
        assert finding["mend"].startswith(box.script)
        assert f"`{box.script} scheduler" in finding["hint"]
    ran = subprocess.run(["/bin/sh", "-c", finding["mend"]], env=elsewhere.environ, check=False, capture_output=True)
    assert ran.returncode == 0, ran.stderr
    assert [found["status"] for found in doctor(elsewhere, "--check", "parked")] == ["ok"]


def test_code_that_others_can_change_is_told(tmp_path):
    """A file or folder that anybody may write to, and one of another user; not a sticky folder or an unknown owner."""
    code = tmp_path / "library/module.py"
    code.parent.mkdir()
    code.touch()
    mine = os.geteuid()
    assert python.doubts([str(code)], mine) == ({}, {})
    code.chmod(0o666)
    code.parent.chmod(0o777)
    assert python.doubts([str(code)], mine)[0] == {str(code): 0o666, str(code.parent): 0o777}
    code.chmod(0o644)
    code.parent.chmod(0o1777)
    assert python.doubts([str(code)], mine)[0] == {}
    if mine == 0:
        os.chown(code, 1234, -1)
        assert python.doubts([str(code)], mine)[1] == {str(code): 1234}
        os.chown(code, 65_534, -1)
    assert python.doubts([str(code)], mine)[1] == {}


def test_notes_and_memories_without_a_scheduler_are_healthy(box):
    """A few notes that wait, and a store that was drained by hand, are no fault."""
    box.remember("The heron nests.")
    doctor(box)
    box.drain()
    box.remember("The ibis nests too.")
    status_of = {finding["check"]: finding["status"] for finding in doctor(box)}
    assert {status_of[check] for check in ("modes", "schema", "integrity", "queue", "vectors", "drains")} == {"ok"}


def test_doctor_changes_nothing(box):
    """Every file below the home folder is as it was, hooks replayed and all."""
    box.remember("The heron nests.")
    box.drain()
    assert box.memman("install", "--no-wizard", "--target", "claude-code", "--target", "codex").returncode == 0
    before = tree(box.data.parent)
    doctor(box)
    assert tree(box.data.parent) == before


def test_checks_are_chosen_by_name(box):
    """--check narrows to some checks, in doctor's own order; an unknown one is refused."""
    assert [f["check"] for f in doctor(box, "--check", "queue", "--check", "folder")] == ["folder", "queue"]
    assert box.memman("doctor", "--check", "moon").returncode == 2


def test_people_read_lines(box):
    """One line per finding, what mends it below, and a verdict at the end."""
    box.data.mkdir(mode=0o755)
    done = box.memman("doctor", "--check", "modes")
    assert done.returncode == 1
    line, mend, verdict = done.stdout.splitlines()
    assert line.startswith("FAIL  modes")
    assert mend.strip() == f"mend: chmod -R go-rwx {box.data}"
    assert verdict == "1 failure, 0 warnings"


# --- broken ground ---


def test_a_file_where_the_data_folder_should_be(box):
    """That is the one failure; the other checks have nothing to look at."""
    box.data.write_text("in the way")
    failed = [finding for finding in doctor(box, code=1) if finding["status"] == "fail"]
    assert [(finding["check"], finding["hint"] != "") for finding in failed] == [("folder", True)]


def test_a_check_that_cannot_work_fails_and_the_others_go_on(box):
    """A folder where the queue should be fails one check and is left alone by those that need it; all have a say."""
    (box.data / "queue.db").mkdir(parents=True, mode=0o700)
    box.data.chmod(0o700)
    findings = doctor(box, code=1)
    assert {finding["check"] for finding in findings} == set(CHECKS)
    assert {f["check"] for f in findings if f["status"] == "fail"} == {"files"}
    assert {f["status"] for f in findings if f["check"] in {"queue", "parked", "drains"}} == {"skipped"}


def test_a_file_that_its_owner_may_not_read_is_named_once(box):
    """The finding gives the mode and the command, and the checks that need the file are left out."""
    box.remember("The heron nests.")
    (box.data / "schedule").touch(mode=0o000)
    done = box.mortal("doctor", "--json")
    failed = [finding for finding in json.loads(done.stdout)["findings"] if finding["status"] == "fail"]
    assert [finding["check"] for finding in failed] == ["files"]
    assert os.system(failed[0]["mend"]) == 0  # noqa: S605
    assert box.mortal("doctor").returncode == 0


def test_databases_are_left_without_the_files_that_looking_makes(box):
    """A store that came from elsewhere without its log is looked into and has none afterwards; others keep theirs."""
    for store in ("a", "b"):
        box.remember("The heron nests.", store=store)
    box.drain()
    for end in ("-wal", "-shm"):
        box.store_path("a").with_name(f"memman.db{end}").unlink(missing_ok=True)
    before = {path: path.stat().st_mtime_ns for path in box.data.rglob("*.db*")}
    doctor(box)
    assert {path: path.stat().st_mtime_ns for path in box.data.rglob("*.db*") if path.suffix != ".db-shm"} == {
        path: then for path, then in before.items() if path.suffix != ".db-shm"
    }


def test_a_loop_that_serves_is_seen_without_a_trace(box):
    """Whether `serve` runs is told from its lock, which doctor neither makes nor keeps."""
    box.remember("The heron nests.")
    Schedule("serve", 60).save(str(box.data))
    assert found(box, "scheduler")[0][0] == "warn"
    assert not (box.data / "serve.lock").exists()
    with alone(str(box.data), "serve.lock", "busy"):
        assert found(box, "scheduler") == [("ok", "`memman scheduler serve` is running")]


def test_a_link_out_of_the_folder_is_named_where_drains_fail(box, tmp_path):
    """A sandboxed drain cannot write there; while drains succeed nothing is said of it."""
    box.remember("The heron nests.")
    box.drain()
    (tmp_path / "far").mkdir(mode=0o700)
    (box.data / "sessions").symlink_to(tmp_path / "far")
    assert [status_ for status_, _ in found(box, "drains")] == ["ok"]
    box.queue("UPDATE meta SET value = json_set(value, '$.exit_code', 74) WHERE key = 'last_drain'")
    (finding,) = (finding for _, finding in examine(Context(str(box.data)), ["drains"]))
    assert (finding.status, "exit code 74" in finding.says) == ("fail", True)
    assert finding.hint.startswith(f"{box.data}/sessions links out")


def test_a_damaged_store_does_not_hide_another(box):
    """What one store is told of is not lost because another cannot be opened."""
    for store in ("a", "b"):
        box.remember("The heron nests.", store=store)
    box.drain()
    path = box.store_path("a")
    for end in ("-wal", "-shm"):
        path.with_name(path.name + end).unlink(missing_ok=True)
    path.write_bytes(b"no database" * 1000)
    rows(box.store_path("b"), "DELETE FROM vector")
    said = found(box, "vectors")
    assert [status_ for status_, _ in said] == ["skipped", "warn"]
    assert "'b'" in said[1][1]


def test_the_copy_made_by_an_upgrade_is_named(box):
    """Where a damaged store has an older copy beside it, the finding says so."""
    box.remember("The heron nests.")
    box.drain()
    copy = box.data / "data/default/memman.db.schema-1.bak"
    copy.touch(mode=0o600)
    box.store_path().write_bytes(b"")
    (finding,) = (f for f in doctor(box, "--check", "integrity", code=1))
    assert str(copy) in finding["hint"]


def test_file_systems_are_read_from_the_mount_table(tmp_path):
    """The longest mount point above a folder counts, blanks in its name too."""
    mounts = tmp_path / "mounts"
    mounts.write_text(
        "/dev/sda1 / ext4 rw 0 0\nserver:/x /home nfs4 rw 0 0\n/dev/sdb1 /home/al\\040ice ext4 rw 0 0\n"
        "9p /mnt/c 9p rw\n"
    )
    kinds = {path: file_system(path, str(mounts)) for path in ("/etc", "/home/bob/x", "/home/al ice/y", "/mnt/c/z")}
    assert kinds == {"/etc": "ext4", "/home/bob/x": "nfs4", "/home/al ice/y": "ext4", "/mnt/c/z": "9p"}
    assert list(map(shared, kinds.values())) == [False, True, False, True]
    assert file_system("/etc", str(tmp_path / "none")) == ""


# --- the schedule ---


def test_who_starts_drains(box):
    """Nobody, a switch that keeps writes from it, a loop that is not running: each is said as it is."""
    assert found(box, "scheduler") == [("warn", "MEMMAN_DRAIN=off keeps writes from starting drains")]
    Schedule("nobody").save(str(box.data))
    assert found(box, "scheduler") == [("warn", "nothing starts drains: notes stay queued until you run one")]
    Schedule("serve", 60).save(str(box.data))
    assert found(box, "scheduler") == [("warn", "`memman scheduler serve` is not running")]
    assert found(box, "units")[0][0] == "skipped"


def test_a_manager_that_does_not_answer_is_a_warning(box):
    """Units may be sound though systemd is out of reach, as in a `su` session; missing files fail."""
    box.data.mkdir(mode=0o700)
    Schedule("systemd", 60).save(str(box.data))
    environ = box.environ | {"PATH": str(box.data)}
    done = box.start(box.script, "doctor", "--json", "--check", "units", **environ)
    findings = json.loads(done.communicate(timeout=PATIENCE)[0])["findings"]
    assert {finding["status"] for finding in findings} == {"fail", "warn"}
    assert all("memman scheduler install" in f["mend"] for f in findings if f["status"] == "fail")
    assert any("does not answer" in finding["says"] for finding in findings)


@pytest.mark.parametrize(
    ("text", "overridden"),
    [
        ("[Service]\nExecStart=\nExecStart=/bin/true\n", "ExecStart"),
        ("[Timer]\nOnCalendar=2040-01-01\n", "OnCalendar"),
        ("[Service]\nEnvironment=MEMMAN_DATA_DIR=/elsewhere\n", "Environment"),
        ("[Unit]\nConditionPathExists=/nowhere\n", "ConditionPathExists"),
        ("[Service]\nNice=5\nEnvironment=HTTPS_PROXY=http://proxy\n[Unit]\nOnFailure=tell.service\n", ""),
        ("# ExecStart=/bin/true\n[Service]\nTimeoutStopFailureMode=abort\n", ""),
    ],
)
def test_only_what_changes_when_and_what_a_unit_starts_is_an_override(tmp_path, text, overridden):
    """A person's own niceness, proxy or alarm beside our units is theirs; so are a distribution's."""
    (tmp_path / "mine.conf").write_text(text)
    assert manager.overridden(str(tmp_path / "mine.conf")) == overridden
    assert manager.overridden(str(tmp_path / "none.conf")) == ""


# --- providers ---


@pytest.mark.parametrize(
    ("provider", "path", "header"),
    [
        ("openai", "/v1/models", ("authorization", "Bearer k")),
        ("anthropic", "/v1/models", ("x-api-key", "k")),
    ],
)
def test_the_model_is_looked_at_for_free(box, provider, path, header):
    """One GET of the list of models with the key, and no question."""
    with answering(200, b'{"data": []}') as (url, asked):
        at = url + "/v1" * (provider == "openai")
        box.configure(LLM_PROVIDER=provider, LLM_ENDPOINT=at, LLM_API_KEY="k")
        assert [status_ for status_, _ in found(box, "model")] == ["ok"]
    ((place, headers),) = asked
    assert place == path
    assert {name.lower(): value for name, value in headers.items()}[header[0]] == header[1]


@pytest.mark.parametrize(
    ("code", "body", "expected"),
    [(404, b"{}", "ok"), (200, b"<html>", "ok"), (401, b"{}", "fail"), (503, b"{}", "fail")],
)
def test_what_a_provider_answers_is_weighed(box, code, body, expected):
    """A server that answers is there, whatever it lists; a rejected key and an ailing server are failures."""
    with answering(code, body) as (url, _):
        box.configure(EMBED_PROVIDER="openai", EMBED_ENDPOINT=f"{url}/v1", EMBED_API_KEY="k")
        assert [status_ for status_, _ in found(box, "embedder")] == [expected]


def test_a_rejected_key_is_mended_from_standard_input(box):
    """The hint says where the command takes the new key from, once."""
    with answering(401) as (url, _):
        box.configure(EMBED_PROVIDER="openai", EMBED_ENDPOINT=f"{url}/v1", EMBED_API_KEY="k")
        ((_, finding),) = examine(Context(str(box.data)), ["embedder"])
    assert finding.hint == "the command reads the new key from standard input"


def test_a_question_is_asked_only_with_leave(box):
    """--billable asks the model and the embedder once each, and sees what a look cannot."""
    with ScriptedProvider(respond=lambda _: {"yes": True}) as provider:
        box.use(provider)
        assert found(box, "model", billable=True)[0][0] == "ok"
        assert found(box, "embedder", billable=True)[0][0] == "ok"
        assert provider.calls.total() == 2
    with ScriptedProvider(script=lambda _: status(404)) as provider:
        box.use(provider)
        assert found(box, "model", billable=True)[0][0] == "fail"
    with ScriptedProvider(script=lambda _: GARBAGE_BODY) as provider:
        box.use(provider)
        assert found(box, "model", billable=True)[0][0] == "warn"


# --- the env file ---


def test_a_variable_of_the_shell_that_nothing_reads_is_named_without_its_value(box, monkeypatch):
    """Who exports a key and wonders is told that only the env file counts."""
    box.configure(LLM_API_KEY="one")
    monkeypatch.setenv("MEMMAN_LLM_API_KEY", "hidden-value")
    monkeypatch.setenv("MEMMAN_HTTP_TRIES", "3")
    said = found(box, "env")
    assert [status_ for status_, _ in said] == ["ok", "warn"]
    assert "MEMMAN_LLM_API_KEY" in said[1][1]
    assert "hidden-value" not in str(said)


def test_a_line_that_is_no_key_can_be_unset(box):
    """`config unset` removes what it does not know where the file holds it, and else still asks what was meant."""
    box.configure(COLOUR="red", HTTP_TRIES=2)
    assert box.memman("config", "unset", "MEMMAN_COLOUR").stdout == "removed MEMMAN_COLOUR\n"
    assert (box.data / "env").read_text() == "MEMMAN_HTTP_TRIES=2\n"
    assert box.memman("config", "unset", "MEMMAN_COLOUR").returncode == 78


# --- the agents ---


def test_the_fingerprint_of_a_hook_is_codex_own():
    """What Codex 0.169.0 reported of two hooks as their current hash."""
    program = "/home/alice/.memman/bin/memman hook"
    start = {"type": "command", "command": f"{program} session-start --host codex", "timeout": 2}
    stop = {"type": "command", "command": f"{program} stop --host codex", "timeout": 2}
    assert fingerprint("session_start", "startup|resume|clear|compact", start) == (
        "sha256:9e4e06e05e94d15a0f1d685e54394507ff0fba28bfa5c598ae5a36c7a85ad7a8"
    )
    assert fingerprint("stop", None, stop) == "sha256:d59a0aaed1e7d26dc6b2808b5b3b450ce414b23a4bb93a90c7ae20aec927f027"
    assert fingerprint("stop", None, stop | {"statusMessage": "…"}) == ""


def wire(box, *targets):
    """Wire agents."""
    words = [word for target in targets for word in ("--target", target)]
    done = box.memman("install", "--no-wizard", *words)
    assert done.returncode == 0, done.stderr


def test_codex_hooks_in_toml_are_looked_up_there(box):
    """Where config.toml holds hooks of others ours stand there too, and so do their records of trust."""
    codex = box.data.parent / ".codex"
    codex.mkdir()
    (codex / "config.toml").write_text('[[hooks.Stop]]\n[[hooks.Stop.hooks]]\ntype = "command"\ncommand = "mine"\n')
    wire(box, "codex")
    assert "you have not approved" in found(box, "trust")[0][1]
    with (codex / "config.toml").open("a") as config:
        for event, group in (
            ("session_start", 0),
            ("user_prompt_submit", 0),
            ("pre_tool_use", 0),
            ("subagent_start", 0),
            ("stop", 1),
        ):
            config.write(f'[hooks.state."{codex}/config.toml:{event}:{group}:0"]\ntrusted_hash = "sha256:old"\n')
    assert "changed since you approved" in found(box, "trust")[0][1]
    with (codex / "config.toml").open("a") as config:
        config.write("enabled = false\n")
    assert "switched off: stop" in found(box, "trust")[1][1]


def test_openclaw_without_sight_of_conversations_is_a_warning(box):
    """The plugin is wired but mute until the user lets it see conversations."""
    wire(box, "openclaw")
    finding = next(f for f in switches.check(Context(str(box.data))) if f.status == "warn")
    assert "conversations" in finding.says
    assert os.system(f"{box.script.removesuffix('memman')}{finding.mend} >/dev/null") == 0  # noqa: S605
    assert found(box, "switches")[0][0] == "ok"


@pytest.mark.parametrize(
    "settings",
    [
        {"hooksConfig": {"disabled": ["memman"]}},
        {"hooksConfig": {"enabled": False}},
        {"hooks": {"disabled": ["memman"]}},
    ],
)
def test_every_switch_of_gemini_counts(box, settings):
    """Hooks are off as a whole or by name, in the newer and the older spelling."""
    wire(box, "gemini")
    path = box.data.parent / ".gemini/settings.json"
    held = json.loads(path.read_text())
    for key, value in settings.items():
        held[key] = held.get(key, {}) | value
    path.write_text(json.dumps(held))
    assert [status_ for status_, _ in found(box, "switches")] == ["warn"]


def test_what_an_administrator_switched_off_is_named(tmp_path):
    """Claude Code's managed settings may forbid hooks; there is nothing to mend but to ask."""
    path = tmp_path / "managed-settings.json"
    path.write_text('{"allowManagedHooksOnly": true, "disableAllHooks": false}')
    (finding,) = switches.managed(str(path))
    assert (finding.status, finding.mend) == ("warn", "")
    assert "allowManagedHooksOnly" in finding.says
    assert list(switches.managed(str(tmp_path / "none"))) == []


def test_a_hook_that_hangs_or_prints_nonsense_is_found(box):
    """Replay bounds each hook and judges what it prints."""
    wire(box, "gemini")
    launcher = box.data / "bin/memman"
    launcher.write_text('#!/bin/sh\necho "not json"\n')
    assert all(status_ == "fail" and "other than JSON" in says for status_, says in found(box, "replay"))
    launcher.write_text("#!/bin/sh\nexit 3\n")
    assert all("exit code 3" in says for _, says in found(box, "replay"))
    launcher.write_text("#!/bin/sh\nsleep 30\necho late\n")
    assert "did not end within" in found(box, "replay")[0][1]


def test_nothing_is_replayed_after_a_hook_that_hangs(box):
    """However many agents are wired, two tries of one hook are all that doctor waits for, and it says so."""
    wire(box, "claude-code", "codex", "gemini")
    (box.data / "bin/memman").write_text("#!/bin/sh\nsleep 30\n")
    hanging, rest = found(box, "replay")
    assert (hanging[0], "session-start hook did not end within" in hanging[1]) == ("fail", True)
    assert (rest[0], "not tested" in rest[1]) == ("skipped", True)
    assert found(box, "launcher")[0][0] == "fail"


def test_the_plugin_s_hooks_are_replayed_through_the_launcher(box):
    """Where a plugin brings the hooks, as in opencode, what it calls is replayed with its own payloads."""
    wire(box, "opencode")
    assert found(box, "replay") == [("ok", "3 hooks of opencode")]
    (box.data / "bin/memman").write_text("#!/bin/sh\nexit 0\n")
    said = " ".join(says for _, says in found(box, "replay"))
    assert "session-start hook printed no context" in said
    assert "user-prompt hook did not print the memory that answers the prompt" in said
    assert "stop hook queued 0 turns instead of one" in said
