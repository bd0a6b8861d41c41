#!/bin/sh
# Builds the examples and runs each; every one checks itself.
set -eu
root="$(cd "$(dirname "$0")/.." && pwd)"
swift="${SWIFT:-swift}"
# A fixed place, so that a second run builds only what has changed.
scratch="$root/.build/examples"
mkdir -p "$scratch"
log="$scratch/examples.log"
"$swift" build --package-path "$root/Examples" --scratch-path "$scratch" >"$log" 2>&1 \
  || { grep -v '^\[[0-9]*/[0-9]*\]' "$log"; exit 1; }
bin="$("$swift" build --package-path "$root/Examples" --scratch-path "$scratch" --show-bin-path)"
for folder in "$root"/Examples/Sources/*/; do
  name="$(basename "$folder")"
  [ "$name" = Checks ] && continue
  timeout 60 "$bin/$name" || { echo "the example $name fails"; exit 1; }
done
