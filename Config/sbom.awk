# Makes a list of what is in the programs, in the form of SPDX 2.3, of the revisions that they are built of:
#   awk -f Config/sbom.awk -v version=0.1.0 -v created=2026-01-01T00:00:00Z debian/Package.resolved
function value(line) {
  sub(/^[^:]*: "/, "", line)
  sub(/",?$/, "", line)
  return line
}
BEGIN {
  print "{\n  \"spdxVersion\": \"SPDX-2.3\",\n  \"dataLicense\": \"CC0-1.0\",\n  \"SPDXID\": \"SPDXRef-DOCUMENT\","
  printf "  \"name\": \"cairn-%s\",\n  \"documentNamespace\": \"urn:cairn:sbom:%s\",\n", version, version
  printf "  \"creationInfo\": {\"created\": \"%s\", \"creators\": [\"Tool: cairn-sbom\"]},\n", created
  print "  \"packages\": ["
  printf "    {\"name\": \"cairn\", \"SPDXID\": \"SPDXRef-cairn\", \"versionInfo\": \"%s\", %s}", version, unknown("NOASSERTION")
}
function unknown(place) {
  return "\"downloadLocation\": \"" place "\", \"filesAnalyzed\": false, \"licenseConcluded\": \"NOASSERTION\", " \
    "\"licenseDeclared\": \"NOASSERTION\", \"copyrightText\": \"NOASSERTION\""
}
/"identity" :/ { identity = value($0) }
/"location" :/ { place = value($0) }
/"revision" :/ { revision = value($0) }
/"version" :/ && identity != "" {
  release = value($0)
  gsub(/[^A-Za-z0-9.-]/, "-", identity)
  url = place
  sub(/^https:\/\//, "", url)
  sub(/\.git$/, "", url)
  printf ",\n    {\"name\": \"%s\", \"SPDXID\": \"SPDXRef-%s\", \"versionInfo\": \"%s\", %s, ", identity, identity, release, \
    unknown("git+" place "@" revision)
  printf "\"externalRefs\": [{\"referenceCategory\": \"PACKAGE-MANAGER\", \"referenceType\": \"purl\", "
  printf "\"referenceLocator\": \"pkg:swift/%s@%s\"}]}", url, release
  names[++count] = identity
  identity = ""
}
END {
  print "\n  ],\n  \"relationships\": ["
  printf "    {\"spdxElementId\": \"SPDXRef-DOCUMENT\", \"relationshipType\": \"DESCRIBES\", \"relatedSpdxElement\": \"SPDXRef-cairn\"}"
  for (number = 1; number <= count; number++)
    printf ",\n    {\"spdxElementId\": \"SPDXRef-cairn\", \"relationshipType\": \"DEPENDS_ON\", \"relatedSpdxElement\": \"SPDXRef-%s\"}", names[number]
  print "\n  ]\n}"
}
