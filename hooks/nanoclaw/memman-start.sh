#!/bin/sh
# Runs at each start of the agent container: wires the agent's hooks and has notes drained while the container lives.
# Standard input and output carry the host's handshake: nothing is read, and all that is said goes to standard error.
# Whatever fails here, the agent starts.
exec </dev/null >&2

if [ "$(id -u)" = 0 ] && [ -n "$RUN_UID" ]; then
    exec setpriv --reuid="$RUN_UID" --regid="${RUN_GID:-$RUN_UID}" --clear-groups -- sh "$0"
fi

MEMMAN_DATA_DIR="${MEMMAN_DATA_DIR:-$HOME/.claude/memman}"
export MEMMAN_DATA_DIR
command -v memman >/dev/null || { echo "memman: not in this image, the agent runs without memory"; exit 0; }

# Optional: a store that every group may read and none may write.
shared="${MEMMAN_GLOBAL:-/workspace/global/memman}"
here="$MEMMAN_DATA_DIR/data/global"
if [ -f "$shared/memman.db" ] && [ ! -e "$here" ]; then
    (umask 077 && mkdir -p "$MEMMAN_DATA_DIR/data" && ln -sfn "$shared" "$here")
fi

memman install --target claude-code --no-wizard || echo "memman: set-up failed, the agent runs without memory"
memman scheduler serve &
exit 0
