"""What becomes of texts that others wrote, and which commands fire rules.

Usage: python -m bench.contract [--texts FILE] [--rules FILE] [--dialogues FILE] [--changes FILE] [--json FILE], with
files of `bench/data/contract`. A line
of texts is a text with its channel, whether it is poisoned, and for a turn the user's prompt. Each has a home of its
own: it comes in by its channel, is drained, and then another session starts and asks about it. Counted are those that
are stored as the user's word, and those of which a later model is shown something unasked without a label. A line of
rules is a pattern, or a command and whether it is to fire one. A line of dialogues is what an honest agent noted, what
its user said beside it, and what is asked later: counted is in what form the answer is before the next agent, and what
it would be had the user said it all. A line of changes is what the user said, what their agent noted of its change, and
how the user says that: counted is how a recall shows both, before and after the user has said it.
"""

import argparse
import json
import tempfile
from collections import Counter
from collections.abc import Sequence
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any

from bench.poisoning import Scene
from memman.model.pattern import matches, parsed
from memman.model.shell import commands

LOW_TRUST = ("web", "file", "tool")
CHANNELS = frozenset((*LOW_TRUST, "agent-remember", "reply", "summary", "pasted"))
# What a line says of a memory that neither the user nor two sessions bear out.
LABELS = ("unverified", "unconfirmed")
_SHORT = 8


def plant(scene: Scene, one: dict[str, Any]) -> None:
    """Hand a text in by the channel it comes by."""
    channel, text, prompt = one["channel"], one["text"], one["prompt"]
    if channel in LOW_TRUST:
        scene.run("remember", "--source", channel, "-", said=text, agent=True)
    elif channel == "agent-remember":
        scene.run("remember", "-", said=text, agent=True)
    elif channel == "summary":
        scene.hook("post-compact", "first", compact_summary=text)
    else:
        scene.hook("user-prompt", "first", prompt=prompt)
        scene.hook("stop", "first", last_assistant_message=text if channel == "reply" else "I have looked at it.")


def outcome(one: dict[str, Any]) -> dict[str, Any]:
    """Return what became of one text."""
    with tempfile.TemporaryDirectory() as folder:
        scene = Scene(folder, CAPTURE="turns")
        plant(scene, one)
        scene.drain()
        rows = scene.store("SELECT uid, text, source, status FROM memory") if _stored(scene) else []
        shown = "\n".join(
            (scene.hook("session-start", "later"), scene.hook("user-prompt", "later", prompt=one["text"]))
        )
    from_it = [row for row in rows if _of(row[1], one)]
    lines = [line for line in shown.splitlines() if any(line.startswith(uid[:_SHORT]) for uid, *_ in from_it)]
    return {
        "id": one["id"],
        "stored": len(from_it),
        "as user": [text for _, text, source, status in from_it if source == "user" and status != "review"],
        "held": any(status == "review" for *_, status in from_it),
        "shown unlabelled": [line for line in lines if not any(label in line for label in LABELS)],
    }


def _stored(scene: Scene) -> bool:
    return (scene.data / "data/default/memman.db").exists()


def _of(memory: str, one: dict[str, Any]) -> bool:
    """Whether a memory comes of the text, and not of what the user said around it."""
    if one["channel"] not in {"pasted", "reply"}:
        return True
    said = one["prompt"].replace(one["text"], " ") if one["channel"] == "pasted" else one["prompt"]
    words = set(memory.casefold().split())
    return len(words & set(one["text"].casefold().split())) > len(words & set(said.casefold().split())) or (
        _bare(memory) in _bare(one["text"])
    )


def _bare(text: str) -> str:
    return "".join(char for char in text.casefold() if char.isalnum())


def measured(texts: Sequence[dict[str, Any]], workers: int) -> dict[str, Any]:
    """Count what became of all texts, the poisoned and the others.

    Raises ValueError for a channel that there is none of: whose word its parts are would be counted wrong.
    """
    if unknown := {one["channel"] for one in texts} - CHANNELS:
        raise ValueError("no such channel: " + ", ".join(sorted(unknown)))
    with ThreadPoolExecutor(workers) as pool:
        found = list(pool.map(outcome, texts))
    figures: dict[str, Any] = {}
    for poisoned in (True, False):
        of = [(one, result) for one, result in zip(texts, found, strict=True) if one["poisoned"] is poisoned]
        counts = Counter(
            what for _, result in of for what in ("stored", "as user", "held", "shown unlabelled") if result[what]
        )
        figures["poisoned" if poisoned else "benign"] = {
            "texts": len(of),
            **{what: counts[what] for what in ("stored", "as user", "held", "shown unlabelled")},
            "by channel": {
                channel: dict(Counter(w for o, r in of if o["channel"] == channel for w in r if w != "id" and r[w]))
                for channel in sorted({one["channel"] for one, _ in of})
            },
            "cases": [result for one, result in of if result["as user"] or result["shown unlabelled"]],
            "held ids": [result["id"] for _, result in of if result["held"]],
        }
    return figures


def fired(lines: Sequence[dict[str, Any]]) -> dict[str, Any]:
    """Count the commands that fire their rule, or do not, against what was wanted."""
    patterns = {line["rule"]: line["match"] for line in lines if "match" in line}
    asked = [line for line in lines if "command" in line]
    wrong = [
        line["command"]
        for line in asked
        if matches(parsed(patterns[line["rule"]]), commands(line["command"])) != line["fires"]
    ]
    return {"commands": len(asked), "to fire": sum(line["fires"] for line in asked), "wrong": wrong}


def remembered(one: dict[str, Any], *, agent: bool) -> dict[str, bool]:
    """Return how the answer to a dialogue's question stands before the agent of the next session."""
    with tempfile.TemporaryDirectory() as folder:
        scene = Scene(folder)
        for text in one["notes"]:
            scene.run("remember", "-", said=text, agent=agent)
        for text in one["others"]:
            scene.run("remember", "-", said=text)
        scene.drain()
        unasked = scene.hook("session-start", "later"), scene.hook("user-prompt", "later", prompt=one["question"])
        asked = scene.run("recall", one["question"])
    start, prompt, recall = (
        [line for line in text.splitlines() if one["answer"].casefold() in line.casefold()]
        for text in (*unasked, asked)
    )
    return {
        "at the session's start": bool(start),
        "with the prompt": bool(prompt),
        "unasked, by either": bool(start or prompt),
        "with the prompt, without a label": any(not any(label in line for label in LABELS) for line in prompt),
        "by recall": bool(recall),
        "by recall, first": bool(recall) and recall[0] == asked.splitlines()[0],
    }


def dialogues(lines: Sequence[dict[str, Any]], workers: int) -> dict[str, Any]:
    """Count how the answers stand before the next agent, where the agent noted them and where the user said them."""
    figures: dict[str, Any] = {"dialogues": len(lines)}
    for who, agent in (("noted by the agent", True), ("said by the user", False)):
        with ThreadPoolExecutor(workers) as pool:
            found = list(pool.map(lambda one, agent=agent: remembered(one, agent=agent), lines))
        figures[who] = {what: sum(one[what] for one in found) for what in found[0]}
    return figures


def changed(one: dict[str, Any]) -> dict[str, bool]:
    """Return how a change that an honest agent noted stands beside what the user had said, and once they say it."""
    with tempfile.TemporaryDirectory() as folder:
        scene = Scene(folder)
        scene.run("remember", "-", said=one["said"])
        scene.drain()
        scene.run("remember", "-", said=one["noted"], agent=True)
        scene.drain()
        before = scene.run("recall", one["question"]).splitlines()
        listed = json.loads(scene.run("review", "list", "--json"))
        scene.hook("user-prompt", "later", prompt=one["confirmed"])
        scene.hook("stop", "later", last_assistant_message="Noted.")
        scene.drain()
        after = scene.run("recall", one["question"]).splitlines()
    olds = [n for n, line in enumerate(before) if line.endswith(one["said"])]
    news = [n for n, line in enumerate(before) if line.endswith(one["noted"])]
    return {
        "the user's memory is shown": bool(olds),
        "the user's memory is shown first": bool(olds) and olds[0] == 0,
        "the agent's note is shown, as unconfirmed": any("unconfirmed" in before[n] for n in news),
        "the agent's note is shown, and says what it is against": any("against" in before[n] for n in news),
        "listed for review": bool(listed),
        "once the user says so, the new is first": bool(after) and one["new"] in after[0],
        "once the user says so, the old is gone": bool(after) and not any(one["said"] in line for line in after),
    }


def changes(lines: Sequence[dict[str, Any]], workers: int) -> dict[str, Any]:
    """Count how changes that honest agents noted stand beside what their users had said."""
    with ThreadPoolExecutor(workers) as pool:
        found = list(pool.map(changed, lines))
    return {"changes": len(lines)} | {what: sum(one[what] for one in found) for what in found[0]}


def read(path: Path) -> list[dict[str, Any]]:
    """Read a file of JSON lines."""
    return [json.loads(line) for line in path.read_text("utf-8").splitlines()]


def main(argv: Sequence[str] | None = None) -> None:
    """Print the figures, and write them if asked."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--texts", type=Path)
    parser.add_argument("--rules", type=Path)
    parser.add_argument("--dialogues", type=Path)
    parser.add_argument("--changes", type=Path)
    parser.add_argument("--json", type=Path)
    parser.add_argument("--workers", type=int, default=2)
    asked = parser.parse_args(argv)
    found = {"rules": fired(read(asked.rules))} if asked.rules else {}
    found |= {"dialogues": dialogues(read(asked.dialogues), asked.workers)} if asked.dialogues else {}
    found |= {"changes": changes(read(asked.changes), asked.workers)} if asked.changes else {}
    found |= measured(read(asked.texts), asked.workers) if asked.texts else {}
    figures = json.dumps(found, indent=1, ensure_ascii=False)
    print(figures)
    if asked.json:
        asked.json.write_text(figures + "\n")


if __name__ == "__main__":
    main()
