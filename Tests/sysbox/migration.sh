#!/bin/bash
# Runs inside the box: a migration takes longer than systemd waits for a start, and than its watchdog
# allows between two signs of life.
#
#   migration.sh BINARIES PROJECT
#
# Prints "ok NAME" or "FAILED NAME: why" for each check; the exit code is 1 when any failed.
set -u
binaries=$1
project=$2
. "$project/Tests/sysbox/checks.sh"

rm -rf /etc/cairn
make -s -C "$project" -o build install BIN="$binaries" SWIFT=true DESTDIR=
systemd-sysusers
# The man page is not part of this box.
sed -i '/^Documentation=/d' /lib/systemd/system/cairnd*
cp -r "$project/Config/demo/DebianPackages.xcdatamodeld" /etc/cairn/Model.xcdatamodeld
printf 'model: /etc/cairn/Model.xcdatamodeld\n' > /etc/cairn/cairnd.yaml
mkdir -p /etc/systemd/system/cairnd.service.d
printf '[Service]\nTimeoutStartSec=1\nWatchdogSec=2\n' > /etc/systemd/system/cairnd.service.d/test.conf
systemctl daemon-reload
property() { systemctl show -P "$1" cairnd.service; }

check "a store is made" systemctl start cairnd.service
check "with a row" cairnctl insert Package name=p0
systemctl stop cairnd.service
# An application that knows nothing of Cairn fills it.
rows=${ROWS:-600000}
check "and many more" python3 - "$rows" << 'P'
import sqlite3, sys
count = int(sys.argv[1])
store = sqlite3.connect("/var/lib/cairn/local.sqlite")
store.executemany(
    "INSERT INTO ZPACKAGE (Z_PK, Z_ENT, Z_OPT, ZINSTALLEDSIZE, ZISESSENTIAL, ZNAME, ZSUMMARY) VALUES (?, 2, 1, 7, 0, ?, ?)",
    ((n + 2, f"p{n + 1}", "a package of the archive " * 4) for n in range(count)))
store.execute("UPDATE Z_PRIMARYKEY SET Z_MAX = ? WHERE Z_NAME = 'Package'", (count + 1,))
store.commit()
P
# A version with an attribute that may not be missing any more: the table is written anew.
versions=/etc/cairn/Model.xcdatamodeld
cp -r $versions/DebianPackages.xcdatamodel $versions/Second.xcdatamodel
sed -i 's/\(name="summary"\) optional="YES"/\1 defaultValueString="none"/' $versions/Second.xcdatamodel/contents
sed -i 's/DebianPackages.xcdatamodel/Second.xcdatamodel/' $versions/.xccurrentversion

while sleep .05; do property StatusText; done > /tmp/texts &
watcher=$!
check "a start that migrates is waited for" systemctl start cairnd.service
kill $watcher
began=$(property InactiveExitTimestampMonotonic)
ready=$(property ActiveEnterTimestampMonotonic)
echo "ready after $(((ready - began) / 1000)) ms"
# Less would show nothing.
check "longer than systemd waits otherwise" test $((ready - began)) -gt 1000000
contains "and says how far it is" "Migrating, " "$(sort -u /tmp/texts | tr '\n' ' ')"
equals "nobody killed it" "0 success" "$(property NRestarts) $(property Result)"
equals "every row is there" $((rows + 1)) "$(python3 -c '
import sqlite3
print(sqlite3.connect("/var/lib/cairn/local.sqlite").execute("SELECT COUNT(*) FROM ZPACKAGE").fetchone()[0])')"
equals "in the new shape" '{"summary":"none"}' "$(cairnctl fetch Package --where 'name = "p0"' --properties summary \
  --format jsonl | sed 's/"entity":"Package",//; s/"id":"[^"]*",//')"
finish
