#!/usr/bin/env bash
# What memory is for, in 20 seconds: what you say in one session is known in the next. Setting up is not counted; with
# BIN=FOLDER memman is there already.
set -euo pipefail
cd "$(dirname "$0")/.."
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT

say() { printf '\n\033[1m== %s\033[0m\n' "$*"; }
run() { printf '$ %s\n' "$*"; "$@"; }
# Hands a finished turn over as an agent's hook does.
turn() {
    printf 'you:   %s\nagent: %s\n' "$1" "$2"
    printf '{"session_id":"monday","cwd":"%s","hook_event_name":"Stop","prompt":"%s","last_assistant_message":"%s"}' \
        "$PWD" "$1" "$2" | memman hook stop --host claude-code
}

if [[ -z ${BIN:-} ]]; then
    say "Setting up: memman in a fresh environment"
    "${PYTHON:-python3}" -m venv "$work/venv"
    "$work/venv/bin/python" -m pip install --quiet .
    BIN=$work/venv/bin
    printf 'took %s s\n' "$SECONDS"
fi
SECONDS=0
# Without MEMMAN_DRAIN=off the first note would start a drain; here it is run where it can be watched.
export PATH="$BIN:$PATH" HOME="$work/home" MEMMAN_DATA_DIR="$work/home/.memman" MEMMAN_DRAIN=off
mkdir -p "$HOME/shop"
cd "$HOME/shop"

say "Monday: you work with your agent, and its hook hands over each turn; no key, no call, no extra turn"
turn "No, run the tests with pytest -q, never with unittest." "Understood."
turn "We deploy the web shop on Vercel." "Noted."
say "You or the agent can note more; secrets are removed before anything is written"
run memman remember "We chose Postgres 16 for billing because it supports logical replication."
run memman remember "The deploy token is ghp_Zk3vQ9tLw7Rb2Xy8Nc5Hd1Pf6Gj4Ms0Ua5Tq."
say "In the background a drain makes memories of all this, by a small model that ships with memman"
run memman scheduler drain

say "Tuesday: something changes"
turn "We moved the web shop from Vercel to Coolify." "I will deploy to Coolify."
memman scheduler drain >"$work/drained"

say "Wednesday: a new session, of any agent, begins with what holds now"
memman prime | sed -n '/^<memman-memory>$/,$p'

say "A question brings the memories that answer it; replaced ones are kept, and shown with --history"
run memman recall "where is the web shop deployed"
run memman recall --history "where is the web shop deployed"
run memman recall "why Postgres for billing"
say "A question that no memory answers gets no answer"
run memman recall "what is the weather in Paris"

say "You see all of it, and can correct, undo or purge it"
run memman list

printf '\nThat took %s s, on this machine alone, and left nothing behind. Next:\n' "$SECONDS"
cat <<'NEXT'
  pipx install .     install memman
  memman install     set up the agents that it finds; --dry-run only shows the plan
  memman doctor      check that all works
Then work as always. docs/howto/first-day.md walks through a first day.
NEXT
