// swift-tools-version: 6.1
// The classic tutorials of Core Data, written as on Apple's platforms. Each program checks itself and
// ends with a code other than zero when something does not hold. `make check-consumers` runs all.

import PackageDescription

/// A program that uses Core Data under Apple's names.
///
/// The plugin supplies what Apple's runtime does: accessors behind `@NSManaged`, names of properties
/// behind key paths.
func example(_ name: String, resources: [Resource] = []) -> Target {
  .executableTarget(
    name: name,
    dependencies: ["Checks", .product(name: "CoreData", package: "Cairn")],
    resources: resources,
    swiftSettings: [.swiftLanguageMode(.v5)],
    plugins: [.plugin(name: "CairnModelPlugin", package: "Cairn")])
}

let package = Package(
  name: "Examples",
  dependencies: [.package(name: "Cairn", path: "..")],
  targets: [
    .target(name: "Checks"),
    example("ByHand"),
    example("Container", resources: [.copy("Notes.xcdatamodeld")]),
    example("Run"),
    example("Events"),
    example("Root"),
    example("Tree"),
    example("XMLDocument"),
    example("TwoStores"),
  ])
