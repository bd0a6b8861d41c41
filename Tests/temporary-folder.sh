#!/bin/sh
# Prints the folder in which the tests make their files: in memory where there is room and programs may be started
# from there, since the tests make thousands of small files durable. Disks that fail or lose their power are simulated,
# or file systems of their own.
set -eu
memory=/dev/shm
room=$(df -Pk "$memory" 2>/dev/null | awk 'NR == 2 { print $4 }')
if [ "${room:-0}" -gt 6000000 ] && trial=$(mktemp "$memory/cairn-trial.XXXXXX" 2>/dev/null); then
  printf '#!/bin/sh\n' >"$trial"
  chmod u+x "$trial"
  if "$trial" 2>/dev/null; then
    rm -f "$trial"
    echo "$memory"
    exit
  fi
  rm -f "$trial"
fi
echo "${TMPDIR:-/tmp}"
