"""Options that a program's manual gives as one: -f and --force of rm and of git push. Safe on the hot path."""

# The words of a command, and its options in groups; the first of a group stands for all of it.
_TABLE = (
    ("rm", "-r -R --recursive|-f --force"),
    ("cp", "-r -R --recursive|-f --force"),
    ("chmod", "-R --recursive"),
    ("chown", "-R --recursive"),
    ("git push", "--force -f|--delete -d|--set-upstream -u"),
    ("git commit", "--no-verify -n|--all -a"),
    ("git clean", "--force -f"),
    ("git branch", "--force -f|--delete -d|--move -m"),
    ("git checkout", "--force -f"),
    ("docker system prune", "--force -f|--all -a"),
    ("docker rm", "--force -f|--volumes -v"),
    ("docker rmi", "--force -f"),
    ("docker compose down", "--volumes -v"),
    ("kubectl", "--all-namespaces -A|--namespace -n|--filename -f"),
    ("npm", "--global -g|--save-dev -D|--force -f"),
    ("curl", "--insecure -k|--request -X"),
    ("terraform", "-auto-approve --auto-approve"),
)


def canonical(program: list[str]) -> "dict[str, str]":
    """Return by each option of a command that has several names the first of them; `program` are its words."""
    return {
        name: group.split()[0]
        for words, groups in _TABLE
        if _within(words.split(), program)
        for group in groups.split("|")
        for name in group.split()
    }


def renamed(words: list[str], names: "dict[str, str]") -> list[str]:
    """Return words with each such option by one name, out of those that stand in one word with others (-Rf)."""
    if not names:
        return words
    split: list[str] = []
    for word in words:
        letters = [f"-{letter}" for letter in word[1:]] if word[:1] == "-" and word[1:].isalnum() else []
        if word not in names and len(letters) > 1 and any(letter in names for letter in letters):
            split += [names.get(letter, letter) for letter in letters]
        else:
            split.append(names.get(word, word))
    return split


def _within(wanted: list[str], words: list[str]) -> bool:
    """Whether words follow each other in others, whatever stands between."""
    left = iter(words)
    return all(word in left for word in wanted)
