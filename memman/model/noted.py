"""`Noted: …`: the lines that an agent's answer ends with where something is to be kept. Safe on the hot path."""

WORD = "Noted"
MOST = 3
# Characters of what is noted.
SHORTEST, LONGEST = 15, 300
# What the guide shows as an example is nobody's note.
EXAMPLE = "one sentence that can be understood alone"
_FENCES = ("```", "~~~")
_MARKS = "*_"
_LISTED = ("-", "*", "+", "\u2022")
_EVERYWHERE, _INSTEAD = "everywhere", ["instead", "of"]
_ID = frozenset("0123456789abcdef")
_SHORTEST_ID, _LONGEST_ID = 6, 32

# What is noted, whether it holds everywhere, and the id of what it is noted instead of.
Line = tuple[str, bool, str]


def parted(answer: str) -> tuple[str, list[Line]]:
    """Split an answer into what comes before its last lines and what these note, MOST at most.

    `Noted[ everywhere][ instead of ID]: TEXT`, bold or in a list; not in a fence, a quote or a comment.
    """
    lines = answer.rstrip().split("\n")
    found: list[Line] = []
    end = len(lines)
    while end and len(found) < MOST:
        last = lines[end - 1]
        line = _read(last)
        if line is None and last.strip():
            break
        end -= 1
        if line:
            found.insert(0, line)
    before = lines[:end]
    if not found or _inside(before, lines[end]):
        return answer, []
    return "\n".join(before).rstrip(), found


def _read(line: str) -> Line | None:
    """Read one line; one of four blanks is code."""
    said = line.strip()
    if WORD not in said or line[:1] == "\t" or line[:4].isspace():
        return None
    first, _, rest = said.partition(" ")
    if first in _LISTED or (first[-1:] in ".)" and first[:-1].isdigit()):
        said = rest.lstrip()
    text = said.lstrip(_MARKS)
    marks = said[: len(said) - len(text)]
    head, colon, text = text.replace("\uff1a", ":", 1).partition(":")
    told = head.rstrip(_MARKS if marks else "").split()
    if not colon or told[:1] != [WORD]:
        return None
    everywhere = told[1:2] == [_EVERYWHERE]
    rest_of_head = told[1 + everywhere :]
    instead = ""
    if rest_of_head[:2] == _INSTEAD and len(rest_of_head) == len(_INSTEAD) + 1:
        instead = rest_of_head[-1].strip("`#[]()").lower()
    if rest_of_head and not (_SHORTEST_ID <= len(instead) <= _LONGEST_ID and _ID.issuperset(instead)):
        return None
    text = _unmarked(text.strip(), marks)
    fits = SHORTEST <= len(text) <= LONGEST and not any(one in text for one in (EXAMPLE, "<!--", "-->"))
    return (text, everywhere, instead) if fits else None


def _unmarked(text: str, marks: str) -> str:
    """Take off the marks that the line opened with, wherever they close."""
    if not marks:
        return text
    if text.startswith(marks):
        return text[len(marks) :].strip()
    return text.removesuffix(marks).rstrip()


def _inside(before: list[str], first: str) -> bool:
    """Whether the lines behind `before` stand in a fence, go on with a quote, or stand in a comment."""
    fence = ""
    for line in before:
        said = line.strip()
        if fence:
            fence = "" if said.startswith(fence) and not said.strip(fence[0]) else fence
        else:
            fence = said[:3] if said.startswith(_FENCES) else ""
    whole = "\n".join(before)
    quoted = bool(before) and before[-1].lstrip()[:1] == ">" and bool(first.strip())
    return bool(fence) or quoted or whole.rfind("<!--") > whole.rfind("-->")
