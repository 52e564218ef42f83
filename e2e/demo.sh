#!/usr/bin/env bash
# The main job on a fresh machine: install, remember, drain, recall; every step shown.
set -euo pipefail
cd "$(dirname "$0")/.."
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT

say() { printf '\n\033[1m== %s\033[0m\n' "$*"; }
run() { printf '$ %s\n' "$*"; "$@"; }

say "Installing memman into a fresh environment"
"${PYTHON:-python3}" -m venv "$work/venv"
"$work/venv/bin/python" -m pip install --quiet .
export PATH="$work/venv/bin:$PATH" HOME="$work/home" MEMMAN_DATA_DIR="$work/home/.memman"
mkdir "$HOME"
# So that the drain is there to be watched; without it the first note would start one.
export MEMMAN_DRAIN=off
run memman version

say "Remembering: one row in queue.db, on disk before the uid is printed"
while IFS= read -r note; do
    run memman remember "$note"
done <<'NOTES'
We deploy the web shop on Vercel.
Always run the tests with pytest -q, never with unittest.
We chose Postgres 16 for billing because it supports logical replication.
The nightly import failed because the connection pool was exhausted.
Sara owns the billing service.
We moved the web shop from Vercel to Coolify.
The deploy token is ghp_Zk3vQ9tLw7Rb2Xy8Nc5Hd1Pf6Gj4Ms0Ua5Tq.
NOTES

say "Recall finds a note that is not drained yet"
run memman recall "who owns billing"

say "Draining: redact, extract, reconcile, enrich, embed, link, commit"
run memman scheduler drain --trace

say "Recalling, with the built-in judge and embedder: no key, no network"
for question in "where is the web shop deployed" "why did the nightly import fail" "how should tests be run" \
    "which database does billing use" "what is the weather in Paris"; do
    run memman recall "$question"
done

say "The fact that was superseded is kept, and shown when asked for"
run memman recall --history "where is the web shop deployed"

say "This repository as memory: README and commit log, then five questions"
run memman store create memman
export MEMMAN_STORE=memman
e2e/feed.sh
memman scheduler drain
while IFS= read -r question; do
    run memman recall --limit 3 "$question"
done <e2e/questions.txt

say "What is stored"
run memman status
