#!/bin/sh
# Builds a package that uses Cairn as other people's packages do, and runs its programs. It is the
# package of Examples/ with a few targets more, since each package would compile Cairn for itself:
# - The tutorials of Examples/, each of which checks itself.
# - TenLines imports only Cairn; it must link neither NIO nor libsystemd.
# - Sample has classes that the build plugin generated; it writes, saves and reads every kind of
#   property through its generated accessor.
# - Ported and PortedKit are written as for Apple's platforms, with `@NSManaged` properties; they are
#   built plain and as a release build compiles them, because accessors are found by the linker. (A
#   whole release build would compile all of Cairn once more.) PortedKit depends on CoreData itself,
#   Ported only through PortedKit; the plugin serves both under Apple's names. They have types that are
#   called as Cairn's are, and are built once more with MemberImportVisibility and with
#   InternalImportsByDefault. Unreadable does not compile; the build must say why.
set -eu
root="$(cd "$(dirname "$0")/.." && pwd)"
swift="${SWIFT:-swift}"
# What the tests have compiled is used, in the versions that they use. SwiftPM goes on with the plan
# that it finds there, whosever it is; without one it makes its own.
scratch="$root/.build"
work="$scratch/consumers"
forget_plan() { rm -f "$scratch/debug.yaml"; }
trap forget_plan EXIT
trap 'exit 1' INT TERM HUP
forget_plan
mkdir -p "$work"
rm -rf "$work/Sources"
if [ -f "$root/Package.resolved" ]; then cp "$root/Package.resolved" "$work/"; fi
cp -Rp "$root/Examples/Sources" "$work/Sources"
cp -Rp "$root/Tests/consumers/Sources/." "$work/Sources/"
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
{
  sed -e "s|path: \"..\"|path: \"$root\"|" "$root/Examples/Package.swift"
  sed -e "s|@RESOURCES@|$resources|" "$root/Tests/consumers/Targets.swift.in"
} > "$work/Package.swift"
for name in Ported PortedKit; do for suffix in Optimized Strict Internal; do
  copy="$work/Sources/${name}${suffix}"
  cp -Rp "$work/Sources/$name" "$copy"
  find "$copy" -type f -exec sed -i "s/PortedKit/PortedKit$suffix/" {} +
done; done
# Their own public declarations use what they import.
find "$work/Sources/PortedInternal" "$work/Sources/PortedKitInternal" -name '*.swift' \
  -exec sed -i 's/^import /public import /' {} +

mkdir "$work/Sources/Unreadable"
printf 'import CoreData\n\nlet title = "no end\n' > "$work/Sources/Unreadable/Text.swift"

# Product by product: what is built as a whole contains the plugin's tool with all it needs once more.
build() {
  "$swift" build --package-path "$work" --scratch-path "$scratch" --product "$1" >"$work/log" 2>&1 \
    || { grep -v '^\[[0-9]*/[0-9]*\]' "$work/log"; exit 1; }
}
examples="$(cd "$root/Examples/Sources" && ls | grep -v '^Checks$')"
for name in TenLines Sample Ported PortedOptimized PortedStrict PortedInternal $examples; do build "$name"; done
bin="$("$swift" build --package-path "$work" --scratch-path "$scratch" --show-bin-path)"

for name in $examples; do
  timeout 60 "$bin/$name" || { echo "the example $name fails"; exit 1; }
done

[ "$("$bin/TenLines")" = 1 ] || { echo "the program that imports only Cairn does not work"; exit 1; }
if ldd "$bin/TenLines" | grep -q systemd; then echo "TenLines links libsystemd"; exit 1; fi
if nm "$bin/TenLines" | grep -q "7NIOCore"; then echo "TenLines links NIO"; exit 1; fi
echo "A program that imports only Cairn runs and links neither NIO nor libsystemd."

"$bin/Sample" || { echo "a program with generated classes does not work"; exit 1; }
echo "The plugin generates classes that compile, save and fetch."

for name in Ported PortedOptimized PortedStrict PortedInternal; do
  "$bin/$name" || { echo "$name, a program with @NSManaged properties, does not work"; exit 1; }
done
echo "Programs with @NSManaged properties link and run: plain, optimized, with strict imports."

# The build that fails says where and why, though builds swallow what a plugin's tool prints.
if "$swift" build --package-path "$work" --scratch-path "$scratch" --target Unreadable \
  >"$work/log" 2>&1; then
  echo "a file that cannot be read is compiled"; exit 1
fi
grep -q "Unreadable/Text.swift:3:.*error: this string has no end" "$work/log" \
  || { cat "$work/log"; echo "the build does not say what cannot be read"; exit 1; }
echo "A file that the plugin cannot read is reported with its line and the reason."

# The benchmarks are a package of their own, which nothing else compiles.
forget_plan
if [ -f "$root/Package.resolved" ]; then cp "$root/Package.resolved" "$root/Benchmarks/"; fi
"$swift" build --package-path "$root/Benchmarks" --scratch-path "$scratch" --product cairn-benchmarks \
  >"$work/log" 2>&1 || { grep -v '^\[[0-9]*/[0-9]*\]' "$work/log"; exit 1; }
echo "The benchmarks compile."
