#!/bin/bash
# Runs inside the box of a newer Debian: what systemd 252 cannot do. It drives reloads by itself, shows the name of an
# error, and has a client of the control protocol.
. "${0%/*}/checks.sh"

# try PART...: a call by systemd's own client.
try() { varlinkctl "$@" < /dev/null; }

install_daemon
check "the units verify" systemd-analyze verify cairnd.service cairnd.socket cairnd-metrics.socket \
  cairnd-page.service cairnd@one.service cairnd@one.socket
install -D -m 0644 /usr/share/doc/cairn/drop-ins/notify-reload.conf $folder/notify-reload.conf
begins "it starts where systemd drives reloads" <<< ""
equals "which it does" notify-reload "$(property Type)"
mkdir -p /etc/cairn/cairnd.yaml.d
echo 'log: {level: debug}' > /etc/cairn/cairnd.yaml.d/level.yaml
check "a reload is waited for" timeout $patience systemctl reload cairnd.service
contains "until all of it was taken over" debug "$(cairnctl log-level)"
echo 'log: {levl: debug}' > /etc/cairn/cairnd.yaml.d/level.yaml
check "one that fails ends as well" timeout $patience systemctl reload cairnd.service
contains "and the text of the status says so" "the configuration on disk has 1 problem" "$(property StatusText)"
contains "the configuration is as it was" debug "$(cairnctl log-level)"
rm $folder/notify-reload.conf
systemctl daemon-reload
systemctl restart cairnd.service 2> /dev/null
equals "what keeps it from starting has a name and a number" "io.cairn.Daemon.ConfigurationInvalid 22" \
  "$(property StatusBusError) $(property StatusErrno)"
rm /etc/cairn/cairnd.yaml.d/level.yaml
systemctl reset-failed cairnd.service
begins "it serves again" <<< ""

# For a daemon that ends each time, as where another process serves its socket.
install -D -m 0644 /usr/share/doc/cairn/drop-ins/growing-pauses.conf $folder/growing-pauses.conf
systemctl daemon-reload
equals "pauses grow" "8 5min" "$(property RestartSteps) $(property RestartMaxDelayUSec)"
rm $folder/growing-pauses.conf
systemctl daemon-reload

socket=/run/cairnd/control
check "systemd's client is told what serves" try info $socket
for interface in $(try list-interfaces $socket); do
  check "reads the description of $interface" bash -c "varlinkctl introspect $socket $interface > /tmp/$interface.varlink"
  check "and finds no fault in it" try validate-idl "/tmp/$interface.varlink"
done
equals "of all interfaces" 5 "$(ls /tmp/*.varlink | wc -l)"
check "it calls" try call -j $socket io.cairn.Daemon.GetStatus '{}'
check "it writes" try call -j $socket io.cairn.Data.Save '{"inserts":[{"entity":"Package","values":{"name":"one"}}]}'
contains "it reads a stream" '"one"' "$(try call --more -j $socket io.cairn.Data.Fetch '{"entity":"Package"}')"
contains "it gets errors by their names" org.varlink.service.ExpectedMore \
  "$(try call -j $socket io.cairn.Data.Fetch '{"entity":"Package"}' 2>&1)"
# Every method, the one that ends the service last: an answer, or an error that has a name.
methods=$(for file in /tmp/io.cairn.*.varlink; do
  interface=${file#/tmp/}
  sed -n "s/^method \([A-Za-z]*\).*/${interface%.varlink}.\1/p" "$file"
done | sort -u | grep -v '\.Drain$')
for method in $methods io.cairn.Daemon.Drain; do
  # What goes on until the caller ends it is ended.
  said=$(timeout 5 varlinkctl call --more -j $socket "$method" '{}' < /dev/null 2>&1)
  code=$?
  if [ $code = 0 ] || [ $code = 124 ] && [ -n "$said" ] || grep -qE 'io\.cairn\.|org\.varlink\.service\.' <<< "$said"; then
    ok "it drives $method"
  else
    fail "it drives $method" "exit $code: $said"
  fi
done
check "which are many" test "$(wc -w <<< "$methods")" -ge 40
finish
