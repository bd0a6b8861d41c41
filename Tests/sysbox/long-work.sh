#!/bin/bash
# Runs inside the box: a start does not wait for a migration, which takes longer than the watchdog allows between two
# signs of life; a first look at a large store is stopped.
. "${0%/*}/checks.sh"

install_daemon
printf 'model: /etc/cairn/Model.xcdatamodeld\n' > /etc/cairn/cairnd.yaml
# Long enough for a machine that does much else meanwhile.
watchdog=4
drop_in WatchdogSec=$watchdog

check "a store is made" systemctl start cairnd.service
check "with a row" cairnctl insert Package name=p0
systemctl stop cairnd.service
# An application that knows nothing of Cairn fills it.
rows=${ROWS:-250000}
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

# The disk decides how long it takes, not the processor.
cc -shared -fPIC -o /usr/local/lib/slow-disk.so "$project/Tests/sysbox/slow-disk.c" -ldl
drop_in WatchdogSec=$watchdog Environment=LD_PRELOAD=/usr/local/lib/slow-disk.so Environment=SLOW_WRITES=100
begun=$(date +%s%N)
check "it starts with a store of an older version" systemctl start cairnd.service
migrating() { property StatusText | grep -q igrating; }
comes "and says that it migrates" migrating
equals "which the start does not wait for" "active" "$(property ActiveState)"
patience=400
comes "and brings it to the new one" serving
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
drop_in WatchdogSec=20
check "it starts with a large store that is new to it" systemctl start cairnd.service
looked_at() { sql "SELECT COUNT(*) FROM CAIRN_sync_records"; }
has_begun() { [ "$(looked_at)" -gt 1000 ]; }
comes "and looks at its rows" has_begun
check "it answers meanwhile" cairnctl status
check "and stops" systemctl stop cairnd.service
equals "in time, as one should" "success 0 0" "$(property Result) $(property ExecMainStatus) $(property NRestarts)"
done=$(looked_at)
# All of them would show nothing.
check "with what it had looked at, and no more" test "$done" -gt 1000 -a "$done" -lt "$rows"
check "it starts again" systemctl start cairnd.service
goes_on() { [ "$(looked_at)" -gt "$done" ]; }
comes "and goes on" goes_on
systemctl stop cairnd.service
equals "and stops once more" "success 0" "$(property Result) $(property ExecMainStatus)"
finish
