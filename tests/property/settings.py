"""Generated settings files: what people's editors and other programs leave behind."""

import json
import os
import random
import tempfile

FOREIGN = {"type": "command", "command": "/opt/other/bin/notify --quick", "timeout": 7}
_WORDS = (
    "model",
    "theme",
    "env",
    "permissions",
    "mcpServers",
    "ünïcode",
    "日本",
    "a b",
    "x-y",
    "😀",
    'quote"d',
    "back\\slash",
)
_VALUES = (
    True,
    False,
    None,
    0,
    -1,
    3.5,
    1e21,
    "",
    "text",
    "line\nbreak",
    "ä€😀",
    "// no comment",
    "/* nor this */",
    "it's",
)
_EVENTS = ("Stop", "SessionStart", "UserPromptSubmit", "PreToolUse", "BeforeAgent", "Notification")
_SPECIAL = (None, "", "\n", " \r\n\t", "{}", "{ }", "{\n}\n", "\ufeff{}", "\ufeff", "{\r\n}\r\n")


def quick_folder() -> tempfile.TemporaryDirectory:
    """Return a folder in memory where there is one: some tests write thousands of files to the disk for certain."""
    return tempfile.TemporaryDirectory(dir="/dev/shm" if os.access("/dev/shm", os.W_OK) else None)  # noqa: S108 - as said


def generated(seed: int, *, strict: bool = False) -> str | None:
    """Return a settings file as text, None for no file. `strict` leaves out comments and trailing commas."""
    chance = random.Random(seed)
    if seed < len(_SPECIAL):
        return _SPECIAL[seed]
    style = Style(chance, strict=strict)
    return style.document(_data(chance))


def _data(chance: random.Random) -> dict:
    data = {chance.choice(_WORDS): _value(chance, 3) for _ in range(chance.randrange(6))}
    data.pop("permissions", None)
    if not isinstance(data.get("mcpServers", {}), dict):
        del data["mcpServers"]
    if chance.random() < 0.6:
        data["hooks"] = {
            event: [{"matcher": "*", "hooks": [FOREIGN] * chance.randrange(1, 3)} for _ in range(chance.randrange(3))]
            for event in chance.sample(_EVENTS, chance.randrange(4))
        }
    if chance.random() < 0.5:
        data["permissions"] = {"deny": ["Bash(rm:*)"], "allow": ["Bash(ls:*)", "Read"][: chance.randrange(3)]}
    if chance.random() < 0.3:
        data["plugins"] = {"allow": ["other"], "entries": {"other": {"enabled": True}}}
    items = list(data.items())
    chance.shuffle(items)
    return dict(items)


def _value(chance: random.Random, depth: int) -> object:
    kind = chance.random()
    if depth and kind < 0.25:
        return {chance.choice(_WORDS): _value(chance, depth - 1) for _ in range(chance.randrange(4))}
    if depth and kind < 0.5:
        return [_value(chance, depth - 1) for _ in range(chance.randrange(4))]
    return chance.choice(_VALUES)


class Style:
    """How one file is written: indent, line ends, comments, commas, byte order mark, the last line's end."""

    def __init__(self, chance: random.Random, *, strict: bool) -> None:
        self.chance = chance
        self.loose = not strict and chance.random() < 0.6
        self.newline = chance.choice(("\n", "\n", "\r\n"))
        self.indent = chance.choice(("  ", "    ", "\t", "   ", ""))
        self.flat = chance.random() < 0.15
        self.trailing = self.loose and chance.random() < 0.5
        self.bom = chance.random() < 0.1

    def document(self, data: dict) -> str:
        """Write a whole file."""
        head = f"// at the top{self.newline}" if self.loose and self.chance.random() < 0.3 else ""
        tail = self.chance.choice(("", self.newline, self.newline * 2))
        if self.loose and self.chance.random() < 0.2:
            tail += "/* at the end */"
        return ("\ufeff" if self.bom else "") + head + self.value(data, "") + tail

    def value(self, value: object, indent: str) -> str:
        """Write a value."""
        if isinstance(value, dict):
            return self.items([f"{self.key(key)}:{self.gap()}", item] for key, item in value.items())(indent, "{}")
        if isinstance(value, list):
            return self.items(["", item] for item in value)(indent, "[]")
        return json.dumps(value, ensure_ascii=self.chance.random() < 0.3)

    def items(self, pairs):
        """Write members or elements, on lines of their own or on one."""
        pairs = list(pairs)

        def written(indent: str, brackets: str) -> str:
            if not pairs:
                return brackets
            if self.flat or self.chance.random() < 0.2:
                parts = [name + self.value(item, indent) for name, item in pairs]
                return f"{brackets[0]}{f',{self.gap()}'.join(parts)}{brackets[1]}"
            inner = indent + self.indent
            lines = [inner + name + self.value(item, inner) for name, item in pairs]
            lines = [
                line + ("," if self.trailing or n < len(lines) - 1 else "") + self.comment()
                for n, line in enumerate(lines)
            ]
            return f"{brackets[0]}{self.newline}{self.newline.join(lines)}{self.newline}{indent}{brackets[1]}"

        return written

    def key(self, key: str) -> str:
        """Write a key."""
        return json.dumps(key, ensure_ascii=False)

    def gap(self) -> str:
        """Write the blank behind a colon or a comma."""
        return self.chance.choice(("", " ", " "))

    def comment(self) -> str:
        """Write a comment at a line's end, or none."""
        if not self.loose or self.chance.random() < 0.7:
            return ""
        return self.chance.choice((" // why, though", ' /* {"hooks": [}, */', f"{self.newline}// on its own line"))


def generated_toml(seed: int) -> str | None:
    """Return a config.toml, with hooks of others in half of them."""
    chance = random.Random(seed)
    if seed < 4:
        return (None, "", "\n", "# only a comment")[seed]
    nl = chance.choice(("\n", "\r\n"))
    parts = ['model = "gpt-5" # dear', f'[projects."/src/a [b]"]{nl}trust_level = "trusted"', "[features]  # switches"]
    if chance.random() < 0.5:
        command = '[[hooks.Stop]]{0}matcher = "*"{0}[[hooks.Stop.hooks]]{0}type = "command"{0}command = "say done"'
        parts.append(command.format(nl))
    if chance.random() < 0.5:
        parts.append(f'[hooks.state."/x:stop:0:0"]{nl}trusted_hash = "sha256:00"')
    if chance.random() < 0.3:
        parts.append(f'[notes]{nl}text = """{nl}[[hooks.Stop]]{nl}not a table{nl}"""')
    blank = chance.choice((nl, nl + nl))
    return blank.join(parts) + chance.choice(("", nl, nl + nl))
