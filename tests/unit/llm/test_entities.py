"""Names that memories are linked by: told by their shape, with a model and without."""

import pytest

from memman.llm.builtin.entities import MAX_ENTITIES, Kind, entities, names
from memman.model.vocabulary import EDGE_KINDS
from tests.support.providers import ScriptedProvider, respond


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("Call getUserById from user_service.", ["getUserById", "user_service"]),
        ("Set MAX_RETRIES in the config; it reads $DATABASE_URL.", ["MAX_RETRIES", "DATABASE_URL"]),
        ("Run parse() in memman.store.sqlite.", ["parse()", "memman.store.sqlite"]),
        ("Edit src/app/main.py and /etc/hosts.", ["src/app/main.py", "/etc/hosts"]),
        ("Edit pyproject.toml, then ~/.bashrc and .env.", ["pyproject.toml", "~/.bashrc", ".env"]),
        ("Install requests==2.31 and @acme/ui.", ["requests", "@acme/ui"]),
        ("We run Postgres 16 on Python 3.12 here.", ["Postgres", "Postgres 16", "Python", "Python 3.12"]),
        ("Docs are at https://docs.acme.io/a/b?x=1.", ["docs.acme.io"]),
        ("The broker is at 10.0.0.5:6379, the web on localhost:3000.", ["10.0.0.5:6379", "localhost:3000"]),
        ("Pass --no-cache to it.", ["--no-cache"]),
        ("Fixed in #123 and ABC-42.", ["#123", "ABC-42"]),
        ("Mail bob@acme.io about it.", []),
        ("We met Sara Connor and Bob.", ["Sara Connor", "Bob"]),
        ("The `frobnicate` helper is slow.", ["frobnicate"]),
        ("It builds with GitHub Actions.", ["GitHub Actions"]),
        ("db02.prod ran k8s on Kestrel-7.", ["db02.prod", "k8s", "Kestrel-7"]),
        ("请在 db02 上重启 Kestrel-7。", ["db02", "Kestrel-7"]),
        ("The file is read and/or written.", []),
        ("Wait 3s or 512MB at 10:30 on 2024-05-03, e.g. in v2.1.", []),
        ("We use Redis, redis and REDIS.", ["Redis"]),
    ],
)
def test_names_are_told_by_their_shape(text, expected):
    """As they are written; amounts, dates and plain words name nothing."""
    assert sorted(entities(text)) == sorted(expected)


def test_a_word_with_a_hyphen_is_perhaps_a_name():
    """The store says whether it is; a fact names at most so many, the given ones first, each once."""
    assert names("We deploy billing-api today.") == [("billing-api", Kind.MAYBE)]
    assert len(entities(" ".join(f"name_{i} name_{i}" for i in range(40)))) == MAX_ENTITIES
    assert entities("It uses Redis.", ("acme", "REDIS")) == ["acme", "REDIS"]


PAIRS = [
    ("Secrets are read by deploy/vault.hcl at night.", "Never edit deploy/vault.hcl by hand."),
    ("The tide gauge answers on gauge01.harbour.example now.", "Ask Ana before gauge01.harbour.example is restarted."),
    ("PIPE-1432 was about lost weights.", "Exports are slow since PIPE-1432 came in."),
    ("Old builds need node 18.2.1 to run.", "The importer calls recountStock() twice."),
]


def _reply(asked):
    """Answer as a model that names nothing."""
    made = respond(asked)
    for fact in made.get("facts", ()):
        fact["entities"] = []
    return made


@pytest.mark.parametrize("key", [True, False], ids=["with a key", "without"])
def test_two_notes_that_share_only_a_name_are_linked(box, key):
    """A path, a host or a ticket is enough, whatever a model makes of them; what shares none has no such edge."""
    with ScriptedProvider(respond=_reply) as provider:
        if key:
            box.use(provider, EMBED_PROVIDER="builtin", EMBED_ENDPOINT="", EMBED_MODEL="")
        for pair in PAIRS:
            for text in pair:
                box.remember(text)
        box.drain()
    rows = box.store(
        "SELECT a.text, b.text FROM link JOIN memory a ON a.id = src JOIN memory b ON b.id = dst WHERE kind = ?",
        EDGE_KINDS.index("entity"),
    )
    assert {frozenset(row) for row in rows} == {frozenset(pair) for pair in PAIRS[:3]}
