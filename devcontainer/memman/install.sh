#!/bin/sh
# Run as root while a dev container is built: memman in an environment of its own, and the folder of its volume. DESTDIR
# stands before both, for a look at what it does.
set -eu
cd "$(dirname "$0")"
place="${DESTDIR:-}/usr/local" data="${DESTDIR:-}/memman"

usable() {
    for python in python3 python3.14 python3.13 python3.12 python3.11; do
        "$python" -c 'import sys, venv, ensurepip; sys.exit(sys.version_info < (3, 11))' 2>/dev/null && return
    done
    return 1
}

if ! usable && command -v apt-get >/dev/null; then
    apt-get update -qq
    DEBIAN_FRONTEND=noninteractive apt-get install -y -qq --no-install-recommends python3 python3-venv
    rm -rf /var/lib/apt/lists/*
fi
if ! usable; then
    echo "memman needs Python 3.11 or newer with venv: add the feature ghcr.io/devcontainers/features/python" >&2
    exit 1
fi
mkdir -p "$place/bin" "$place/share"
"$python" -m venv "$place/share/memman"
"$place/share/memman/bin/python" -m pip install --quiet --no-cache-dir "${SOURCE:-memman}"
ln -sf "$place/share/memman/bin/memman" "$place/bin/memman"
# An empty volume takes over the owner and the mode of the folder that it is mounted on.
mkdir -p "$data"
chmod 700 "$data"
chown "${_REMOTE_USER:-root}" "$data"
