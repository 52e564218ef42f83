"""Words by the role they play in a claim; all tables hold stems."""

from memman.llm.builtin.statement import root


def _roots(table: str) -> frozenset[str]:
    return frozenset(map(root, table.split()))


# Words that name no subject of their own in "we moved our whole stack from A to B".
GENERIC = _roots(
    """using use team project repo repository codebase code app apps application stack service services platform
    tool tools tooling system infrastructure infra deployments target provider everything all whole entire main
    primary default current new old finally recently completely fully officially just last week month year
    yesterday ago spring summer autumn winter run running runs move moved migrated migrate switched changed
    change replaced renamed dropped removed no longer stopped decided went gone back upgraded bumped updated
    increased raised lowered reduced been support prefer choose chose chosen favor favour away over instead
    rather not but set got favored now one more up company engineering store stored keep kept write written
    manage managed name named call called actually correction rely depend anymore entirely ditched deprecated
    retired abandoned version off out then q1 q2 q3 q4 january february march april may june july august
    september october november december monday tuesday wednesday thursday friday saturday sunday morning good
    thing workspace organisation organization 2023 2024 2025 2026 2027""",
)
# When something happened.
TIMES = _roots(
    """last next week weeks month months quarter year years day days yesterday today tonight ago spring summer autumn
    winter morning evening q1 q2 q3 q4 january february march april may june july august september october november
    december monday tuesday wednesday thursday friday saturday sunday recently finally again 2023 2024 2025 2026
    2027""",
)
_PARTS = {
    "hosting": "deploy deploys deployed deploying deployment deployments host hosting hosted ship hosts",
    "database": "database databases db datastore",
    "cache": "cache caching caches",
    "queue": "queue queues queueing broker jobs",
    "search": "search searching",
    "ci": "ci pipeline pipelines",
    "build": "build builds building bundler bundle bundling",
    "manager": "install installs installing dependencies dependency packages",
    "test": "test tests testing runner",
    "lint": "lint linter linting lints",
    "format": "format formatter formatting formats",
    "tracker": "tracker issues tickets",
    "monitoring": "monitoring monitor alerts metrics alerting observability",
    "mail": "mail email emails",
    "auth": "auth authentication login",
    "payments": "payments payment",
    "editor": "editor ide",
    "chat": "chat",
    "sessions": "session sessions",
    "logs": "log logs logging",
    "analytics": "analytics",
    "indexing": "indexing",
}
# The part a product plays; two claims about different parts do not meet.
PARTS = {root(word): part for part, words in _PARTS.items() for word in words.split()}
# Who does this does it alone.
OWNING = _roots("own owns leads lead maintains maintain manages approves reviews")
# What does this does it in one place, way or time.
FUNCTIONAL = _roots(
    """listen listens live lives reside defaults default point points expire expires belong belongs report reports
    host hosted hosts deploy deploys deployed located store stores stored written scheduled called named
    resolves owned led maintained managed set due served built kept saved""",
)
# What does this does it to many things at once.
MANIFOLD = _roots(
    """support supports include includes contain contains accept accepts provide provides fix fixes test tests add
    adds see visit need expose exposes call calls import imports export exports match matches released release
    depend depends know knows speak speaks read reads send sends mention describe blocks blocked affects works
    working""",
)
# What there is one of, with a value.
ATTRIBUTES = _roots(
    """port branch timeout limit version owner lead maintainer manager name url uri region database db email colour
    color theme size count budget deadline license licence language editor shell path directory folder target
    domain endpoint provider schedule day timezone zone price rate threshold interval indentation width length
    maximum minimum cache queue hosting host hostname platform framework bundler runner linter formatter tracker
    contact reviewer cadence frequency window format encoding locale currency level mode strategy retention ttl
    quota backend orm registry repository bucket cluster namespace font""",
)
