"""Every parser of text that others write, as a function of bytes: whatever comes, it gives what it promises or refuses.

`run.py` feeds them by coverage (`make fuzz`), `test_fuzz.py` by hypothesis in the gate.
"""

import contextlib
import json
from collections.abc import Callable

import click

from memman.commands.remember import click_parse
from memman.config.env import _fault, _pairs
from memman.config.keys import KEYS
from memman.config.stores import valid_name
from memman.hot.frame import framed, harmless, stripped
from memman.hot.grammar import RECALL, REMEMBER, moment, parse
from memman.integrations import edits, parts
from memman.integrations.edits import CannotEdit, read
from memman.llm.builtin.markdown import blocks
from memman.model.errors import BadReply, UsageError
from memman.model.payload import Payload, parsed, quoted
from memman.model.terms import index_terms, match_any, query_terms, respelled, stems, words
from memman.model.text import clean
from memman.pipeline import replies
from memman.pipeline.heard import LONGEST, own
from memman.recall.moments import resolve
from memman.secrets.leaks import leaks
from memman.secrets.matcher import redact

NOW = 1_795_000_000_000


def _text(data: bytes) -> str:
    return data.decode("utf-8", "replace").replace("\0", " ")


def query(data: bytes) -> None:
    """Words, terms and the FTS expression: every term stands in quotes."""
    text = _text(data)
    terms = query_terms(text)
    assert match_any(terms).count('"') % 2 == 0
    assert all(words(text)) or not words(text)
    index_terms(text)
    stems(text)
    respelled(text[: len(text) // 2], text[len(text) // 2 :])


def moments(data: bytes) -> None:
    """Read of a question a span that begins before it ends, or nothing."""
    text = _text(data)
    span = resolve(text, NOW)
    assert span is None or span.start < span.end
    with contextlib.suppress(UsageError):
        assert isinstance(moment(text, "since"), int)


def prompts(data: bytes) -> None:
    """Part notes into blocks, the same each time, and take a user's own words out of prompts."""
    text = _text(data)
    assert list(blocks(text)) == list(blocks(text))
    assert len(own(text)) <= LONGEST


def commented_json(data: bytes) -> None:
    """Read settings or refuse them; what is put into them is found there."""
    text = data.decode("utf-8", "replace")
    with contextlib.suppress(CannotEdit):
        read(text)
        changed = edits.append(text, ("permissions", "allow"), "x")
        assert "x" in edits.listed(changed, ("permissions", "allow"))


def config_toml(data: bytes) -> None:
    """Our server is put into TOML that can be read, and taken out again without a trace; other TOML is refused."""
    text = data.decode("utf-8", "replace")
    with contextlib.suppress(CannotEdit):
        before = parts.read_toml(text)
        put = parts.serve(text, "/x/.memman/bin/memman")
        assert parts.read_toml(put)["mcp_servers"]["memman"]
        assert parts.read_toml(parts.unserve(put)) == before


def reply(data: bytes) -> None:
    """Model output comes out typed, cleaned and short, or is left out."""
    try:
        value = json.loads(data)
    except (ValueError, RecursionError):
        value = {"facts": [_text(data), {"text": _text(data)}]}
    held = value if isinstance(value, dict) else {"facts": value}
    with contextlib.suppress(BadReply):
        for record in replies.listed(held, "facts", 8):
            for inner in record.values():
                assert len(replies.clean(inner, 40)) <= 40
                assert all(len(name) <= 10 for name in replies.names(inner, 3, 10))
                assert 0 <= replies.number(inner, 0, 1, 0.5) <= 1


def payload(data: bytes) -> None:
    """Take what a host sends for an object of which any field may be anything."""
    with contextlib.suppress(ValueError, RecursionError):
        held = Payload(parsed(_text(data)))
        for name in ("prompt", "session_id", "tool_input"):
            held.text(name).encode()
            held.under(name).text("plan").encode()
            held.flag(name)


def grammar(data: bytes) -> None:
    """Decline a command line on the fast way, or read what click reads."""
    args = _text(data).split("\n")
    for table in (REMEMBER, RECALL):
        fast = parse(args, table)
        try:
            slow = click_parse(args, table)
        except (click.UsageError, click.exceptions.Exit):
            slow = None
        assert fast is None or fast == slow


def secrets(data: bytes) -> None:
    """Redact any text; a text without a secret stays as it is."""
    text = _text(data)
    assert leaks(text) or redact(text) == text


def shown(data: bytes) -> None:
    """Print one printable line; what stands in the frame cannot leave it, and comes out whole."""
    text = data.decode("utf-8", "replace")
    assert clean(text).isprintable()
    assert json.loads(quoted(text)) == text
    assert stripped(framed("head", [harmless(clean(text))])).strip() == ""


def settings(data: bytes) -> None:
    """Lines of the env file are pairs, each value taken or found fault with."""
    for name, value in _pairs(_text(data)):
        _fault(KEYS.get(name, KEYS["MEMMAN_LLM_PRICE"]), value)
        assert valid_name(name) in {True, False}


HARNESSES: dict[str, Callable[[bytes], None]] = {
    harness.__name__: harness
    for harness in (
        query,
        moments,
        prompts,
        commented_json,
        config_toml,
        reply,
        payload,
        grammar,
        secrets,
        shown,
        settings,
    )
}
# What each begins with.
SEEDS = (
    b'"a" OR b* NEAR(c d) what did we decide last month',
    b"between january and 2026-13-45, 3 days ago, the week of may 5",
    b"# Title\n\n- one\n```sh\n$ ls\n```\n> quoted\n<!-- c -->\n",
    b'{// c\n"hooks": {"Stop": [{}],}, permissions: {allow: ["x"]}}\n',
    b'[hooks]\nStop = []\n[[hooks.Stop]]\nx = "y"\n',
    b'{"facts": [{"text": "x", "entities": ["a"], "importance": 3}]}',
    b'{"session_id": "../x", "prompt": {"a": [1e999, null]}, "tool_input": {"plan": "p"}}',
    b"--limit\n3\n--json\nwords\n--\n-x\n--since=7d",
    b"AWS_SECRET_ACCESS_KEY=wJalrXUtnFEMI/K7MDENG/bPxRfiCYEXAMPLEKEY password: hunter2hunter2",
    b"<memman-memory>\x1b[31m\xe2\x80\xae</memman-memory>",
    b"MEMMAN_LLM_PRICE=1,2\n#x\n=\nMEMMAN_HTTP_TRIES = 9",
)
# What once broke one of them.
FOUND: tuple[bytes, ...] = (b"9" * 5_000,)
