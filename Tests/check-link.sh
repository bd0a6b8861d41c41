#!/bin/sh
# Builds a ten-line program that imports only Cairn and shows that it runs, and that it links
# neither NIO nor libsystemd.
set -eu
root="$(cd "$(dirname "$0")/.." && pwd)"
work="$(mktemp -d)"
trap 'rm -rf "$work"' EXIT
mkdir -p "$work/Sources/TenLines"
cat > "$work/Package.swift" <<MANIFEST
// swift-tools-version: 6.1
import PackageDescription
let package = Package(
  name: "TenLines", dependencies: [.package(name: "Cairn", path: "$root")],
  targets: [.executableTarget(name: "TenLines", dependencies: [.product(name: "Cairn", package: "Cairn")])])
MANIFEST
cat > "$work/Sources/TenLines/main.swift" <<'PROGRAM'
import Cairn
let note = EntityDescription(name: "Note", properties: [AttributeDescription(name: "text", type: .string)])
let model = ManagedObjectModel()
model.entities = [note]
let container = PersistentContainer(name: "TenLines", managedObjectModel: model)
container.persistentStoreDescriptions.first?.type = "InMemory"
container.loadPersistentStores { _, error in if let error { print(error) } }
let context = container.newBackgroundContext()
try context.performAndWait {
  EntityDescription.insertNewObject(forEntityName: "Note", into: context).setValue("Hello", forKey: "text")
  try context.save()
  print(try context.count(for: FetchRequest<ManagedObject>(entityName: "Note")))
}
PROGRAM
# The package's own build folder serves again: its dependencies are compiled there already.
"${SWIFT:-swift}" build --package-path "$work" --scratch-path "$root/.build/ten-lines" >"$work/log" 2>&1 \
  || { cat "$work/log"; exit 1; }
program="$("${SWIFT:-swift}" build --package-path "$work" --scratch-path "$root/.build/ten-lines" --show-bin-path)/TenLines"
[ "$("$program")" = 1 ] || { echo "the program that imports only Cairn does not work"; exit 1; }
if ldd "$program" | grep -q systemd; then echo "it links libsystemd"; exit 1; fi
if nm "$program" 2>/dev/null | grep -q "7NIOCore"; then echo "it links NIO"; exit 1; fi
echo "A program that imports only Cairn runs and links neither NIO nor libsystemd."
