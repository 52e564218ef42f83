#!/bin/sh
# Puts memman into NanoClaw's container image, or with --undo takes it out again. Run it from the root of the checkout.
set -eu

skill=$(dirname "$0")
dockerfile=container/Dockerfile
entrypoint=container/entrypoint.sh
call='sh /app/memman-start.sh || true # memman'

fail() {
    echo "add-memman: $1" >&2
    exit 1
}

# Writes what comes in over a file, where it differs; the file keeps its mode.
update() {
    cat >"$1.memman"
    if cmp -s "$1" "$1.memman"; then
        rm "$1.memman"
    else
        cat "$1.memman" >"$1" && rm "$1.memman"
        echo "changed $1"
    fi
}

without_part() {
    awk '/^# ---- memman: persistent memory/ { inside = 1 }
        !inside { print }
        /^# ---- memman: end/ { inside = 0 }' "$dockerfile"
}

with_part() {
    without_part | awk -v part="$skill/Dockerfile.part" '
        /^# ---- Bun runtime/ || /^USER / { if (!done) { while ((getline line < part) > 0) print line; done = 1 } }
        { print }'
}

without_call() {
    grep -v '# memman$' "$entrypoint"
}

with_call() {
    without_call | awk -v call="$call" '{ print } /^set -e/ && !done { print call; done = 1 }'
}

for file in "$dockerfile" "$entrypoint"; do
    [ -f "$file" ] || fail "$file is not here: run this from the root of a NanoClaw checkout"
done

if [ "${1:-}" = --undo ]; then
    without_part | update "$dockerfile"
    without_call | update "$entrypoint"
    rm -rf container/memman
    exit 0
fi

ls container/memman/*.whl >/dev/null 2>&1 || fail "container/memman holds no wheel of memman: see SKILL.md, step 2"
grep -Eq '^# ---- Bun runtime|^USER ' "$dockerfile" || fail "$dockerfile has no place for memman's part: add Dockerfile.part by hand"
grep -q '^set -e' "$entrypoint" || fail "$entrypoint has no line 'set -e': add by hand: $call"
cp "$skill/memman-start.sh" container/memman/memman-start.sh
with_part | update "$dockerfile"
with_call | update "$entrypoint"
