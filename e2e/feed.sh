#!/usr/bin/env bash
# feed.sh [COMMITS]: feed the first COMMITS (by default all) of this repository's commit log, a note a commit, the oldest
# first, and its README, a note a section. Without a repository there is only the README, unless COMMITS are asked for.
set -euo pipefail
cd "$(dirname "$0")/.."
if [[ -e .git || ${1:-} ]]; then
    git rev-list --reverse HEAD | sed -n "1,${1:-\$}p" | git log -z --no-walk=unsorted --format=%B --stdin |
        while IFS= read -r -d '' message; do
            memman remember --source file - <<<"$message" >/dev/null
        done
fi
awk -v RS='\n## ' '{ printf "%s%s%c", (NR > 1 ? "## " : ""), $0, 0 }' README.md |
    while IFS= read -r -d '' section; do
        memman remember --source file - <<<"$section" >/dev/null
    done
