"""Who may work with the tables of a server: three roles that people are members of, and what each may do.

Membership of a store is a row (`memman.member`), not a role: a role opens the tables, membership the rows in them.
"""

OWNER, WRITER, READER = "memman_owner", "memman_writer", "memman_reader"
# The role, and whose members its members are too.
ROLES = {OWNER: "", READER: "", WRITER: READER}
_TABLES = ", ".join(f"memman.{name}" for name in ("version", "server", "store", "member", "host", "subject", "record"))
_READING, _WRITING = (
    ", ".join(f"memman.{name}" for name in names.split())
    for names in ("may seen pull again leave", "push redact make_store remove_store admit")
)
GRANTS = {
    READER: f"""GRANT USAGE ON SCHEMA memman TO {READER};
GRANT SELECT ON {_TABLES} TO {READER};
GRANT EXECUTE ON FUNCTION {_READING} TO {READER};""",
    WRITER: f"GRANT EXECUTE ON FUNCTION {_WRITING} TO {WRITER};",
}
_MADE = "\n".join(
    f"CREATE ROLE {role} NOLOGIN NOBYPASSRLS{f' IN ROLE {within}' if within else ''};" for role, within in ROLES.items()
)


def documented(database: str) -> str:
    """Write the SQL with which an administrator sets a server up for several people."""
    granted = "\n".join(GRANTS.values())
    return f"""-- Once, as an administrator; `memman team upgrade` does it where it may.
{_MADE}
GRANT CREATE ON DATABASE {database} TO {OWNER};
-- After `memman team upgrade`, which makes the tables as {OWNER} where it may.
{granted}
-- For each person; {READER} for one who may write to no store.
CREATE ROLE alice LOGIN NOBYPASSRLS PASSWORD '...';
GRANT {WRITER} TO alice;
-- Then whoever owns a store: memman team add NAME alice --may write"""
