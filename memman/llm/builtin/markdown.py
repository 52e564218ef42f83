"""Markdown and plain notes as a sequence of blocks, each with the headings and lead-ins it stands under."""

import re
from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import Literal

from memman.config.places import split_lines

Kind = Literal["prose", "item", "code"]

_FENCE = re.compile(r"\s{0,8}(`{3,}(?=[^`]*$)|~{3,})")
_HEADING = re.compile(r"\s{0,3}(#{1,6})\s+(\S.*)")
_ITEM = re.compile(r"(\s*)(?:[-*+•‣◦\u2013]|\(?\d{1,3}[.)])\s+(?=\S)")
_TASK = re.compile(r"\[([ xX])\]\s+")
_RULE = re.compile(r"\s*(?:[-=*_]\s*){3,}$")
_QUOTE = re.compile(r"\s*(?:>\s?)+")
_ROW = re.compile(r"\s*\|.*\|\s*$")
_DIVIDER = re.compile(r"[\s|:\-+]+$")
# A line of its own: a log entry, a commit, a dated line, a `key: value` pair.
_RECORD = re.compile(
    r"\s*(?:[0-9a-f]{7,40}\s|\d{4}-\d\d-\d\d|\[(?:\d|[A-Z]+\])"
    r"|[A-Z][\w.-]{0,30}(?: [\w.-]{1,30}){0,2}:\s|[a-z][\w.-]{0,30}:\s"
    r"|[A-Z][A-Z0-9_]+=)",
)
_SENTENCE = re.compile(r"(?<!\.\w)[.!?]\s(?!\s*[a-z])")
_PAIR = re.compile(r"[a-z][\w.-]{0,30}:\s")
_WRAP = 45  # characters; a shorter line was ended on purpose, not wrapped
_FULL = 60  # characters; a line as long that ends no sentence goes on in the next, also where that begins like a pair
_TITLE, _ENDED = 3, ".!?:;,\u3002\uff01\uff1f"  # words of a title, and how none ends
_LABEL = 80  # characters; a longer line is a statement, not a label for what follows
_DEPTH = 6  # labels carried at once
_TAGS = (
    "a b i br p td th tr ul ol li h1 h2 h3 h4 div img sub sup span table tbody thead center strong em details summary"
)
# A tag, and code, which keeps its own.
_TAG = re.compile(rf"(`[^`\n]{{1,200}}`)|</?(?:{_TAGS.replace(' ', '|')})(?: [^<>]{{0,300}})?/?>", re.IGNORECASE)
_UNDERLINE = re.compile(r"\s{0,3}(?:={3,}|-{3,})\s*")
_IMAGE = r"!\[[^\]\n]{0,300}\](?:\([^)\n]{0,2000}\)|\[[^\]\n]{0,300}\])"
_IMAGES = re.compile(rf"(?:\s*(?:{_IMAGE}|\[\s?{_IMAGE}\s?\](?:\([^)\n]{{0,2000}}\)|\[[^\]\n]{{0,300}}\])))+\s*")
_TASKS = {" ": "to do: ", "x": "done: ", "X": "done: "}


@dataclass(frozen=True, slots=True)
class Block:
    """A run of text of one kind. `fresh` labels have not been carried by any block before; code may be `introduced`.

    Of the labels the `leads` are what introduces it: a line above it, or else the headings that it stands under. The
    `headings` are those that it stands under in any case, the outermost first, `language` is what its fence names.
    """

    kind: Kind
    text: str
    labels: tuple[str, ...] = ()
    fresh: bool = False
    introduced: bool = False
    leads: tuple[str, ...] = ()
    line: int = 0
    headings: tuple[str, ...] = ()
    language: str = ""


@dataclass(slots=True)
class _Reader:
    """Turns lines into blocks, remembering the labels in force."""

    headings: tuple[str, ...] = ()
    path: tuple[tuple[int, str], ...] = ()
    leads: tuple[tuple[int, str], ...] = ()
    fresh: bool = False
    untold: bool = False
    depth: int = 0
    after_blank: bool = False
    indented: bool = False
    kind: Kind = "prose"
    lines: list[str] = field(default_factory=list)
    number: int = 0
    begun: int = 0
    header: list[str] = field(default_factory=list)

    @property
    def labels(self) -> tuple[str, ...]:
        return (*self.headings, *(lead for _, lead in self.leads))

    def block(self, kind: Kind, text: str, language: str = "", *, within: bool = False) -> Block:
        leads = tuple(lead for _, lead in self.leads)
        within = within or (self.fresh and bool(leads))
        if kind == "prose" and [level for level, _ in self.path] == [1]:
            self.path = ()  # the title of a text that says something below it introduces none of its sections
        above = tuple(heading for _, heading in self.path) or self.headings[-1:]
        labels = self.labels
        if kind == "item" and not leads:
            labels = (*(one for one in self.headings if one not in above), *above)
        elif kind == "item" and not self.untold:
            labels = leads  # the nearest line introduces a list, not the heading above that
        made = Block(kind, text, labels, self.fresh, within, leads or above, self.begun, above, language)
        self.fresh, self.untold, self.headings = False, False, self.headings[-1:]
        return made

    def flush(self) -> Iterator[Block]:
        if self.lines:
            text = "\n".join(self.lines)
            self.lines = []
            yield self.block(self.kind, text)

    def leave(self, depth: int) -> Iterator[Block]:
        """Drop the leads that do not reach below `depth`; one that labelled nothing comes out as text."""
        kept = tuple((d, lead) for d, lead in self.leads if d < depth)
        if self.fresh and kept != self.leads:
            self.fresh = False
            yield Block("prose", ": ".join(self.labels))
        self.leads = kept

    def label(self, depth: int, text: str) -> None:
        """Put `text` in force for what is indented deeper than `depth`."""
        self.leads, self.fresh = (*self.leads, (depth, bare(text))), True

    def lead_in(self, following: str) -> Iterator[Block]:
        """Make a label of what introduces a list: the line of prose before it, or the item that it is in."""
        if self.kind == "prose":
            yield from self.introduce()
        elif self.lines and len(following) - len(following.lstrip()) > self.depth and _introduces(" ".join(self.lines)):
            self.label(self.depth, " ".join(self.lines))
            self.lines = []

    def introduce(self, ends: str = "") -> Iterator[Block]:
        """Make a label of the last sentence of the prose, if it may introduce what follows and ends as asked."""
        text = "\n".join(self.lines)
        start = max((end.end() for end in _SENTENCE.finditer(text)), default=0)
        if _introduces(text[start:]) and text.rstrip("*_").endswith(ends):
            self.lines = [text[:start].strip()] if start else []
            yield from self.flush()
            yield from self.leave(-1)
            self.label(-1, " ".join(text[start:].split()))

    def heading(self, level: int, text: str) -> Iterator[Block]:
        if self.fresh and len(self.labels) >= _DEPTH:
            yield Block("prose", ": ".join(self.labels))
            self.fresh = False
        above = self.labels if self.fresh else ()
        said = bare(text.strip("# ")) or text
        self.headings = (*above, said)
        self.path = (*(one for one in self.path if one[0] < level), (level, said))
        self.leads, self.fresh, self.untold = (), True, True

    def item(self, indent: int, text: str, *, parent: bool) -> Iterator[Block]:
        yield from self.leave(indent)
        task = _TASK.match(text)
        if task:
            text = _TASKS[task[1]] + text[task.end() :]
        if parent and len(text) <= _LABEL:
            self.label(indent, text)
        else:
            self.kind, self.lines, self.begun, self.depth = "item", [text], self.number, indent

    def row(self, line: str) -> Iterator[Block]:
        cells = [cell.strip() for cell in line.strip().strip("|").split("|")]
        self.begun = self.number
        if _DIVIDER.match(line):
            self.header = self.header or [" "]
        elif not self.header:
            self.header, self.kind, self.lines = cells, "item", ["; ".join(filter(None, cells))]
        else:
            self.lines = []  # every row says the header again
            named = zip(self.header, cells, strict=False)
            pairs = [f"{name}: {cell}" if name.strip() else cell for name, cell in named if cell]
            yield self.block("item", "; ".join([*pairs, *cells[len(self.header) :]]))

    def text(self, line: str, following: str) -> Iterator[Block]:
        """Take a line that is neither heading, item nor row."""
        text = line.strip()
        dedented, self.indented = self.indented and not line[:1].isspace(), line[:1].isspace()
        if self.lines and (stands_alone(self.lines[-1], line) if self.kind == "prose" else not self.indented):
            if self.kind == "prose" and len(self.lines) == 1 and _titles(self.lines[0], text):
                title = self.lines.pop()
                yield from self.leave(-1)
                self.label(-1, title)
            else:
                yield from self.flush()
        if self.lines:
            self.lines.append(text)
            return
        within = self.indented and self.leads
        if (self.after_blank or dedented or self.kind == "item") and not self.fresh and not within:
            yield from self.leave(-1)
        self.kind, self.lines, self.begun = "item" if within else "prose", [text], self.number
        if following and not within:
            yield from self.introduce(":")

    def line(self, line: str, following: str) -> Iterator[Block]:
        heading, item = _HEADING.match(line), _ITEM.match(line)
        if _ROW.match(line):
            if not self.header:
                yield from self.lead_in(line)
                yield from self.flush()
            yield from self.row(line)
            return
        self.header = []
        begins = line if line.strip() else following
        if _ITEM.match(begins) or _ROW.match(begins):
            yield from self.lead_in(begins)
        if heading or item or _RULE.match(line) or not line.strip():
            yield from self.flush()
        if heading:
            yield from self.heading(len(heading[1]), heading[2])
        elif item and not _RULE.match(line):
            deeper = _ITEM.match(following)
            text = line[item.end() :].strip()
            parent = bool(deeper and len(deeper[1]) > len(item[1])) or (bool(following) and text.endswith(":"))
            yield from self.item(len(item[1]), text, parent=parent)
        elif line.strip() and not _RULE.match(line):
            yield from self.text(line, following)
        self.after_blank = not line.strip()


def bare(text: str) -> str:
    """Return a label without the marks around it."""
    return text.strip("*_").rstrip(": ").rstrip("*_").rstrip(".!")


def _introduces(text: str) -> bool:
    """Whether a text may introduce a list: what is said to its end does so only if it is short."""
    return bool(text) and (len(text) <= _LABEL or text.rstrip("*_")[-1:] not in ".!?\u3002\uff01\uff1f")


def _titles(line: str, text: str) -> bool:
    """Whether a short line seems to be the title of `text`, which follows it at once."""
    words = len(line.split())
    return words <= _TITLE < len(text.split()) and line[-1] not in _ENDED and not _RECORD.match(line)


def stands_alone(before: str, line: str) -> bool:
    """Whether `line` begins something new rather than going on with the wrapped line `before`."""
    if _PAIR.match(line) and len(before) >= _FULL and before[-1] not in _ENDED and not _RECORD.match(before):
        return False
    if _RECORD.match(line) or (_RECORD.match(before) and len(before) < _LABEL):
        return not line[:1].isspace()
    return len(before) < _WRAP and before[-1] not in ",;-\u2013—(" and not line.lstrip()[:1].islower()


def _fenced(lines: list[str], start: int, fence: str) -> int:
    """Find the line that closes the fence opened at `start`, or the end."""
    for i in range(start + 1, len(lines)):
        if lines[i].strip().startswith(fence):
            return i
    return len(lines)


def _next_text(lines: list[str]) -> list[str]:
    """For each line, the next line that is not blank."""
    found, ahead = [], ""
    for line in reversed(lines):
        found.append(ahead)
        ahead = line if line.strip() else ahead
    return found[::-1]


def _uncommented(note: str) -> str:
    """Leave HTML comments and tags of mere layout out."""
    kept, rest = [], note
    while (start := rest.find("<!--")) >= 0 and (end := rest.find("-->", start)) >= 0:
        kept.append(rest[:start])
        rest = rest[end + 3 :]
    text = "".join([*kept, rest])
    return _TAG.sub(r"\1", text) if "<" in text else text


def _underlined(lines: list[str], i: int) -> bool:
    """Whether the line is a heading by the rule under it."""
    over = i + 1 < len(lines) and bool(_UNDERLINE.fullmatch(lines[i + 1])) and (i == 0 or not lines[i - 1].strip())
    return over and lines[i].strip().isprintable() and bool(lines[i].strip()) and not _HEADING.match(lines[i])


def _pictured(line: str) -> bool:
    """Whether a line, or an item of a list, is images and nothing else."""
    item = _ITEM.match(line)
    return bool(_IMAGES.fullmatch(line, item.end() if item else 0))


def headed(note: str) -> bool:
    """Whether a note begins with a heading, as a document does."""
    lines = split_lines(note.strip())
    return bool(lines) and (bool(_HEADING.match(lines[0])) or _underlined(lines, 0))


def blocks(note: str) -> Iterator[Block]:
    """Read `note` into blocks; whatever is a label and labels nothing comes out as prose."""
    lines = [
        _QUOTE.sub("", line, count=1) if line.lstrip()[:1] == ">" else line for line in split_lines(_uncommented(note))
    ]
    following, reader, i = _next_text(lines), _Reader(), 0
    while i < len(lines):
        reader.number = i + 1
        fence = _FENCE.match(lines[i])
        if fence:
            yield from reader.flush()
            end = _fenced(lines, i, fence[1])
            code = "\n".join(text.rstrip() for text in lines[i + 1 : end] if text.strip())
            if code:
                language = lines[i][fence.end() :].strip().partition(" ")[0].lower()
                yield reader.block("code", code, language, within=reader.kind == "item" and lines[i][:1].isspace())
            i = end
        elif _underlined(lines, i):
            yield from reader.line(f"# {lines[i].strip()}", "")
            i += 1
        else:
            yield from reader.line("" if _pictured(lines[i]) else lines[i], following[i])
        i += 1
    yield from reader.flush()
    if reader.fresh:
        yield Block("prose", ": ".join(reader.labels))
