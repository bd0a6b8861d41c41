#!/bin/sh
# Unpacks programs that tests ask, from Debian's packages, into .build/tools: promtool, and Python's Varlink
# client. Nothing is installed. Usage: Tests/test-tools.sh, in the package's folder.
set -eu

tools="$PWD/.build/tools"
[ -x /usr/bin/promtool ] || [ -x "$tools/usr/bin/promtool" ] || promtool=promtool
[ -e "$tools/python/varlink/client.py" ] || client=python3-varlink
[ -n "${promtool:-}${client:-}" ] || exit 0

mkdir -p "$tools/python" "$tools/apt/lists/partial" "$tools/apt/cache/archives/partial"
# Debian 12 has no package python3-varlink: the release after it is asked, where this machine gets its own.
mirror="$(apt-get indextargets --format '$(REPO_URI)' 'Identifier: Packages' \
  | grep -v security | head -n 1)"
[ -n "$mirror" ] || { echo "$0: this machine has no Debian mirror to ask" >&2; exit 1; }
echo "deb $mirror trixie main" > "$tools/apt/sources.list"
apt() {
  apt-get -qq -o Dir::Etc::sourcelist="$tools/apt/sources.list" -o Dir::Etc::sourceparts=- \
    -o APT::Sandbox::User=root -o Dir::State::lists="$tools/apt/lists" -o Dir::Cache="$tools/apt/cache" "$@"
}
apt update
cd "$tools/apt"
for package in ${promtool:-} ${client:-}; do
  apt download "$package"
  dpkg-deb -x "$package"_*.deb unpacked
done
[ -z "${promtool:-}" ] || { mkdir -p "$tools/usr/bin" && mv unpacked/usr/bin/promtool "$tools/usr/bin"; }
[ -z "${client:-}" ] || mv unpacked/usr/lib/python3/dist-packages/varlink "$tools/python"
rm -rf "$tools/apt"
