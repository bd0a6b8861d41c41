#!/bin/sh
# Builds a program whose classes the build plugin generates from Xcode's models, and runs it: it
# writes, saves and reads every kind of property through its generated accessor.
set -eu
root="$(cd "$(dirname "$0")/.." && pwd)"
work="$(mktemp -d)"
trap 'rm -rf "$work"' EXIT
cp -R "$root/Tests/plugin-sample/Sources" "$work/Sources"
sample="$work/Sources/Sample"

# A model of other people, made to ask for classes.
adopt() {
  cp -R "$1" "$sample/"
  find "$sample/$(basename "$1")" -name contents \
    -exec sed -i 's/<entity /<entity codeGenerationType="class" /' {} +
}
adopt "$root/Config/demo/DebianPackages.xcdatamodeld"
resources='.copy("Library.xcdatamodeld"), .copy("DebianPackages.xcdatamodeld")'
if [ -n "${CAIRN_APPLE_FIXTURES:-}" ]; then
  adopt "$CAIRN_APPLE_FIXTURES/models/SampleModel.xcdatamodeld"
  resources="$resources, .copy(\"SampleModel.xcdatamodeld\")"
  # The class of one of its transformable attributes.
  echo 'import Foundation
public final class Color: NSObject {}' > "$sample/Color.swift"
else
  echo "CAIRN_APPLE_FIXTURES names no folder; no classes are generated from Apple's sample."
fi
sed -e "s|@ROOT@|$root|" -e "s|@RESOURCES@|$resources|" \
  "$root/Tests/plugin-sample/Package.swift.in" > "$work/Package.swift"

# The scratch folder of the link check serves again: the dependencies are compiled there already.
"${SWIFT:-swift}" build --package-path "$work" --scratch-path "$root/.build/ten-lines" \
  >"$work/log" 2>&1 || { grep -v '^\[[0-9]*/[0-9]*\]' "$work/log"; exit 1; }
bin="$("${SWIFT:-swift}" build --package-path "$work" --scratch-path "$root/.build/ten-lines" \
  --show-bin-path)"
"$bin/Sample" || { echo "a program with generated classes does not work"; exit 1; }
echo "The plugin generates classes that compile, save and fetch."
