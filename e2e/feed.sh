#!/usr/bin/env bash
# Feed this repository's commit log up to REVISION (all of it), a note a commit, the oldest first, and its README, a note a section.
set -euo pipefail
cd "$(dirname "$0")/.."
revision=${1:-HEAD}
if git cat-file -e "$revision^{commit}" 2>/dev/null; then
    git log -z --reverse --format=%B "$revision" | while IFS= read -r -d '' message; do
        memman remember --source file - <<<"$message" >/dev/null
    done
fi
awk -v RS='\n## ' '{ printf "%s%s%c", (NR > 1 ? "## " : ""), $0, 0 }' README.md |
    while IFS= read -r -d '' section; do
        memman remember --source file - <<<"$section" >/dev/null
    done
