// swift-tools-version: 6.1
// Benchmarks of Cairn against raw SQLite and GRDB. A package of its own, so that it costs the main
// build nothing.

import PackageDescription

let package = Package(
  name: "Benchmarks",
  dependencies: [
    .package(name: "Cairn", path: ".."),
    .package(url: "https://github.com/groue/GRDB.swift", from: "7.10.0"),
    .package(url: "https://github.com/apple/swift-argument-parser", from: "1.8.0"),
  ],
  targets: [
    .target(name: "CHeap"),
    .executableTarget(
      name: "cairn-benchmarks",
      dependencies: [
        "CHeap",
        .product(name: "Cairn", package: "Cairn"),
        .product(name: "CairnSync", package: "Cairn"),
        // Programs, not modules: built with this one, so that they lie beside it.
        .product(name: "cairnd", package: "Cairn"),
        .product(name: "cairnctl", package: "Cairn"),
        .product(name: "GRDB", package: "GRDB.swift"),
        .product(name: "GRDBSQLite", package: "GRDB.swift"),
        .product(name: "ArgumentParser", package: "swift-argument-parser"),
      ]),
  ],
  swiftLanguageModes: [.v6]
)
