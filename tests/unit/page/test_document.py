"""The page as a file: everything is in it, nothing outside is needed, and no text becomes markup."""

import re

import pytest

from memman.commands.place import chosen, opened
from memman.page.document import written
from memman.page.parts import Html, differing, el
from memman.page.views import VIEWS
from tests.support.doubts import NEW, OLD, drained
from tests.support.markup import CORPUS, read


@pytest.fixture(name="full")
def _full(box):
    """Fill a store: a text of the corpus in each field that a note has."""
    for number, text in enumerate(CORPUS):
        said = f"Kestrel {number} greets by {text} at the door."
        box.remember(said, category="fact", entities=f"e{number}{text.replace(',', '')}", agent=text, session=text)
    box.drain()
    return box


def test_the_file_is_whole_and_has_nothing_but_texts(full):
    """The file has each section and memory, links within itself, and neither buttons nor markup of a memory."""
    with opened(chosen()) as store:
        text = written(store)
    found = read(text)
    ids = {attributes["id"] for _, attributes in found.tags if "id" in attributes}
    assert {"learned", "next", "decide", "state", *full.store("SELECT uid FROM memory WHERE status = 'current'")} <= ids
    links = [attributes["href"] for tag, attributes in found.tags if tag == "a"]
    assert all(link[1:] in ids for link in links)
    assert all(link.startswith("#") for link in links)
    assert not {"form", "button", "input"} & {tag for tag, _ in found.tags}
    for said in full.store("SELECT text FROM memory WHERE status = 'current'"):
        assert " ".join(said.split()) in found.said


def test_each_page_has_nothing_but_texts(full):
    """No page has an element or an attribute that a text brought."""
    with opened(chosen()) as store:
        for uid in full.store("SELECT uid FROM memory"):
            read(VIEWS["/memory"](store, {"id": uid}).body)
        for path, view in VIEWS.items():
            if path != "/memory":
                for text in CORPUS:
                    read(view(store, {"q": text} if path == "/search" else {}).body)


def test_two_sides_stand_side_by_side_with_their_words_marked(box):
    """What waits is asked about with both texts, and marks what only one of them says."""
    drained(box, OLD, NEW)
    with opened(chosen()) as store:
        body = VIEWS["/decide"](store, {}).body
    assert "Does the newer replace the older?" in body
    assert "Vercel" in "".join(re.findall("<mark>(.*?)</mark>", body))


def test_differing_words_are_marked():
    """Only the words that differ are marked."""
    old, new = differing("We use <b> here", "We use npm here")
    assert (old, new) == ("We use <mark>&lt;b&gt;</mark> here", "We use <mark>npm</mark> here")


def test_an_element_escapes_all_that_is_no_element():
    """Strings are escaped, in an element and in an attribute; control and bidi characters are gone."""
    assert el("p", "<i>", Html("<b>x</b>"), [1, None], title='"<') == '<p title="&quot;&lt;">&lt;i&gt;<b>x</b>1</p>'
    assert el("pre", "a\x1b[1m\u202e\nb") == "<pre>a\nb</pre>"


def test_a_long_list_has_pages(box):
    """What there is no room for is counted, and one link away."""
    for number in range(4):
        box.remember(f"Service number {number} listens on port {9000 + number} of its own host.")
    box.drain()
    with opened(chosen()) as store:
        view = VIEWS["/"](store, {"most": "1"})
    count = sum(group["count"] for group in view.data)
    assert f"Show more: {count - 1} are left" in view.body


def test_search_says_why_and_what_other_scopes_have(box):
    """A hit has the parts of its score, and what may stand in its place."""
    drained(box, OLD, NEW)
    with opened(chosen()) as store:
        view = VIEWS["/search"](store, {"q": OLD})
    assert view.data["hits"][0]["parts"]
    assert "why here: match" in view.body
    assert "maybe replaced by" in view.body
