"""A memory keeps its language; keywords of the model lead to it from another."""

from tests.support.providers import ScriptedProvider, respond

GERMAN = "Die Rechnungen werden erst nach der Freigabe durch zwei Personen verschickt."


def test_a_question_in_english_finds_what_was_said_in_german(box):
    """By the English words that the model gives; the memory is shown as it was said."""
    words = ["invoices", "approval", "two people", "sending"]

    def answer(asked):
        made = respond(asked)
        for one in made.get("facts", ()):
            one["keywords"] = words if one["text"] == GERMAN else []
        return made

    with ScriptedProvider(respond=answer) as provider:
        box.use(provider, EMBED_PROVIDER="builtin", EMBED_ENDPOINT="", EMBED_MODEL="")
        for text in (GERMAN, "Der Drucker steht im dritten Stock.", "The coffee machine is descaled on Fridays."):
            box.remember(text)
        assert box.drain().done == 3
    assert box.recall("what approval do invoices need before sending")[:1] == [GERMAN]
