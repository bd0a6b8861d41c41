#!/bin/bash
# Builds the Debian package twice from nothing and compares the files; about a quarter of an hour on two cores.
#
#   check-reproducible.sh [FOLDER]
#
# Packages that differ are left in FOLDER (.build-reproducible) with what differs between their programs.
set -eu
cd "$(dirname "$0")/.."
folder=${1:-.build-reproducible}
rm -rf "$folder"
for build in first second; do
  mkdir -p "$folder/$build"
  # In the folder of `make deb`, whose path is in what the compiler makes, with nothing in it.
  rm -rf .build-deb
  make deb > "$folder/$build.log" 2>&1 || { tail -30 "$folder/$build.log"; exit 1; }
  cp .build-deb/*.deb "$folder/$build"
done
same=1
for package in "$folder"/first/*.deb; do
  name=$(basename "$package")
  if cmp -s "$package" "$folder/second/$name"; then
    echo "same: $name $(sha256sum < "$package" | cut -d' ' -f1)"
    continue
  fi
  same=
  echo "DIFFERENT: $name"
  for build in first second; do
    dpkg-deb -R "$folder/$build/$name" "$folder/$build/${name%.deb}"
  done
  diff -rq "$folder/first/${name%.deb}" "$folder/second/${name%.deb}" || true
  # Which sections of a program differ.
  (cd "$folder/first/${name%.deb}" && find . -type f) | while read -r file; do
    one="$folder/first/${name%.deb}/$file" other="$folder/second/${name%.deb}/$file"
    cmp -s "$one" "$other" && continue
    readelf -SW "$one" 2> /dev/null | sed -n 's/^ *\[ *[0-9]*\] \([^ ]*\).*/\1/p' | while read -r section; do
      sum() { objcopy -O binary --set-section-flags "$section=alloc" --only-section="$section" "$1" /dev/stdout | sha256sum; }
      [ "$(sum "$one")" = "$(sum "$other")" ] || echo "  $file: $section"
    done
  done
done
[ -n "$same" ]
rm -rf "$folder"
