#!/bin/bash
# Runs inside the box: a start does not wait for a migration, which takes longer than the watchdog allows between two
# signs of life; a first look at a large store is stopped.
#
#   long-work.sh BINARIES PROJECT
#
# Prints "ok NAME" or "FAILED NAME: why" for each check; the exit code is 1 when any failed.
set -u
binaries=$1
project=$2
. "$project/Tests/sysbox/checks.sh"

install_daemon
cp -r "$project/Config/demo/DebianPackages.xcdatamodeld" /etc/cairn/Model.xcdatamodeld
printf 'model: /etc/cairn/Model.xcdatamodeld\n' > /etc/cairn/cairnd.yaml
mkdir -p /etc/systemd/system/cairnd.service.d
# Long enough for a machine that does much else meanwhile.
watchdog=4
printf '[Service]\nWatchdogSec=%s\n' $watchdog > /etc/systemd/system/cairnd.service.d/test.conf
systemctl daemon-reload

check "a store is made" systemctl start cairnd.service
check "with a row" cairnctl insert Package name=p0
systemctl stop cairnd.service
# An application that knows nothing of Cairn fills it.
rows=${ROWS:-1500000}
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

begun=$(date +%s%N)
check "it starts with a store of an older version" systemctl start cairnd.service
migrating() { property StatusText | grep -q igrating; }
if eventually 60 migrating; then ok "and says that it migrates"; else fail "and says that it migrates" "$(property StatusText)"; fi
equals "which the start does not wait for" "active" "$(property ActiveState)"
if eventually 300 serving; then ok "and brings it to the new one"; else
  fail "and brings it to the new one" "$(cairnctl status 2>&1)"
fi
took=$((($(date +%s%N) - begun) / 1000000))
echo "serving after $took ms"
# Less would show nothing.
check "which takes longer than the watchdog waits" test $took -gt $((watchdog * 1000))
equals "nobody killed it" "0 success" "$(property NRestarts) $(property Result)"
equals "every row is there" $((rows + 1)) "$(python3 -c '
import sqlite3
print(sqlite3.connect("/var/lib/cairn/local.sqlite").execute("SELECT COUNT(*) FROM ZPACKAGE").fetchone()[0])')"
equals "in the new shape" '{"summary":"none"}' "$(cairnctl fetch Package --where 'name = "p0"' --properties summary \
  --format jsonl | sed 's/"entity":"Package",//; s/"id":"[^"]*",//')"

# The same store as one that sync has never seen, and its first replica.
systemctl stop cairnd.service
rm -f /var/lib/cairn/local.sqlite-cairn*
# sql TEXT: the first value.
sql() {
  python3 - "$1" << 'P'
import sqlite3, sys
store = sqlite3.connect("/var/lib/cairn/local.sqlite", timeout=60, isolation_level=None)
row = store.execute(sys.argv[1]).fetchone()
print(row[0] if row else "")
P
}
for table in $(python3 -c '
import sqlite3
for row in sqlite3.connect("/var/lib/cairn/local.sqlite").execute(
    "SELECT name FROM sqlite_master WHERE type = \"table\" AND name LIKE \"CAIRN\\_sync%\" ESCAPE \"\\\""): print(row[0])'); do
  sql "DROP TABLE $table" > /dev/null
done
printf 'replicas:\n  - name: backup\n    path: ${STATE_DIRECTORY}/backup.sqlite\n' >> /etc/cairn/cairnd.yaml
printf '[Service]\nWatchdogSec=20\nTimeoutStopSec=10\n' > /etc/systemd/system/cairnd.service.d/test.conf
systemctl daemon-reload
check "it starts with a large store that is new to it" systemctl start cairnd.service
looked_at() { sql "SELECT COUNT(*) FROM CAIRN_sync_records"; }
has_begun() { [ "$(looked_at)" -gt 1000 ]; }
if eventually 120 has_begun; then ok "and looks at its rows"; else fail "and looks at its rows" "$(looked_at)"; fi
check "it answers meanwhile" cairnctl status
check "and stops" systemctl stop cairnd.service
equals "in time, as one should" "success 0 0" "$(property Result) $(property ExecMainStatus) $(property NRestarts)"
done=$(looked_at)
# All of them would show nothing.
check "with what it had looked at, and no more" test "$done" -gt 1000 -a "$done" -lt "$rows"
check "it starts again" systemctl start cairnd.service
goes_on() { [ "$(looked_at)" -gt "$done" ]; }
if eventually 120 goes_on; then ok "and goes on"; else fail "and goes on" "$done, then $(looked_at)"; fi
systemctl stop cairnd.service
equals "and stops once more" "success 0" "$(property Result) $(property ExecMainStatus)"
finish
