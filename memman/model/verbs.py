"""The verbs an agent is told of and granted: the one table behind the guide, the skill and the permissions."""

# Verb -> (how it is called, when it is of use).
AGENT_VERBS: dict[str, tuple[str, str]] = {
    "recall": ('memman recall "words of the question"', "before work that earlier sessions may have touched"),
    "timeline": ("memman timeline --around ID", "a memory whose line ends in …, whole, and what came before and after"),
    "remember": ("memman remember -", "after a correction, a decision, a finding; the text comes on standard input"),
    "replace": ("memman replace ID -", "the memory with this id is out of date; standard input says what holds now"),
    "forget": ("memman forget ID", "the user asked that it be forgotten"),
    "status": ("memman status", "what is stored, what waits, what went wrong"),
}
