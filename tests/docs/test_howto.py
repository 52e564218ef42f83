"""The pages on sharing can be followed: their commands, pasted line by line and in order, from nothing."""

import os
import re
import shlex
import sys
from dataclasses import dataclass, field
from pathlib import Path

import pytest
from psycopg.conninfo import make_conninfo

from tests.support.postgres import Database
from tests.support.terminal import attended

PAGES = Path(__file__).parents[2] / "docs" / "howto"
BLOCK = re.compile(r"^```(\w*)\n(.*?)^```$", re.MULTILINE | re.DOTALL)
ASKED = re.compile(r"--dsn -( |$)")


def blocks(page, heading):
    """Return the blocks below a heading of a page, or before the first: (language, lines)."""
    text = (PAGES / page).read_text()
    section = (text.partition(f"## {heading}\n")[2] if heading else text).partition("\n## ")[0]
    return [(language, text.splitlines()) for language, text in BLOCK.findall(section)]


@dataclass
class Person:
    """Somebody at a machine of their own, who pastes what a page says."""

    home: Path
    database: Database
    address: str = ""
    named: dict[str, str] = field(default_factory=dict)

    def __post_init__(self):
        """Have a home folder, a clone of `shop`, and programs that stand in for what would go to the network."""
        self.cwd = self.home
        (self.home / "bin").mkdir(parents=True)
        self.standin("pip", "exit 0")
        path = f"{self.home}/bin:{Path(sys.executable).parent}:{os.environ['PATH']}"
        self.environ = {"HOME": str(self.home), "PATH": path, "MEMMAN_DRAIN": "off", "LANG": "C.UTF-8"}
        self.paste("git init -q shop")
        self.paste("git -C shop remote add origin https://example.org/shop.git")
        day = "GIT_AUTHOR_DATE=2026-01-01T00:00Z GIT_COMMITTER_DATE=2026-01-01T00:00Z"
        self.paste(f"{day} git -C shop -c user.name=a -c user.email=a@example.org commit -q --allow-empty -m shop")

    def standin(self, name, script):
        """Put a program in the place of another."""
        program = self.home / "bin" / name
        program.write_text(f"#!/bin/sh\n{script}\n")
        program.chmod(0o755)

    def paste(self, line):
        """Run a line where the last one ended, with the address typed where it is asked for; return what it says."""
        for word, put in self.named.items():
            line = re.sub(rf"(?<![\w-]){word}(?![\w:])", put, line)
        where = self.home / "where"
        script = f"cd {shlex.quote(str(self.cwd))}\n{line}\nended=$?\npwd >{shlex.quote(str(where))}\nexit $ended"
        typed = f"{self.address}\n" if ASKED.search(line) else ""
        ran = attended(["bash", "-c", script], self.environ, self.home, stdin=typed)
        assert ran.returncode == 0, f"{line}: {ran.stderr}{ran.asked}"
        self.cwd = Path(where.read_text().strip())
        return ran.stdout

    def follow(self, block):
        """Paste the lines of a block; return what the last one says."""
        said = ""
        for line in block[1]:
            said = self.paste(line)
        return said

    def tell(self, text):
        """Remember a note and drain it."""
        self.paste(f"memman remember {shlex.quote(text)}")
        self.paste("memman scheduler drain")


@pytest.fixture
def server(cluster):
    """Give a database that the page itself makes, with the roles that it makes."""
    with cluster.database() as made:
        cluster.execute(f"DROP DATABASE {made.name}")
        yield made


@pytest.fixture
def person(tmp_path, server):
    """Give a person by the name of their machine: `person(name)`, with the address of a role: `person(name, role)`."""

    def made(name, role=""):
        address = make_conninfo(server.address, user=server.called(role) if role else None)
        if role:
            server.roles[role] = "..."
            address = server.dsn(role)
        return Person(tmp_path / name, server, address, {one: server.called(one) for one in ("sara", "tom")})

    return made


def administered(server, block):
    """Run the SQL of a page as an administrator, with the names that this test has."""
    assert block[0] == "sql"
    for line in block[1]:
        for word in ("sara", "tom", "memman"):
            line = re.sub(rf"\b{word}\b", server.name if word == "memman" else server.called(word), line)  # noqa: PLW2901
        server.cluster.execute(line)


def test_a_team_can_follow_its_page(person, server):
    """An administrator, a first and a second person come to one store, and one hands a copy on."""
    sara, tom, root = person("sara", "sara"), person("tom", "tom"), person("root")
    (sara.home / "shop" / "decisions.txt").write_text("Migrations are written in plain SQL.\n")
    (sara.home / "shop" / "my-rules.txt").write_text("The staging database listens on port 5433.\n")
    for block in blocks("team.md", ""):
        sara.follow(block)
    sara.paste("memman scheduler drain")
    assert "(binding)" in sara.paste("memman status")
    made, tables, opened, first, second = blocks("team.md", "One store for all of you")
    administered(server, made)
    root.follow(tables)
    administered(server, opened)
    said = sara.follow(first)
    assert [line.split()[1] for line in said.splitlines()] == ["own", "write"]
    tom.follow(second)
    assert "5433" in tom.paste('memman recall "which port does the staging database use?"')
    tom.tell("The staging database listens on port 6432 now, not on 5433.")
    sara.paste("memman scheduler drain")
    assert "6432" in sara.paste('memman recall "which port does the staging database use?"')
    backup, restored = blocks("team.md", "Handing a store to a colleague")
    tom.named |= {"ID": sara.follow(backup).split()[0]}
    tom.standin("scp", f'shift; cp -r "{sara.home}/${{1#sara:}}" "$2"')
    assert "plain SQL" in tom.follow(restored)


def test_one_person_can_follow_the_page_on_a_second_machine(person, server):
    """A store that is there goes to a server, another machine joins, and what that knew is taken along."""
    laptop, desktop, tower = person("laptop", "sara"), person("desktop", "sara"), person("tower", "sara")
    laptop.tell("The staging database listens on port 5433.")
    tower.tell("The heron nests in March.")
    made, first, second, known = blocks("another-machine.md", "With a server, on both machines at once")
    before = laptop.paste("memman export").splitlines()[1:]
    administered(server, made)
    laptop.follow(first)
    desktop.follow(second)
    asked = 'memman recall "which port does the staging database use?"'
    assert laptop.paste(asked).split()[3:] == desktop.paste(asked).split()[3:]
    here, there = (one.paste("memman export").splitlines()[1:] for one in (laptop, desktop))
    assert here == there == before
    tower.follow(known)
    for one in (tower, laptop):
        one.paste("memman scheduler drain")
    assert "heron" in laptop.paste('memman recall "when does the heron nest?"')
    assert "heron" in tower.paste('memman recall "when does the heron nest?"')
    laptop.paste("memman migrate --to sqlite")
    assert laptop.paste("memman export") != ""
