"""What a memory holds for: the person everywhere, a repository and its clones, a folder of it."""

import json
import os
import shutil
import subprocess

import pytest

from memman.config.repository import repository
from memman.config.scope import Here, here, same
from memman.config.scope import label as name_of
from tests.support.box import Box
from tests.support.providers import ScriptedProvider, respond

ROOTS = ("1" * 40, "2" * 40)
GIT = {"GIT_CONFIG_GLOBAL": os.devnull, "GIT_CONFIG_NOSYSTEM": "1"}
NPM, GERMAN, MAKE = "We never use npm here, it's pnpm.", "I always want answers in German.", "We build with make."


def git(folder, *args):
    """Run git in a folder; return what it prints."""
    named = ("-c", "user.name=x", "-c", "user.email=x@example.com")
    command = ["git", "-C", str(folder), *named, *args]
    return subprocess.run(command, env=os.environ | GIT, capture_output=True, text=True, check=True).stdout.strip()


@pytest.fixture(name="repos")
def _repos(tmp_path):
    """Return a function that makes a repository with one commit."""

    def made(name, remote=""):
        folder = tmp_path / "work" / name
        folder.mkdir(parents=True)
        git(folder, "init", "--quiet")
        git(folder, "commit", "--quiet", "--allow-empty", "--message", f"Begin {name}")
        if remote:
            git(folder, "remote", "add", "origin", remote)
        return folder

    return made


def said(box, folder, *args):
    """Run memman in a folder; return what it prints."""
    done = box.memman(*args, cwd=folder)
    assert done.returncode == 0, done.stderr
    return done.stdout


def found(box, folder, query, *args):
    """Return the texts that a recall in a folder finds."""
    return [hit["text"] for hit in json.loads(said(box, folder, "recall", query, "--json", *args))["hits"]]


@pytest.fixture(name="two")
def _two(box, repos):
    """Return a box and two repositories, with a rule of each and a wish of the user's."""
    one, other = repos("shop"), repos("blog")
    for folder, text in ((one, NPM), (one, GERMAN), (other, MAKE)):
        said(box, folder, "remember", text)
    box.drain()
    return box, one, other


def test_a_repository_s_rule_stays_there_and_the_user_s_wish_goes_with_them(two, tmp_path):
    """In another repository and in none the rule is not found, nor shown at a session's start; the wish is."""
    box, one, other = two
    assert found(box, one, "is npm used") == [NPM]
    assert found(box, other, "is npm used") == found(box, tmp_path, "is npm used") == []
    for folder in (one, other, tmp_path):
        assert found(box, folder, "in which language are answers") == [GERMAN]
        assert (NPM in said(box, folder, "prime")) == (folder == one)
    assert found(box, other, "is npm used", "--all-scopes") == [NPM]
    assert "user, in shop: We never use npm" in said(box, other, "recall", "is npm used", "--all-scopes")
    assert "in shop" not in said(box, one, "recall", "is npm used", "--all-scopes")
    for verb in (("list", "--by-day"), ("list",), ("log",)):
        for text, where in ((NPM, "in shop"), (GERMAN, "everywhere")):
            (line,) = (line for line in said(box, other, *verb).splitlines() if text in line)
            assert f"user, {where}" in line, verb
    assert "shop" in said(box, other, "scope", "list")


def test_an_empty_recall_says_which_scope_would_answer(two, tmp_path):
    """Waiting notes count, a query is quoted for a shell; what is found, and what nobody knows, is left at that."""
    box, one, other = two
    said(box, one, "remember", "npm's cache of the shop is in /var/npm.")
    for args in ((), ("--json",)):
        told = box.memman("recall", "what's npm for", *args, cwd=other).stderr
        assert told == (
            "memman: nothing here; 2 memories of shop would answer: "
            f"`{box.script} recall --all-scopes 'what'\\''s npm for'`\n"
        )
    box.environ["CLAUDECODE"] = "1"
    asked = box.memman("recall", "what's npm for", cwd=other).stderr
    del box.environ["CLAUDECODE"]
    assert "2 memories of shop would answer; only if your user wants that: `" in asked
    assert box.memman("store", "create", "work").returncode == 0
    said(box, one, "remember", "--store", "work", "npm is mirrored.")
    assert "recall --store work --all-scopes npm`" in box.memman("recall", "--store", "work", "npm", cwd=other).stderr
    for folder, query, *more in (
        (one, "is npm used"),
        (other, "is npm used", "--all-scopes"),
        (other, "who waters the plants"),
        (tmp_path, "in which language are answers"),
    ):
        assert box.memman("recall", query, *more, cwd=folder).stderr == "", query


def test_remember_says_where_a_note_holds(box, repos, tmp_path):
    """At a terminal, and to agents, whose notes are never personal; a script's is silent."""
    shop = repos("shop")
    (shop / "web").mkdir()
    either = "in shop, unless it is about you or another repository"
    asked = {(): either, ("--scope", "personal"): "everywhere", ("--scope", "path:web"): "in shop/web"}
    ours, theirs = os.openpty()

    def at_terminal(folder, *args):
        command = (box.script, "remember", *args, NPM)
        subprocess.run(command, env=box.environ, cwd=folder, stdout=subprocess.PIPE, stderr=theirs, check=True)
        return os.read(ours, 1000).decode()

    for scope, where in asked.items():
        assert at_terminal(shop, *scope) == f"memman: holds {where}\r\n"
    assert at_terminal(tmp_path) == "memman: holds everywhere, unless it names a repository\r\n"
    for end in (ours, theirs):
        os.close(end)
    assert box.memman("remember", NPM, cwd=shop).stderr == ""
    box.environ["MEMMAN_AGENT"] = "codex"
    assert box.memman("remember", "--scope", "personal", NPM, cwd=shop).stderr == "memman: holds in shop\n"


def test_what_waits_is_labelled_like_what_is_stored(box, repos, tmp_path):
    """A note of another repository, or of a folder, says whose it is; one that holds here, or everywhere, does not."""
    one, other = repos("shop"), repos("blog")
    said(box, one, "remember", NPM)
    said(box, one, "remember", "--scope", "path:web", "The web folder uses vite.")
    said(box, one, "remember", "--scope", "personal", GERMAN)
    for drained in (False, True):
        for folder, asked, label in (
            (other, "is npm used", "shop"),
            (tmp_path, "is npm used", "shop"),
            (one, "is npm used", ""),
            (one, "what does the web folder use", "shop/web"),
            (other, "in which language are answers", ""),
        ):
            (line,) = said(box, folder, "recall", asked, "--all-scopes", "--limit", "1").splitlines()
            (hit,) = json.loads(said(box, folder, "recall", asked, "--all-scopes", "--limit", "1", "--json"))["hits"]
            assert (hit["scope"], hit["pending"]) == (label, not drained)
            assert (f"user, in {label}" in line) == bool(label)
            assert ("pending" in line) != drained
        box.drain()


def test_what_waits_is_as_private_as_what_is_stored(box, repos):
    """Before a drain has judged it a note is its repository's, unless it was told otherwise."""
    one, other = repos("shop"), repos("blog")
    said(box, one, "remember", NPM)
    said(box, one, "remember", "--scope", "personal", "Tea is served at four.")
    assert found(box, other, "npm") == []
    assert found(box, one, "npm") == [NPM]
    assert found(box, other, "when is tea served") == ["Tea is served at four."]


def test_a_moved_folder_a_work_tree_and_a_clone_are_the_same_repository(two, tmp_path):
    """All of them find what was learned in the first one, also from a folder below; a template's copy does not."""
    box, one, other = two
    moved = one.with_name("renamed")
    one.rename(moved)
    git(moved, "worktree", "add", "--quiet", str(tmp_path / "tree"))
    git(tmp_path, "clone", "--quiet", str(moved), "clone")
    git(tmp_path, "clone", "--quiet", str(tmp_path / "clone"), "second")
    (moved / "below").mkdir()
    for folder in (moved, moved / "below", tmp_path / "tree", tmp_path / "clone", tmp_path / "second"):
        assert found(box, folder, "is npm used") == [NPM], folder
    shutil.copytree(other, tmp_path / "copy")
    assert found(box, other, "what builds it") == [MAKE]
    assert found(box, tmp_path / "copy", "what builds it") == []


def test_a_clone_elsewhere_is_known_by_its_address(box, repos):
    """However that is written; one without a commit in common that claims the same address is another repository."""
    one, other = repos("shop", "git@github.com:acme/shop.git"), repos("again", "https://token@GitHub.com/acme/shop")
    clone = one.with_name("clone")
    git(one, "clone", "--quiet", str(one), str(clone))
    git(clone, "remote", "set-url", "origin", "https://token@GitHub.com/acme/shop")
    said(box, one, "remember", NPM)
    box.drain()
    assert found(box, clone, "is npm used") == [NPM]
    assert found(box, other, "is npm used") == []


def by_export(box, other):
    """Take a store to another data folder by an export."""
    said(box, box.data, "export", str(box.data / "out.jsonl"))
    said(other, box.data, "import", str(box.data / "out.jsonl"))


def by_backup(box, other):
    """Take it there by a backup."""
    said(box, box.data, "backup", "create")
    shutil.copytree(box.data / "backups", other.data / "backups")
    said(other, box.data, "backup", "restore", "latest")


def by_copy(box, other):
    """Copy the store's folder."""
    shutil.copytree(box.data / "data", other.data / "data")


@pytest.mark.parametrize("carry", [by_export, by_backup, by_copy])
def test_a_clone_on_a_second_data_folder_is_joined_with_the_repository(two, repos, tmp_path, carry):
    """It has its address and its first commit, or else a person joins it: a folder that is gone, a shallow clone."""
    box, one, other = two
    there = repos("till", "git@github.com:acme/till.git")
    rule = "Receipts are printed in Latin-9."
    said(box, there, "remember", rule)
    box.drain()
    second = Box(tmp_path / "second", box.environ | {"MEMMAN_DATA_DIR": str(tmp_path / "second")})
    second.data.mkdir(mode=0o700)
    carry(box, second)
    git(one, "bundle", "create", "--quiet", str(tmp_path / "shop.bundle"), "HEAD")
    git(tmp_path, "clone", "--quiet", str(tmp_path / "shop.bundle"), "clone")
    git(there, "commit", "--quiet", "--allow-empty", "--message", "More")
    git(tmp_path, "clone", "--quiet", "--depth", "1", f"file://{there}", "shallow")
    git(tmp_path, "clone", "--quiet", str(there), "whole")
    root = git(there, "rev-list", "--max-parents=0", "HEAD")
    git(tmp_path / "shallow", "remote", "set-url", "origin", "https://github.com/acme/till")
    for folder in (one, other, there):
        shutil.rmtree(folder)
    questions = {"is npm used": NPM, "what are receipts printed in": rule, "what builds it": MAKE}
    git(tmp_path / "whole", "remote", "set-url", "origin", "https://github.com/acme/till")
    for folder, holds in ((tmp_path / "clone", NPM), (tmp_path / "shallow", rule), (tmp_path / "whole", rule)):
        if folder.name != "whole":
            assert not [one for one in questions if found(second, folder, one)]
            said(second, folder, "scope", "join", "shop" if holds == NPM else "github.com/acme/till#" + root)
        for question, text in questions.items():
            assert found(second, folder, question) == ([text] if text == holds else []), question
        assert found(second, folder, "in which language are answers") == [GERMAN]
        begun = said(second, folder, "prime")
        assert not [text for text in questions.values() if text in begun and text != holds]


def test_what_holds_for_a_folder_is_labelled_and_begins_no_session_elsewhere(box, repos):
    """In the repository it is recalled with its folder; a session begins with it only inside of that."""
    shop = repos("shop")
    (shop / "web" / "src").mkdir(parents=True)
    rule = "We prefer Svelte components for every widget."
    said(box, shop, "remember", "--scope", "path:web", "--category", "preference", rule)
    box.drain()
    assert "in shop/web: We prefer Svelte" in said(box, shop, "recall", "which components for a widget")
    assert rule not in said(box, shop, "prime")
    assert rule in said(box, shop / "web" / "src", "prime")


@pytest.mark.parametrize("wrong", ["global", "path:../x", "path:/etc"])
def test_a_scope_that_is_none_is_refused(box, wrong):
    """Nothing is queued, and the three forms are told."""
    done = box.memman("remember", "--scope", wrong, "Anything.")
    assert done.returncode == 2
    assert "path:FOLDER" in done.stderr
    assert not box.queue_path.exists()


def test_a_memory_is_moved_to_where_it_belongs_and_back(two):
    """Moved to personal it is found everywhere, moved back only at home; the log tells both, and a name will do."""
    box, one, other = two
    uid = json.loads(said(box, one, "recall", "is npm used", "--json"))["hits"][0]["uid"]
    assert "moved to personal" in said(box, one, "scope", "move", uid, "--to", "personal")
    assert found(box, other, "is npm used") == [NPM]
    assert "already in personal" in said(box, one, "scope", "move", uid, "--to", "personal")
    assert "moved to shop" in said(box, other, "scope", "move", uid, "--to", "shop")
    assert found(box, other, "is npm used") == []
    listed = json.loads(said(box, other, "scope", "list", "--json"))
    assert {(row["scope"], row["memories"], row["here"]) for row in listed} == {
        ("personal", 1, True),
        ("shop", 1, False),
        ("blog", 1, True),
    }
    assert [line["verb"] for line in json.loads(said(box, one, "log", "list", "--json"))][:2] == ["move", "move"]
    done = box.memman("scope", "move", uid, "--to", "nowhere")
    assert done.returncode == 2
    assert "memman scope list" in done.stderr


def test_repositories_of_one_name_share_what_they_learn(box, repos):
    """A name that a person gives joins repositories; it is in no clone, and can be taken away."""
    one, other, third = repos("shop"), repos("blog"), repos("wiki")
    for folder in (one, other):
        said(box, folder, "scope", "name", "acme")
    said(box, one, "remember", NPM)
    box.drain()
    assert found(box, other, "is npm used") == [NPM]
    assert found(box, third, "is npm used") == []
    said(box, other, "scope", "name", "--unset")
    assert found(box, other, "is npm used") == []


def test_what_a_repository_knew_comes_along_to_its_name(box, repos):
    """Naming says what stays behind; --move takes memories, folders' and rules along, and undo takes that back."""
    one, other = repos("shop"), repos("blog")
    said(box, one, "remember", NPM)
    said(box, one, "remember", "--scope", "path:web", "The web folder builds with vite.")
    said(box, other, "remember", MAKE)
    assert box.memman("rule", "add", "No pushes.", "--match", "git push", "--do", "deny", cwd=one).returncode == 0
    box.drain()

    def holds():
        fires = "deny" in said(box, one, "rule", "test", "git push")
        return found(box, one, "is npm used"), found(box, one, "what builds the web folder"), fires

    full = ([NPM], ["The web folder builds with vite."], True)
    assert holds() == full
    seen = said(box, one, "scope", "name", "acme")
    assert ("2 memories and 1 rule" in seen, "scope name acme --move" in seen) == (True, True)
    assert holds() == ([], [], False)
    report = json.loads(said(box, one, "scope", "name", "acme", "--move", "--json"))
    assert (report["memories"], report["rules"]) == (2, 1)
    assert holds() == full
    assert found(box, other, "what builds it") == [MAKE]
    undone = said(box, one, "undo", report["id"])
    assert holds() == ([], [], False)
    said(box, one, "scope", "name", "--unset")
    assert holds() == full
    said(box, one, "scope", "name", "acme")
    said(box, one, "undo", undone.rpartition(" ")[2].strip())
    assert holds() == full
    assert "moved: 2 memories and 1 rule" in said(box, one, "scope", "name", "--unset", "--move")
    assert holds() == full


@pytest.mark.parametrize("verb", ["import", "scope move"])
def test_moving_or_importing_to_a_folder_that_is_not_there_is_told_too(box, repos, verb):
    """As `remember` tells it, and it is done all the same."""
    shop = repos("shop")
    (shop / "web").mkdir()
    for folder, told in (("web", False), ("wbe", True)):
        (shop / "notes.txt").write_text(f"The lift of {folder} is inspected in May.\n")
        box.remember(f"The heron is the mascot of {folder}.", scope="personal")
        box.drain()
        (uid,) = box.store("SELECT uid FROM memory ORDER BY id DESC LIMIT 1")
        args = ("import", "notes.txt", "--scope") if verb == "import" else ("scope", "move", uid, "--to")
        done = box.memman(*args, f"path:{folder}", cwd=shop)
        assert done.returncode == 0, done.stderr
        assert (f"there is no folder {shop}/{folder}" in done.stderr) == told, done.stderr


def test_a_scope_that_is_no_folder_of_the_repository_is_told(box, repos):
    """The note is queued all the same: the folder may come."""
    shop = repos("shop")
    (shop / "web").mkdir()
    for folder, told in (("web", False), ("wbe", True)):
        done = box.memman("remember", "--json", "--scope", f"path:{folder}", f"Use {folder}.", cwd=shop)
        assert done.returncode == 0
        assert (f"there is no folder {shop}/{folder}" in done.stderr) == told, done.stderr


def test_a_fact_retires_nothing_of_another_repository(box, repos):
    """The same statement with another value is one fact each; in its own repository it supersedes."""
    one, other = repos("shop"), repos("blog")
    said(box, one, "remember", "The staging database listens on port 5432.")
    said(box, other, "remember", "The staging database listens on port 6000 now.")
    box.drain()
    assert found(box, one, "which port has the staging database") == ["The staging database listens on port 5432."]
    said(box, one, "remember", "The staging database moved to port 5440.")
    box.drain()
    assert found(box, one, "which port has the staging database")[0] == "The staging database moved to port 5440."
    assert found(box, other, "which port has the staging database") == [
        "The staging database listens on port 6000 now."
    ]


def test_a_correction_has_the_scope_of_what_it_corrects(box, repos, tmp_path):
    """Where a personal wish is ended from within a repository, what takes its place holds everywhere too."""
    shop = repos("shop")
    said(box, tmp_path, "remember", "Deploys of my own go out on Mondays.")
    said(box, shop, "remember", "Deploys of my own go out on Fridays now, no longer on Mondays.")
    box.drain()
    assert found(box, tmp_path, "when do deploys go out")[0].startswith("Deploys of my own go out on Fridays")
    assert box.store("SELECT count(*) FROM memory WHERE status = 'superseded'") == [1]


@pytest.mark.parametrize("flag", [(), ("--scope", "repository")])
def test_an_exception_in_a_repository_does_not_end_a_personal_wish(box, repos, tmp_path, flag):
    """What is about one repository stands there before the personal wish, which holds unmarked everywhere else."""
    shop, blog = repos("shop"), repos("blog")
    wish, rule = (
        "Measurements are in metric units.",
        "Measurements in shop/units.py are in imperial units, not metric units.",
    )
    said(box, tmp_path, "remember", wish, "--category", "preference")
    said(box, shop, "remember", rule, *flag)
    box.drain()
    assert box.store("SELECT count(*) FROM memory WHERE status = 'superseded'") == [0]
    assert rule in found(box, shop, "in which units are measurements")
    assert found(box, blog, "in which units are measurements") == [wish]
    assert "maybe" not in said(box, blog, "recall", "in which units are measurements")
    assert wish in said(box, blog, "prime")
    assert "maybe" not in said(box, blog, "prime")


@pytest.mark.parametrize("drained", [True, False], ids=["stored", "in flight"])
def test_a_wish_said_again_in_a_second_repository_holds_everywhere(box, repos, tmp_path, drained):
    """It is one memory, of which the log says that it was moved; undoing the second note gives its repository back."""
    shop, blog = repos("shop"), repos("blog")
    wish, again = "Never force-push to main.", "Never force-push to the main."
    said(box, shop, "remember", wish, "--category", "preference")
    if drained:
        box.drain()
        assert found(box, tmp_path, "may I force-push") == []
    said(box, blog, "remember", again, "--category", "preference")
    box.drain()
    assert [found(box, folder, "may I force-push") for folder in (shop, blog, tmp_path)] == [[wish]] * 3
    (note,) = box.store("SELECT note FROM log WHERE verb = 'move'")
    told = json.loads(said(box, blog, "undo", note, "--json"))
    assert [one["became"] for one in told["memories"]] == ["shop again"]
    assert [found(box, folder, "may I force-push") for folder in (shop, blog, tmp_path)] == [[wish], [], []]
    assert "personal again" in said(box, blog, "undo", told["id"])
    assert found(box, tmp_path, "may I force-push") == [wish]


@pytest.mark.parametrize(
    ("first", "second", "more"),
    [
        ("Never force-push to main.", "Force-push to main.", ("--category", "preference")),
        ("Wrap lines at 100 columns.", "Wrap lines at 80 columns.", ("--category", "preference")),
        ("Never force-push to main.", "Never force-push to main.", ("--category", "fact")),
        ("Never force-push to main.", "Never force-push to main.", ("--category", "preference", "--source", "web")),
        (
            "Never force-push to main.",
            "Never force-push to main.",
            ("--category", "preference", "--scope", "repository"),
        ),
        ("In this repo we use tabs.", "In this repo we use tabs.", ("--category", "preference")),
        ("Run the linter here.", "Run the linter here.", ("--category", "preference")),
        ("Run the linter.", "Run the linter here.", ("--category", "preference")),
        ("Run the linter here.", "Run the linter.", ("--category", "preference")),
    ],
)
def test_nothing_else_said_again_elsewhere_holds_everywhere(box, repos, tmp_path, first, second, more):
    """Not another wish, nor a fact, what the user did not say, or what is about the repository."""
    shop, blog = repos("shop"), repos("blog")
    said(box, shop, "remember", first, "--category", "preference")
    box.drain()
    said(box, blog, "remember", second, "--category", "preference", *more)
    box.drain()
    assert found(box, tmp_path, first) == []
    assert found(box, blog, second) == [second]


THERE = [
    "In billing-api we always use uuid v7 for primary keys.",
    "And for billing-api, the staging database is called bill_stage.",
    "billing-api: deploys go out on Tuesdays only.",
    "billing-api's integration tests need a running Postgres 16.",
    "By the way, in `billing-api` the linter must pass before every commit.",
    "acme/billing-api needs Node 20, not 18.",
    "The billing-api repo has a nightly job that rebuilds the index.",
]
NOT_THERE = [
    "The cart calls billing-api with a timeout of 3 seconds.",
    "We generate the client for billing-api with openapi-typescript.",
    "As billing-api uses a ledger, we round half to even.",
    "billing-api has no sandbox, so mock it in the checkout tests.",
    "In billing-api responses the amounts are in cents, so divide by 100.",
    "In billing-api and ledger-ui we use trunk based development.",
    "In billing-api-client the retries are set to 5.",
    "In tools-repo we keep scripts small.",
    "In shop windows are dressed on Mondays.",
    "In ledger-ui commits are signed, but here they are not.",
]


@pytest.fixture(name="four")
def _four(box, repos):
    """Return a box and repositories: where one works, one that is to be named, another, and two of one name."""
    box.configure()
    made = [repos("web"), repos("billing-api", "git@github.com:acme/billing-api.git"), repos("ledger-ui")]
    for folder in (*made, repos("shop"), repos("one/tools-repo"), repos("other/tools-repo")):
        said(box, folder, "prime")
    return box, *made


def holding(box, status="current"):
    """Return where each memory holds, by its text."""
    sql = "SELECT text, repository FROM memory m JOIN scoped ON memory = m.id JOIN scope ON scope.id = scope"
    found = [(text, name_of(repository, "")) for text, repository in box.store(f"{sql} WHERE status = ?", status)]
    assert len(found) == len(dict(found)), "a statement was stored twice"
    return dict(found)


@pytest.mark.parametrize("channel", ["note", "turn"])
def test_what_names_the_repository_where_it_holds_is_kept_there(four, channel):
    """Said elsewhere, or at home; what only mentions a repository, or one of several, holds where it is said."""
    box, web, billing, _ = four
    place = here(str(box.data), repository(str(web)), str(web)).repository
    turn = {"channel": "turn", "agent": "codex", "reply": "Understood."} if channel == "turn" else {}
    for n, text in enumerate([*THERE, *NOT_THERE]):
        box.remember(text, cwd=str(web), repository=place, **turn | ({"session": f"s{n}"} if turn else {}))
    box.remember("In ledger-ui we never use jQuery.")
    box.drain()
    places = holding(box)
    assert places.pop("In ledger-ui we never use jQuery.") == "ledger-ui"
    # A turn's are kept without what only leads in.
    moved = {text for text, place in places.items() if place == "billing-api"}
    assert len(moved) == len(THERE) == sum(any(said.endswith(text) for text in moved) for said in THERE)
    assert all(place == "web" for text, place in places.items() if text not in moved)
    assert len(places) >= len(THERE) + len(NOT_THERE) - 1
    assert found(box, billing, "which uuid for primary keys", "--limit", "1") == THERE[:1]
    assert THERE[0] not in found(box, web, "which uuid for primary keys")
    (line,) = (line for line in said(box, web, "list").splitlines() if THERE[0] in line)
    assert "user, in billing-api" in line


WORDS = {
    "": [
        "In every project, commit messages are in English.",
        "All my repos use the MIT licence.",
        "In this company we never deploy on Fridays.",
        "Nowhere do we use yarn.",
        "never use emojis, everywhere",
        "Answers are in German.",
        "My shell is fish.",
    ],
    "web": [
        "Do it like this everywhere in this repo: two spaces.",
        "everywhere in this module use snake_case",
        "check every project board on monday",
        "The reports list every project by its owner.",
        "For all projects except this one, use ruff.",
        "Use bun in all our repositories but this one.",
        "Here we use tabs.",
        "The answers are in Redis.",
    ],
}


def test_words_say_where_it_holds(four):
    """They decide before the judge; what only mentions projects, or excepts this one, does not hold everywhere."""
    box, web, *_ = four
    for text in (*WORDS[""], *WORDS["web"]):
        said(box, web, "remember", text)
    box.drain()
    wrong = {text: place for text, place in holding(box).items() if text not in WORDS[place]}
    assert not wrong


def test_a_list_holds_in_one_place(four):
    """Its items are judged one by one, and some would hold everywhere."""
    box, web, *_ = four
    said(box, web, "remember", "Don'ts\n\n- commit apples\n- use bananas in TypeScript")
    box.drain()
    assert holding(box) == {"Don'ts: commit apples": "web", "Don'ts: use bananas in TypeScript": "web"}


def test_what_names_another_repository_is_compared_there(four):
    """It ends what that holds, and nothing where it was said; said again, there too, it is known, and holds there."""
    box, web, billing, ledger = four
    said(box, billing, "remember", "The ids in billing-api are uuid v4.")
    said(box, web, "remember", "The ids are uuid v4.")
    box.drain()
    new = "In billing-api the ids are uuid v7 now, no longer uuid v4."
    for folder in (web, ledger, billing):
        said(box, folder, "remember", new, "--category", "preference")
        box.drain()
    assert holding(box) == {new: "billing-api", "The ids are uuid v4.": "web"}
    assert holding(box, "superseded") == {"The ids in billing-api are uuid v4.": "billing-api"}


def test_a_wish_of_the_repository_that_it_names_is_none_said_again_elsewhere(four):
    """Where a third repository holds the same words, it holds there and in the one that they name."""
    box, web, _, ledger = four
    wish = ("remember", "--category", "preference", "In billing-api, I want short answers.")
    said(box, ledger, *wish, "--scope", "repository")
    box.drain()
    said(box, web, *wish)
    box.drain()
    places = box.store("SELECT repository FROM scoped JOIN scope ON id = scope")
    assert [name_of(one, "") for one in sorted(places)] == ["ledger-ui", "billing-api"]


@pytest.mark.parametrize("more", [("--scope", "repository"), ("--source", "agent"), ("--source", "web")])
def test_a_name_moves_nothing_against_the_caller_nor_what_the_user_did_not_say(four, more):
    """What agents and pages say about a repository stays where they say it."""
    box, web, *_ = four
    said(box, web, "remember", THERE[0], *more)
    box.drain()
    assert holding(box) == {THERE[0]: "web"}


def test_a_repository_is_named_as_it_is_known_now(box, repos):
    """Not by what it was before its first commit, and one that only memories know by what they say."""
    web, billing = repos("web"), repos("billing-api")
    box.configure()
    for folder in (web, billing):
        said(box, folder, "prime")
    git(billing, "remote", "add", "origin", "git@github.com:acme/billing-api.git")
    said(box, billing, "prime")
    box.remember("The queue is Kafka.", repository="github.com/acme/stock-api#" + ROOTS[0])
    box.drain()
    texts = ("In billing-api we pin every action.", "In stock-api we sign every commit.")
    for text in texts:
        said(box, web, "remember", text)
    box.drain()
    assert found(box, billing, "pin actions") == [texts[0]]
    assert holding(box)[texts[1]] == "stock-api"


def test_a_replacement_keeps_the_scope_of_what_it_replaces(two):
    """A personal wish that is replaced from within a repository stays personal."""
    box, one, other = two
    uid = json.loads(said(box, one, "recall", "in which language are answers", "--json"))["hits"][0]["uid"]
    said(box, other, "replace", uid, "The staff canteen answers in French.")
    box.drain()
    assert found(box, one, "in which language are answers") == ["The staff canteen answers in French."]


@pytest.mark.parametrize(
    ("one", "other", "alike"),
    [
        ("github.com/a/b", "github.com:a/b", True),
        ("github.com/a/b", "github.com/a/c", False),
        (f"github.com/a/b#{ROOTS[0]}", f"GitHub.com:a/b#{ROOTS[0]}", True),
        (f"github.com/a/b#{ROOTS[0]}", f"github.com/fork/b#{ROOTS[0]}", False),
        (f"github.com/a/b#{ROOTS[0]}", f"github.com/a/b#{ROOTS[1]}", False),
        (f"github.com/a/b#{ROOTS[0]}", "github.com/a/b", False),
        (f"/gone/b#{ROOTS[0]}", f"/other/b#{ROOTS[0]}", False),
        ("/gone/b", f"/gone/b#{ROOTS[1]}", False),
        ("scope:acme", f"github.com/a/b#{ROOTS[0]}", False),
        ("scope:acme", "scope/acme", False),
    ],
)
def test_repositories_are_the_same_by_address_and_first_commit(one, other, alike):
    """Either alone anybody can claim: a fork has the first commit, a configuration names any address."""
    assert same(one, other) is same(other, one) is alike


def test_the_first_commit_is_read_once_for_a_repository(tmp_path, repos):
    """It is kept for the folder once it could be read; but for a single one, which may be amended."""
    whole, damaged, data = repos("shop"), repos("other"), tmp_path / "data"
    data.mkdir()

    def told(folder, *, keep=False):
        return here(str(data), repository(str(folder)), str(folder), keep=keep).repository

    for folder in (whole, damaged):
        git(folder, "commit", "--quiet", "--allow-empty", "--message", "More")
    objects, aside = damaged / ".git/objects", damaged / "aside"
    objects.rename(aside)
    assert told(damaged) == str(damaged)
    aside.rename(objects)
    assert told(damaged) == str(damaged)
    assert told(damaged, keep=True) == f"{damaged}#{git(damaged, 'rev-list', '--max-parents=0', 'HEAD')}"
    known = f"{whole}#{git(whole, 'rev-list', '--max-parents=0', 'HEAD')}"
    assert told(whole) == known
    (whole / ".git/objects").rename(whole / "aside")
    assert told(whole) == known
    young = repos("young")
    told(young)
    git(young, "commit", "--quiet", "--allow-empty", "--amend", "--message", "Better")
    assert told(young) == f"{young}#{git(young, 'rev-parse', 'HEAD')}"


def test_outside_of_a_repository_there_is_none():
    """Nothing but what is personal holds there."""
    assert (Here().repository, Here().path) == ("", "")


RELAY = "Always route mail through relay.example."


@pytest.fixture(name="noted")
def _noted(box, repos):
    """Give a box in whose first repository an agent noted what is to hold everywhere, and a second repository."""
    one, other = repos("shop"), repos("blog")
    agent = {"CLAUDECODE": "1", "CLAUDE_CODE_SESSION_ID": "s"}
    box.environ.update(agent)
    said(box, one, "remember", "--scope", "personal", RELAY)
    said(box, one, "remember", GERMAN)
    assert found(box, other, "route mail relay") == []
    assert found(box, one, "route mail relay") == [RELAY]
    for name in agent:
        box.environ.pop(name)
    box.drain()
    return box, one, other


def test_an_agent_s_word_stays_in_its_repository(noted):
    """Whatever scope it asks for, while the note waits and afterwards, until a person moves it."""
    box, one, other = noted
    assert found(box, one, "route mail relay") == [RELAY]
    assert found(box, other, "route mail relay") == found(box, other, "which language for answers") == []
    prompt = json.dumps({"session_id": "x", "prompt": "how do we route mail through a relay?"})
    assert (
        "relay.example"
        not in box.memman("hook", "user-prompt", "--host", "claude-code", input=prompt, cwd=other).stdout
    )
    (uid,) = box.store("SELECT uid FROM memory WHERE text = ?", RELAY)
    said(box, one, "scope", "move", uid, "--to", "personal")
    assert found(box, other, "route mail relay") == [RELAY]


def test_the_user_s_own_word_goes_further(noted):
    """Said by the user in the same words, a wish that an agent had noted holds everywhere, as theirs."""
    box, one, other = noted
    said(box, one, "remember", GERMAN)
    box.drain()
    assert found(box, other, "which language for answers") == [GERMAN]
    assert box.store("SELECT source, status FROM memory WHERE text = ? ORDER BY id", GERMAN) == [
        ("agent", "superseded"),
        ("user", "current"),
    ]


@pytest.mark.parametrize("source", ["web", "file", "tool"])
def test_a_page_s_word_is_never_personal(box, repos, source):
    """Not even where that is asked for."""
    one, other = repos("shop"), repos("blog")
    said(box, one, "remember", "--source", source, "--scope", "personal", "Widgets are blue on the vendor page.")
    box.drain()
    assert found(box, one, "widgets vendor page") == ["Widgets are blue on the vendor page."]
    assert found(box, other, "widgets vendor page") == []


@pytest.mark.parametrize("verb", ["approve", "reject"])
def test_an_agent_ends_no_wish_from_within_a_repository(box, repos, verb):
    """Noted against the user's wish there, it is against it there alone; a person's approval has it hold everywhere."""
    one, other = repos("shop"), repos("blog")
    english = "The user wants answers in English now, no longer in German."
    said(box, one, "remember", "--scope", "personal", GERMAN)
    box.drain()
    said(box, one, "remember", "--source", "agent", english)
    box.drain()
    assert box.store("SELECT status FROM memory") == ["current", "current"]
    assert found(box, other, "which language for answers") == [GERMAN]
    said(box, one, "review", verb, *box.store("SELECT uid FROM memory WHERE text = ?", GERMAN))
    assert found(box, other, "which language for answers") == [GERMAN if verb == "reject" else english]


@pytest.mark.parametrize(
    ("text", "said", "args", "everywhere"),
    [
        ("No emojis in commit messages.", "personal", (), True),
        ("No emojis in commit messages.", "unsure", (), False),
        ("No emojis in commit messages.", "personal", ("--scope", "repository"), False),
        ("No emojis in commit messages.", "personal", ("--source", "agent"), False),
        ("The database is Postgres 16 here.", "personal", (), False),
        (GERMAN, "unsure", (), True),
        (GERMAN, "repository", (), False),
        ("The log level is info in all my repos.", "repository", (), True),
        ("Commits are squashed in none of my other projects.", "unsure", (), True),
        ("Answer me in German in this repo.", "personal", (), False),
    ],
    ids=lambda value: value[:12] if isinstance(value, str) else "",
)
def test_a_model_says_what_is_personal(box, repos, text, said, args, everywhere):
    """Its word counts for what the user says themselves, not against the caller, nor against what the words say."""

    def scoped(asked):
        reply = respond(asked)
        return {"facts": [one | {"scope": said} for one in reply["facts"]]} if asked["task"] == "extract" else reply

    shop, blog = repos("shop"), repos("blog")
    with ScriptedProvider(respond=scoped) as provider:
        box.use(provider)
        assert box.memman("remember", text, *args, cwd=shop).returncode == 0
        box.drain()
    assert found(box, shop, text) == [text]
    assert found(box, blog, text) == ([text] if everywhere else [])


def test_a_note_of_no_known_place_does_not_hold_everywhere(box, tmp_path):
    """In a folder that is gone, or asked to hold in a repository where there is none, it is refused with what to do."""
    gone = tmp_path / "gone"
    gone.mkdir()
    script = f"rmdir {gone} && {box.script} remember"
    note = "We ship from the branch rel."
    for where, more in (
        (gone, ""),
        (box.environ["HOME"], "--scope repository"),
        (box.environ["HOME"], "--scope path:a"),
    ):
        line = script if where == gone else f"{box.script} remember {more}"
        done = subprocess.run(
            ["sh", "-c", f"{line} '{note}'"], cwd=where, env=box.environ, capture_output=True, text=True, check=False
        )
        assert (done.returncode, done.stdout) == (2, ""), done.stderr
        assert "not saved" in done.stderr
        assert "--scope personal" in done.stderr
    gone.mkdir()
    subprocess.run(["sh", "-c", f"{script} --scope personal '{note}'"], cwd=gone, env=box.environ, check=True)
    assert box.queue("SELECT text, scope FROM note") == [(note, "personal")]
