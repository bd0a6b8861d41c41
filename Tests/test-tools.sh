#!/bin/sh
# Unpacks programs that tests ask, from Debian's packages, into .build/tools: promtool, Python's Varlink client,
# PgBouncer, and the shells zsh and fish. Nothing is installed. Usage: Tests/test-tools.sh, in the package's folder.
set -eu

tools="$PWD/.build/tools"
[ -x /usr/bin/promtool ] || [ -x "$tools/usr/bin/promtool" ] || promtool=promtool
[ -e "$tools/python/varlink/client.py" ] || client=python3-varlink
[ -x /usr/bin/zsh ] || [ -x "$tools/usr/bin/zsh" ] || shells=zsh
[ -x /usr/bin/fish ] || [ -x "$tools/usr/bin/fish" ] || shells="${shells:-} fish libpcre2-32-0"
[ -x /usr/sbin/pgbouncer ] || [ -x "$tools/usr/bin/pgbouncer" ] || pooler="pgbouncer $(apt-cache depends pgbouncer \
  | sed -n 's/.*Depends: \(lib\(c-ares\|event\)[^ ]*\)/\1/p' | tr '\n' ' ')"
[ -n "${promtool:-}${client:-}${shells:-}${pooler:-}" ] || exit 0

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
# Shells and PgBouncer are linked to libraries, which those of this machine's own release fit; machines lack some of them.
for package in ${shells:-} ${pooler:-}; do
  apt-get -qq -o APT::Sandbox::User=root download "$package"
  dpkg-deb -x "$package"_*.deb unpacked
done
[ -z "${promtool:-}" ] || mv unpacked/usr/bin/promtool "$tools/usr/bin"
[ -z "${client:-}" ] || mv unpacked/usr/lib/python3/dist-packages/varlink "$tools/python"
for file in unpacked/bin/zsh unpacked/usr/bin/zsh unpacked/usr/bin/fish unpacked/usr/sbin/pgbouncer; do
  [ ! -f "$file" ] || mv "$file" "$tools/usr/bin"
done
for library in libpcre2-32 libcares libevent; do
  find unpacked -name "$library*.so*" -exec mv {} "$tools/usr/lib" \;
done
rm -rf "$tools/apt"
