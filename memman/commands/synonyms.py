"""What people type who do not know the verbs yet, and the command that does what they mean."""

# The command -> words that are no verbs of memman's.
_MEANT = {
    'recall "…"': "search find query ask lookup grep get",
    'remember "…"': "add save note learn put new create insert write",
    "forget ID": "delete del rm remove drop retire",
    "forget --undo ID": "unforget",
    "purge ID": "erase wipe",
    'replace ID "…"': "edit update change correct modify",
    "list": "ls memories facts notes all",
    "list --around ID": "timeline",
    "insights archive --least": "gc",
    "show ID": "cat view why history versions changes",
    'show --query "…"': "explain",
    "log learned": "learned",
    "log diff": "diff",
    "log sessions": "sessions",
    "log cost": "cost",
    "insights protect ID": "protect pin keep",
    "insights reinstate ID": "reinstate revert rollback",
    "install": "setup init enable wire hooks",
    "uninstall": "disable unwire",
    "status": "stats info stat state",
    "log worker": "logs",
    "lint": "audit quality",
    "doctor": "check health diagnose verify",
    "insights verify ID": "confirm renew",
    "config show": "settings configure env keys",
    "config set KEY VALUE": "set",
    "store list": "stores",
    "store use NAME": "use switch",
    "backup create": "dump snapshot",
    "backup restore ID": "restore",
    "scheduler drain": "drain run process flush",
    "scheduler start": "start resume",
    "scheduler stop": "stop pause",
    "scheduler serve": "serve daemon worker",
    "scheduler queue list": "queue pending",
    "scheduler queue retry --all": "retry",
    "scan --fix": "redact",
    "graph related ID": "related links edges",
}
# Verb of no group -> what groups call it.
_USUAL = {"delete": "remove", "rm": "remove", "ls": "list", "add": "create", "new": "create", "info": "show"}

MEANT = {word: command for command, words in _MEANT.items() for word in words.split()}

# What is looked for in another group than where it is.
_ELSEWHERE = {"insights review": "review list", "insights forget": "forget ID", "insights history": "show ID"}


def meant(word: str, verbs: list[str], group: str = "") -> str:
    """Return the command that does what a word stands for, '' where nobody can tell. `group` is where it was asked."""
    if not group:
        return MEANT.get(word, "")
    if there := _ELSEWHERE.get(f"{group} {word}"):
        return there
    verb = _USUAL.get(word, "")
    return f"{group} {verb}" if verb in verbs else ""
