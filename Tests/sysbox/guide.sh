#!/bin/bash
# Runs inside the box: every command of the operator's guide as root types it, page by page, in the state that the page
# is about; after each page the daemon serves, and its stores are equal.
. "${0%/*}/checks.sh"

install_daemon
add_people
mkdir -p /mnt/nas /srv/data /etc/cairn-other
chown cairn:cairn /mnt/nas
cat > /etc/cairn/cairnd.yaml << 'Y'
model: /etc/cairn/Model.xcdatamodeld
replicas: [{name: nas, path: /mnt/nas/inventory.sqlite}]
Y
begins "the daemon serves, with a replica" <<< "[Service]
ReadWritePaths=/mnt/nas"
# The guide's relative paths are those of the project.
cd "$project"
for number in 1 2 3 4 5 6 7 8; do cairnctl insert Package "name=p$number" > /dev/null; done
check "the replica has all" cairnctl wait --for all --timeout $patience
check "there is a copy" cairnctl backup --as one
cp /var/lib/cairn/backups/one/local.sqlite /tmp/copy.sqlite

# Two daemons on one replica that write the same, each before it has seen the other.
cp /etc/cairn/cairnd.yaml /etc/cairn-other/cairnd.yaml
mkdir -p /etc/systemd/system/cairnd@other.service.d
cp $folder/test.conf /etc/systemd/system/cairnd@other.service.d
systemctl daemon-reload
check "another daemon shares the replica" systemctl start cairnd@other.service
other() { cairnctl --socket /run/cairnd-other/control "$@"; }
comes "and serves" serving /run/cairnd-other/control
check "with all there is" other wait --for all --timeout $patience
record=$(cairnctl fetch Package --where 'name = "p1"' --format jsonl | sed 's/.*"id":"\([^"]*\)".*/\1/')
cairnctl pause > /dev/null
other pause > /dev/null
check "one writes" cairnctl update Package "$record" summary=one
check "so does the other" other update Package "$record" summary=two
cairnctl resume > /dev/null
check "the first is through" cairnctl wait --for all --timeout $patience
other resume > /dev/null
check "then the other" other wait --for all --timeout $patience
check "and the first has it" cairnctl wait --for all --timeout $patience
conflict=
for socket in /run/cairnd/control /run/cairnd-other/control; do
  found=$(cairnctl --socket $socket --json conflicts | sed -n 's/.*"id":"\([^"]*\)".*/\1/p' | head -1)
  [ -n "$found" ] && conflict=$found && conflict_socket=$socket
done
check "which is a conflict" test -n "$conflict"

check "a replica is added by command" cairnctl store add spare sqlite /mnt/nas/spare.sqlite --wait

# What makes these needs a record that a rule refuses or that is lost, or a clock that is ahead: tests of the daemon run
# them.
left_out='quarantine show ID|quarantine discard ID|held accept --record ID|parked abandon ID'
# typed PAGE: its blocks, a command a line, with names and values for what is written in capitals.
typed() {
  awk '/^```/ { inside = !inside; next } inside' "$1" | sed -E "s/ ENTITY ID PROPERTY/ Package $record name/
    s/store remove NAME/store remove spare/; s/store add NAME sqlite .*/store add spare sqlite \/mnt\/nas\/spare.sqlite/
    s/conflicts restore ID/conflicts restore $conflict/; s/AUTHOR/cairnctl/; s/LABEL/one/g; s/ NAME$/ stranger/
    s/ FILE --to MODEL/ \/tmp\/copy.sqlite --to \/etc\/cairn\/Model.xcdatamodeld/; s/--minutes 10/--minutes 0/"
}
count=0
for page in Sources/Cairn/Cairn.docc/Operating/*.md; do
  name=$(basename "$page" .md)
  while IFS= read -r command <&3; do
    [ -z "$command" ] || [[ $command =~ $left_out ]] && continue
    # A conflict is in the journal of the daemon whose write gave way.
    case $command in *"conflicts restore"*) export CAIRN_SOCKET=$conflict_socket ;; *) unset CAIRN_SOCKET ;; esac
    # A daemon that was started a moment ago still opens its stores.
    case $command in cairnctl*) eventually serving ;; esac
    check "$name: $command" bash -c "$command"
    count=$((count + 1))
  done 3< <(typed "$page")
  unset CAIRN_SOCKET
  comes "$name: the daemon serves" serving
  check "$name: the replica is there" cairnctl wait --for all --timeout $patience
  check "$name: the stores are equal" cairnctl verify
  equals "$name: nothing is lost" 8 "$(cairnctl fetch Package --where 'name BEGINSWITH "p"' --format jsonl | wc -l)"
done
check "the pages are read as they are" test $count -gt 50
finish
