#!/bin/sh
# Prints this machine's installed Debian packages as JSON Lines for `cairnctl import`.
# A relationship is written as the unique attributes of its members; dependencies on packages
# that are not installed are left out.
set -eu
tab="$(printf '\t')"
fields="\${binary:Package}\t\${Version}\t\${Architecture}\t\${Installed-Size}\t\${Essential}\t\${Section}"
fields="$fields\t\${Maintainer}\t\${binary:Summary}\t\${Pre-Depends}\t\${Depends}\n"
list="$(mktemp)"
trap 'rm -f "$list"' EXIT
dpkg-query -W -f "\${db:Status-Abbrev}\t$fields" | grep '^ii' > "$list"

awk -F "$tab" '
  function quoted(text) {
    gsub(/\\/, "\\\\", text); gsub(/"/, "\\\"", text); gsub(/[[:cntrl:]]/, " ", text)
    return "\"" text "\""
  }
  function plain(name) { sub(/:.*/, "", name); return name }
  # A package is called by its bare name unless it is installed for several architectures.
  function called(name) { return times[plain(name)] > 1 ? name : plain(name) }
  # First reading: the names, by which dependencies are resolved.
  NR == FNR { times[plain($2)]++; full[plain($2)] = $2; next }
  {
    line = "{\"name\":" quoted(called($2)) ",\"version\":" quoted($3) ",\"architecture\":" quoted($4)
    if ($5 ~ /^[0-9]+$/) line = line ",\"installedSize\":" $5
    line = line ",\"isEssential\":" ($6 == "yes" ? "true" : "false")
    if ($7 != "") line = line ",\"section\":{\"name\":" quoted($7) "}"
    if ($8 != "") {
      person = $8; email = ""
      if (match($8, /<[^>]*>/)) {
        email = substr($8, RSTART + 1, RLENGTH - 2)
        person = substr($8, 1, RSTART - 1); sub(/[ ]+$/, "", person)
      }
      line = line ",\"maintainer\":{\"name\":" quoted(person)
      if (email != "") line = line ",\"email\":" quoted(email)
      line = line "}"
    }
    line = line ",\"summary\":" quoted($9)
    wanted = $10 ($10 != "" && $11 != "" ? ", " : "") $11
    count = split(wanted, parts, /[ ]*[,|][ ]*/); found = ""; split("", seen)
    for (i = 1; i <= count; i++) {
      part = parts[i]; sub(/[ (\[].*/, "", part); part = plain(part)
      if (part in full && !(part in seen) && part != plain($2)) {
        seen[part] = 1
        found = found (found == "" ? "" : ",") "{\"name\":" quoted(called(full[part])) "}"
      }
    }
    print line ",\"dependencies\":[" found "]}"
  }
' "$list" "$list"
