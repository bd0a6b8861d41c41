#!/bin/sh
# Unpacks programs that tests ask, from Debian's packages, into .build/tools: promtool, Python's Varlink client, and the
# shells zsh and fish. Nothing is installed. Usage: Tests/test-tools.sh, in the package's folder.
set -eu

tools="$PWD/.build/tools"
[ -x /usr/bin/promtool ] || [ -x "$tools/usr/bin/promtool" ] || promtool=promtool
[ -e "$tools/python/varlink/client.py" ] || client=python3-varlink
[ -x /usr/bin/zsh ] || [ -x "$tools/usr/bin/zsh" ] || shells=zsh
[ -x /usr/bin/fish ] || [ -x "$tools/usr/bin/fish" ] || shells="${shells:-} fish libpcre2-32-0"
[ -n "${promtool:-}${client:-}${shells:-}" ] || exit 0

mkdir -p "$tools/python" "$tools/usr/bin" "$tools/usr/lib" "$tools/apt/lists/partial" "$tools/apt/cache/archives/partial"
# Debian 12 has no package python3-varlink: the release after it is asked, where this machine gets its own.
mirror="$(apt-get indextargets --format '$(REPO_URI)' 'Identifier: Packages' \
  | grep -v security | head -n 1)"
[ -n "$mirror" ] || { echo "$0: this machine has no Debian mirror to ask" >&2; exit 1; }
echo "deb $mirror trixie main" > "$tools/apt/sources.list"
apt() {
  apt-get -qq -o Dir::Etc::sourcelist="$tools/apt/sources.list" -o Dir::Etc::sourceparts=- \
    -o APT::Sandbox::User=root -o Dir::State::lists="$tools/apt/lists" -o Dir::Cache="$tools/apt/cache" "$@"
}
[ -z "${promtool:-}${client:-}" ] || apt update
cd "$tools/apt"
for package in ${promtool:-} ${client:-}; do
  apt download "$package"
  dpkg-deb -x "$package"_*.deb unpacked
done
# Shells are linked to libraries, which those of this machine's own release fit; of fish's, machines lack one.
for package in ${shells:-}; do
  apt-get -qq -o APT::Sandbox::User=root download "$package"
  dpkg-deb -x "$package"_*.deb unpacked
done
[ -z "${promtool:-}" ] || mv unpacked/usr/bin/promtool "$tools/usr/bin"
[ -z "${client:-}" ] || mv unpacked/usr/lib/python3/dist-packages/varlink "$tools/python"
for file in unpacked/bin/zsh unpacked/usr/bin/zsh unpacked/usr/bin/fish; do
  [ ! -f "$file" ] || mv "$file" "$tools/usr/bin"
done
find unpacked -name 'libpcre2-32.so*' -exec mv {} "$tools/usr/lib" \;
rm -rf "$tools/apt"
