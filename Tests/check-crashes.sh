#!/bin/bash
# Kills a saving program again and again, and cuts the power of its disk: no acknowledged save may be
# lost with `full`, and some must be with `normal`, else nothing has been tested.
# CAIRN_KILLS and CAIRN_POWER_CUTS say how often (200 and 30).
set -euo pipefail
# Mounts of its own: a copy in another program's namespace would keep the dead file system alive.
if [ "$(id -u)" = 0 ] && [ -z "${CAIRN_OWN_MOUNTS:-}" ] && unshare -m true 2>/dev/null; then
  CAIRN_OWN_MOUNTS=1 exec unshare -m --propagation private bash "$0" "$@"
fi
root="$(cd "$(dirname "$0")/.." && pwd)"
swift="${SWIFT:-swift}"
kills="${CAIRN_KILLS:-200}"
cuts="${CAIRN_POWER_CUTS:-30}"
cd "$root"
log="$(mktemp)"
"$swift" build --product cairn-crash-writer >"$log" 2>&1 || { cat "$log"; exit 1; }
program="$("$swift" build --show-bin-path)/cairn-crash-writer"
work="$(mktemp -d -t cairn-crash.XXXXXX)"
disk="$work/disk"
writer=
end() {
  if [ -n "$writer" ]; then kill -9 "$writer" 2>/dev/null || true; fi
  if mountpoint -q "$disk" 2>/dev/null; then umount "$disk" || true; fi
  rm -rf --one-file-system "$work" "$log"
}
trap end EXIT

# Waits until the writer has acknowledged something new; it checks the store before it does.
await_progress() {
  local before="$1" file="$2"
  for _ in $(seq 400); do
    [ "$(stat -c %s "$file" 2>/dev/null || echo 0)" -gt "$before" ] && return 0
    kill -0 "$writer" 2>/dev/null || break
    sleep 0.02
  done
  wait "$writer" && code=0 || code=$?
  writer=
  echo "the writer does not save (exit code $code): $(cat "$work/output")"
  return 1
}

# start STORE ACKNOWLEDGED LEVEL: runs the writer until it has saved, and a random moment longer.
start() {
  local size
  size="$(stat -c %s "$2" 2>/dev/null || echo 0)"
  "$program" write "$1" "$2" "$3" >"$work/output" 2>&1 &
  writer=$!
  await_progress "$size" "$2"
  sleep "0.0$((RANDOM % 60 + 10))"
}

stop() {
  # A power cut may have ended it already.
  kill -9 "$writer" 2>/dev/null || true
  wait "$writer" 2>/dev/null || true
  writer=
}

echo "kill -9: $kills times"
acknowledged="$work/kills.txt"
for number in $(seq "$kills"); do
  # A store that stays small, so that looking at all of it does not take the time.
  if [ $((number % 25)) = 1 ]; then rm -rf "$work/kill"; mkdir "$work/kill"; rm -f "$acknowledged"; fi
  start "$work/kill/store.sqlite" "$acknowledged" full
  stop
  if [ $((number % 5)) = 0 ]; then
    "$program" check "$work/kill/store.sqlite" "$acknowledged" || { echo "after kill $number"; exit 1; }
  fi
done
echo "no acknowledged save was lost"

if [ "$(id -u)" != 0 ] || ! command -v mkfs.ext4 >/dev/null; then
  echo "power cuts: left out, they need root and mkfs.ext4"
  exit 0
fi
truncate -s 64M "$work/image"
mkfs.ext4 -qF "$work/image"
mkdir "$disk"
if ! mount -o loop "$work/image" "$disk" 2>"$log"; then
  echo "power cuts: left out, no file system can be mounted here: $(cat "$log")"
  exit 0
fi

# cut_power LEVEL: one cut; the exit code is that of the check after it.
cut_power() {
  local acknowledged="$work/cuts.txt" code
  rm -rf "$disk/store" "$acknowledged"
  mkdir "$disk/store"
  sync -f "$disk"
  start "$disk/store/store.sqlite" "$acknowledged" "$1" || return 5
  # What is acknowledged while the file system is being shut down is left out: a sync that is under way
  # just then may report success, which no real power cut does.
  cp "$acknowledged" "$work/before.txt"
  "$program" cut "$disk"
  stop
  umount "$disk" && mount -o loop "$work/image" "$disk" && touch "$disk/alive" || {
    echo "the file system does not come back" >"$work/output"
    return 6
  }
  "$program" check "$disk/store/store.sqlite" "$work/before.txt" >"$work/output" 2>&1 && code=0 || code=$?
  # Told, not judged: see above.
  if [ $code = 0 ] && ! "$program" check "$disk/store/store.sqlite" "$acknowledged" >"$work/during" 2>&1; then
    during=$((during + 1))
    echo "  while the power went: $(cat "$work/during")"
  fi
  return $code
}
during=0

for level in full journal; do
  # A rollback journal is seldom used.
  [ $level = full ] && rounds=$cuts || rounds=$((cuts / 3))
  echo "power cuts with $level: $rounds"
  for number in $(seq $rounds); do
    cut_power $level || { echo "cut $number: $(cat "$work/output")"; exit 1; }
  done
  echo "no save was lost that had been acknowledged before ($during cuts lost one of the very moment)"
  during=0
done

echo "power cuts with normal, which must lose"
for number in $(seq "$cuts"); do
  code=0; cut_power normal || code=$?
  case $code in
    0) ;;
    3) echo "cut $number: $(cat "$work/output")"; exit 0 ;;
    # The store itself is younger than the last sync.
    *) echo "cut $number (exit code $code): $(cat "$work/output")" ;;
  esac
done
echo "nothing was lost with normal: the cuts do not test anything"
exit 1
