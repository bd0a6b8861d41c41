#!/bin/bash
# Runs the daemon under the systemd of Debian 13, whose root debootstrap puts into a folder once (as root, 300 MB).
#
#   check-newer-systemd.sh PROGRAMS FOLDER
set -euo pipefail
programs=$1
root=$2
project="$(cd "$(dirname "$0")/.." && pwd)"
if [ ! -e "$root/lib/systemd/systemd" ]; then
  command -v debootstrap > /dev/null || { apt-get update -qq && apt-get install -y -qq debootstrap; }
  mkdir -p "$root"
  log="$(mktemp)"
  debootstrap --variant=minbase --include=systemd,systemd-sysv,dbus,libsqlite3-0,libxml2,make trixie "$root" > "$log" 2>&1 ||
    { tail -20 "$log"; exit 1; }
fi
binds=(-b "$programs:opt/cairn-bin" -b "$project:opt/cairn-src")
# Programs that are no package have Swift's libraries where the toolchain is.
library="$(ldd "$programs/cairnd" | sed -n 's|.* => \(/.*\)/libswiftCore.so .*|\1|p')"
if [ -n "$library" ]; then binds+=(-b "$library:${library#/}"); fi
bash "$project/Tests/sysbox/sysbox.sh" -r "$root" "${binds[@]}" -- \
  bash /opt/cairn-src/Tests/sysbox/newer-systemd.sh /opt/cairn-bin /opt/cairn-src
