"""Words as index and query see them: identifiers in parts and whole, any script, and what is written in two ways."""

import pytest

from memman.model.terms import (
    folded,
    index_terms,
    match_any,
    query_terms,
    stems,
    words,
)

# What is looked for, what must be found, and what shares its parts.
IDENTIFIERS = (
    (
        "3.11.4",
        "The build image pins Python 3.11.4.",
        ("Step 3 of 11 takes 4 minutes.", "Ports 3, 4 and 11 are open on 11 hosts."),
    ),
    (
        "--no-verify",
        "Commit with --no-verify only in an emergency.",
        ("Verify every invoice.", "There is no free lunch."),
    ),
    (
        "auth.py",
        "The token check lives in src/api/auth.py.",
        ("The py launcher asks for auth.", "Auth is done by Okta."),
    ),
    ("src/api/auth.py", "The token check lives in src/api/auth.py.", ("The api of auth is in src and py.",)),
    (
        "getUserById",
        "getUserById returns null for guests.",
        ("Get the id of a user by mail.", "The user id is a number."),
    ),
    ("get_user_by_id", "getUserById returns null for guests.", ("The user id is a number.", "By mail we get users.")),
    ("user_cache_key", "Set user_cache_key to the tenant.", ("The cache has a key for each user and a key for all.",)),
    ("os.path.join", "Use os.path.join on Windows.", ("Join the path of the OS team.", "The path is long.")),
    ("max-retry-count", "The flag max-retry-count is 5.", ("Count each retry up to the max.",)),
    ("C++", "The parser is written in C++.", ("The parser in C is old.", "Vitamin C is good.")),
    ("C#", "The client is written in C#.", ("The client in C is old.", "The client is written in C++.")),
    ("utf8mb4", "Tables use utf8mb4.", ("Tables use utf and mb.", "The 8 tables are in the 4 schemas.")),
    ("v2.3.1", "Release 2.3.1 broke the login.", ("Release 2 of 3 had 1 bug.",)),
    (".env", "Secrets are read from the .env file.", ("The environment is rebuilt nightly.",)),
)


NOISE = (
    "Invoices are sent on the first of the month.",
    "Kafka keeps seven days of events.",
    "Carol designs the onboarding screens.",
    "The office cat sleeps on the router.",
    "Nightly builds take forty minutes.",
    "Redis holds the sessions of the shop.",
)


@pytest.mark.parametrize(("query", "wanted", "others"), IDENTIFIERS, ids=[query for query, *_ in IDENTIFIERS])
def test_an_identifier_is_found_however_it_is_written(box, query, wanted, others):
    """A memory that holds the identifier is among the first, beside others that hold its parts."""
    for n, text in enumerate((*NOISE, *others, wanted)):
        box.remember(text, session=str(n))
    box.drain()
    assert wanted in box.recall(query)[: 1 + len(others)]


def test_an_identifier_adds_its_parts_and_no_single_characters():
    """The words of a query are split at humps and digits; a lone character of an identifier tells nothing."""
    assert query_terms("getUserById k8s utf8") == ["getuserbyid", "user", "id", "k8s", "utf8", "utf"]
    assert query_terms("C++ or F#?") == ["c", "f", "cplusplus", "fsharp"]
    assert query_terms("what is the") == ["what", "is", "the"]


def test_expressions_quote_everything():
    """No term can be syntax of FTS5."""
    assert match_any(["a", 'b" OR c']) == '"a" OR "b"" OR c"'
    assert match_any(["\u732b"]) == '"\u732b"*'


# Pairs of spellings that must find each other.
SPELLINGS = (
    ("\uff30\uff59\uff54\uff48\uff4f\uff4e", "Python"),
    ("caf\u00e9", "cafe"),
    ("cafe\u0301", "CAF\u00c9"),
    ("stra\u00dfe", "STRASSE"),
    ("\u0130stanbul", "istanbul"),
    ("\u0131s\u0131", "ISI"),
    ("\u03bb\u03cc\u03b3\u03bf\u03c2", "\u039b\u039f\u0393\u039f\u03a3"),
    ("\ufb01le", "file"),
    ("\uff76\uff9e\uff97\uff7d", "\u30ac\u30e9\u30b9"),
    ("\u0141\u00f3d\u017a", "lodz"),
    ("Vi\u1ec7t", "viet"),
    ("\u041c\u041e\u0421\u041a\u0412\u0410", "\u043c\u043e\u0441\u043a\u0432\u0430"),
)


@pytest.mark.parametrize(("one", "other"), SPELLINGS)
def test_spellings_of_one_word_find_each_other(box, one, other):
    """Width, accents, ligatures and case do not keep a word from being found, either way round."""
    assert stems(one) & stems(other)
    box.remember(f"The sign reads {one} today.")
    box.remember(f"The label says {other} instead.", session="2")
    box.drain()
    both = {f"The sign reads {one} today.", f"The label says {other} instead."}
    for query in (one, other):
        assert both <= {hit.row.text for hit in box.hits(query, least=0.0) if hit.read.anchor.words > 0}


@pytest.mark.parametrize(
    "text", ["\ud800", "\u0000", "\u202e", "\u0e17\u0e35\u0e48", "\U0001f408", "\u00bd\u2460", "\ufdfa", ""]
)
def test_no_text_is_too_odd(text):
    """Whatever the characters, words come out and nothing is raised."""
    for made in (words(text), query_terms(text), index_terms(text), folded(text)):
        assert made is not None


# Facts and questions of our own in Chinese, Japanese and Korean; the n-th question is answered by the n-th fact.
FACTS = (
    "\u6211\u4eec\u4f7f\u7528PostgreSQL\u6570\u636e\u5e93\u5b58\u50a8\u8ba2\u5355\u3002",
    "\u7f13\u5b58\u8fc7\u671f\u65f6\u95f4\u662f\u4e94\u5206\u949f\u3002",
    "\u641c\u7d22\u529f\u80fd\u57fa\u4e8e\u5012\u6392\u7d22\u5f15\u3002",
    "\u529e\u516c\u5ba4\u7684\u732b\u7761\u5728\u8def\u7531\u5668\u4e0a\u3002",
    "\u9234\u6728\u3055\u3093\u306f\u30e2\u30d0\u30a4\u30eb\u30a2\u30d7\u30ea\u306e\u958b\u767a\u8005\u3067\u3059\u3002",
    "\u691c\u7d22\u306b\u306fElasticsearch\u3092\u4f7f\u3063\u3066\u3044\u307e\u3059\u3002",
    "\uacb0\uc81c \uc11c\ube44\uc2a4\ub294 \uae40\ubbfc\uc218\uac00 \ub2f4\ub2f9\ud569\ub2c8\ub2e4.",
    "\ubcf8\uc0ac\ub294 \uc11c\uc6b8\uc5d0 \uc788\uc2b5\ub2c8\ub2e4.",
)
ASKED = (
    "PostgreSQL",
    "\u7f13\u5b58\u591a\u4e45\u8fc7\u671f",
    "\u7d22\u5f15",
    "\u732b",
    "\u9234\u6728",
    "Elasticsearch",
    "\uacb0\uc81c \ub2f4\ub2f9\uc790",
    "\ubcf8\uc0ac \uc704\uce58",
)


@pytest.mark.usefixtures("unjudged")
def test_scripts_without_spaces_are_found_by_words_of_any_length(box):
    """Words of one and of two characters are found inside a sentence, and so are Latin words between."""
    for n, text in enumerate(FACTS):
        box.remember(text, session=str(n))
    box.drain()
    assert [box.recall(query)[:1] for query in ASKED] == [[fact] for fact in FACTS]
