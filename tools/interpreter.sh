#!/usr/bin/env bash
# Print the path of a CPython of the version given (3.14): one that is here, or else Debian's own of a later suite,
# unpacked into a folder where it changes nothing of the system. Where neither can be had, say so and fail.
set -euo pipefail
version=$1
root=/var/cache/memman-pythons/$version  # where other users can run it too
python=$root/usr/bin/python$version
keys=/usr/share/keyrings/debian-archive-keyring.gpg

runs() { [[ $("$1" -Ic 'import sys, venv; print("%d.%d" % sys.version_info[:2])' 2>/dev/null) == "$version" ]]; }
none() { echo "Python $version is not tested: $1" >&2; exit 1; }
debian() {
    apt-get -qq -o Dir::Etc::SourceList="$root/apt/sources.list" -o Dir::Etc::SourceParts=/dev/null \
        -o Dir::State="$root/apt" -o Dir::State::Status="$root/apt/status" -o Dir::Cache="$root/apt/cache" \
        -o APT::Sandbox::User=root -o Acquire::Languages=none "$@" >&2
}

for one in "$(command -v "python$version" || true)" "$HOME"/.pyenv/versions/"$version".*/bin/python3 "$python"; do
    if [[ -x $one ]] && runs "$one"; then
        echo "$one"
        exit
    fi
done
# The suite whose own Python it is.
declare -A suites=([3.13]=trixie [3.14]=forky)
suite=${suites[$version]:-}
[[ $suite ]] || none "it is not here, and no suite of Debian has it"
[[ -f $keys && $(id -u) == 0 ]] || none "it is not here, and only root on Debian can fetch it"
rm -rf "$root"
mkdir -p "$root/apt/lists/partial" "$root/apt/cache/archives/partial"
: >"$root/apt/status"
echo "deb [signed-by=$keys] http://deb.debian.org/debian $suite main" >"$root/apt/sources.list"
command -v patchelf >/dev/null || { apt-get -qq update && apt-get -qq install -y --no-install-recommends patchelf; } >&2 ||
    none "Debian's patchelf is not to be had"
debian update || none "Debian's $suite does not answer"
debian install --download-only --no-install-recommends -y "python$version-venv" || none "Debian's $suite does not have it"
for package in "$root"/apt/cache/archives/*.deb; do
    dpkg-deb -x "$package" "$root"
done
find "$root" -xtype l -delete  # links into folders of the system
# It finds pip where that was unpacked, and runs with the C library that came with it.
sed -i "s#'/usr/share/python-wheels#'$root/usr/share/python-wheels#" "$root/usr/lib/python$version"/_sysconfigdata*.py
libraries=$(echo "$root"/usr/lib/*-linux-gnu)
patchelf --set-interpreter "$(echo "$libraries"/ld-linux*.so.*)" --force-rpath --set-rpath "$libraries" "$python"
rm -rf "$root/apt"
runs "$python" || none "what Debian's $suite has does not run here"
echo "$python"
