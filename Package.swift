// swift-tools-version: 6.1
// Cairn: Core Data for Linux, and a daemon that keeps its stores in sync.
// The target graph is the architecture; `Sources/Cairn/Cairn.docc/Architecture.md` draws it.

import PackageDescription

let package = Package(
  name: "Cairn",
  products: [
    .library(name: "Cairn", targets: ["Cairn"]),
    .library(name: "CoreData", targets: ["CoreData"]),
    .library(name: "CairnTesting", targets: ["CairnTesting"]),
    .library(name: "CairnSync", targets: ["CairnSync"]),
    .executable(name: "cairnd", targets: ["cairnd"]),
    .executable(name: "cairnctl", targets: ["cairnctl"]),
    .plugin(name: "CairnModelPlugin", targets: ["CairnModelPlugin"]),
  ],
  dependencies: [
    .package(url: "https://github.com/groue/GRDB.swift", from: "7.10.0"),
    .package(url: "https://github.com/apple/swift-nio", from: "2.101.0"),
    .package(url: "https://github.com/apple/swift-argument-parser", from: "1.8.0"),
    .package(url: "https://github.com/apple/swift-log", from: "1.16.0"),
    .package(url: "https://github.com/apple/swift-metrics", from: "2.13.0"),
    .package(url: "https://github.com/swift-server/swift-service-lifecycle", from: "2.13.0"),
    .package(url: "https://github.com/apple/swift-crypto", from: "4.5.0"),
    .package(url: "https://github.com/jpsim/Yams", from: "6.2.0"),
    .package(
      url: "https://github.com/hummingbird-project/hummingbird", from: "2.28.0", traits: []),
    .package(url: "https://github.com/hummingbird-project/swift-mustache", from: "2.1.0"),
  ],
  targets: [
    // Conditions and expressions over values: as text, as a tree, evaluated. Knows no model.
    .target(name: "CairnPredicates"),
    // Values, the shape of data, models as archives. Reads no file.
    .target(
      name: "CairnModel",
      dependencies: [
        "CairnPredicates", "CRuntime", .product(name: "Crypto", package: "swift-crypto"),
      ]),
    // Models and mapping models in files, packages and bundles.
    .target(name: "CairnModelFiles", dependencies: ["CairnPredicates", "CairnModel", "CairnXML"]),
    // XML from anywhere as events. Knows no model.
    .target(name: "CairnXML"),
    // The copy of its model that a SQL store keeps, and the codec it is compressed with.
    .target(name: "CairnModelCache", dependencies: ["CairnModel"]),
    // What every store promises, and what travels to and from stores. Implements nothing.
    .target(name: "CairnStore", dependencies: ["CairnPredicates", "CairnModel", "CRuntime"]),
    // Model, predicates and saves as SQL, whatever the database.
    .target(name: "CairnSQL", dependencies: ["CairnPredicates", "CairnModel", "CairnStore"]),
    .target(
      name: "CairnSQLite",
      dependencies: [
        "CairnPredicates", "CairnModel", "CairnModelCache", "CairnStore", "CairnSQL",
        "CairnPlatform", "CSQLiteConduct",
        .product(name: "GRDB", package: "GRDB.swift"),
        .product(name: "GRDBSQLite", package: "GRDB.swift"),
      ]),
    // What SQLite offers to C only.
    .target(name: "CSQLiteConduct"),
    .target(
      name: "CairnPostgreSQL",
      dependencies: [
        "CairnPredicates", "CairnModel", "CairnModelCache", "CairnStore", "CairnSQL",
        "CairnPlatform", "CLibPQ",
      ]),
    // Declares libpq's functions, which are found when a program runs: nothing is linked.
    .systemLibrary(name: "CLibPQ"),
    .target(
      name: "CairnAtomicStores",
      dependencies: [
        "CairnModel", "CairnStore", "CairnPlatform", "CairnXML",
        .product(name: "Crypto", package: "swift-crypto"),
      ]),
    .target(
      name: "CairnCoordinator",
      dependencies: ["CairnPredicates", "CairnModel", "CairnStore", "CRuntime"]),
    // Above the value line: objects, each owned by one queue.
    .target(
      name: "CairnContext",
      dependencies: [
        "CairnPredicates", "CairnModel", "CairnStore", "CairnCoordinator", "CairnPlatform",
        "CRuntime",
      ]),
    .target(name: "CRuntime"),
    // From one model version to another, object by object.
    .target(
      name: "CairnMigration",
      dependencies: [
        "CairnPredicates", "CairnModel", "CairnModelFiles", "CairnStore", "CairnCoordinator",
        "CairnContext", "CairnPlatform",
      ]),
    // Operators that Cairn and CoreData both have under their own names.
    .target(name: "CairnIdentity", dependencies: ["CairnContext"]),
    // Container and built-in store types: what Cairn and CoreData share.
    .target(
      name: "CairnStack",
      dependencies: [
        "CairnPredicates", "CairnModel", "CairnModelFiles", "CairnStore", "CairnCoordinator",
        "CairnContext", "CairnMigration", "CairnSQLite", "CairnPostgreSQL", "CairnAtomicStores",
        "CairnIdentity",
      ]),
    // All of it under Cairn's names, and what Cairn adds to Core Data's types.
    .target(
      name: "Cairn",
      dependencies: [
        "CairnStack", "CairnPredicates", "CairnModel", "CairnModelFiles", "CairnStore",
        "CairnCoordinator", "CairnContext", "CairnMigration", "CairnPostgreSQL", "CairnSQLite",
      ]),
    .target(
      name: "CoreData",
      dependencies: [
        "CairnStack", "CairnPredicates", "CairnModel", "CairnModelFiles", "CairnStore",
        "CairnCoordinator", "CairnContext", "CairnMigration", "CairnIdentity",
      ], exclude: ["LEDGER.md"]),
    .target(
      name: "CairnTesting",
      dependencies: ["CairnPredicates", "CairnModel", "CairnStore"]),
    .target(
      name: "CairnSync",
      dependencies: [
        "CairnPredicates", "CairnModel", "CairnStore", "CairnCoordinator", "CairnContext",
        .product(name: "Crypto", package: "swift-crypto"),
      ]),
    // Words on the wire between daemon and client.
    .target(name: "CairnControl", dependencies: ["CairnPlatform"]),
    // Records as the control protocol shows them: objects to rows, rows to objects.
    .target(
      name: "CairnRecords",
      dependencies: [
        "Cairn", "CairnControl", "CairnPredicates", "CairnModel", "CairnModelFiles", "CairnStore",
        "CairnSQL", "CairnContext", "CairnPlatform",
      ]),
    // A model as boxes and lines: SVG, Graphviz, Mermaid.
    .target(name: "CairnDiagrams", dependencies: ["CairnControl"]),
    // A store and the daemon as web pages.
    .target(
      name: "CairnBrowser",
      dependencies: [
        "Cairn", "CairnControl", "CairnCoordinator", "CairnDiagrams", "CairnRecords",
        .product(name: "Hummingbird", package: "hummingbird"),
        .product(name: "HummingbirdCore", package: "hummingbird"),
        .product(name: "Mustache", package: "swift-mustache"),
        .product(name: "Logging", package: "swift-log"),
      ],
      resources: [
        "layout.mustache", "overview.mustache", "rows.mustache", "record.mustache",
        "value.mustache", "history.mustache", "changes.mustache", "check.mustache",
        "problem.mustache", "daemon.mustache", "link.mustache", "plot.mustache",
        "conflicts.mustache", "conflict.mustache", "quarantine.mustache", "unanswered.mustache",
        "phrase.mustache", "style.css",
      ].map { .embedInCode("Templates/\($0)") }),
    .target(
      name: "CairnDaemon",
      dependencies: [
        "Cairn", "CairnSync", "CairnControl", "CairnRecords", "CairnPlatform", "CSystemd",
        "CairnModel", "CairnStore", "CairnCoordinator", "CairnContext",
        .product(name: "NIOCore", package: "swift-nio"),
        .product(name: "NIOPosix", package: "swift-nio"),
        .product(name: "Logging", package: "swift-log"),
        .product(name: "Metrics", package: "swift-metrics"),
        .product(name: "ServiceLifecycle", package: "swift-service-lifecycle"),
        .product(name: "UnixSignals", package: "swift-service-lifecycle"),
        .product(name: "Yams", package: "Yams"),
      ]),
    .executableTarget(
      name: "cairnd",
      dependencies: [
        "CairnDaemon", "CairnControl", "CairnPlatform",
        .product(name: "ArgumentParser", package: "swift-argument-parser"),
      ]),
    .executableTarget(
      name: "cairnctl",
      dependencies: [
        "Cairn", "CairnBrowser", "CairnControl", "CairnDiagrams", "CairnRecords", "CairnPlatform",
        "CairnSwiftSource",
        .product(name: "NIOCore", package: "swift-nio"),
        .product(name: "ArgumentParser", package: "swift-argument-parser"),
      ]),
    // The kernel: files, locks, sockets, watches. The only Swift target that imports Glibc.
    .target(name: "CairnPlatform", dependencies: ["CPlatform"]),
    .target(name: "CPlatform"),
    .systemLibrary(
      name: "CSystemd", pkgConfig: "libsystemd", providers: [.apt(["libsystemd-dev"])]),
    // Swift sources as text: what the build plugin reads in them, what porting edits.
    .target(
      name: "CairnSwiftSource", dependencies: [.product(name: "Crypto", package: "swift-crypto")]),
    // Class generation at build time.
    .executableTarget(
      name: "cairn-modelgen",
      dependencies: [
        "CairnModel", "CairnModelFiles", "CairnSwiftSource",
        .product(name: "ArgumentParser", package: "swift-argument-parser"),
      ]),
    .plugin(
      name: "CairnModelPlugin", capability: .buildTool(), dependencies: ["cairn-modelgen"]),

    .testTarget(
      name: "CairnPredicatesTests", dependencies: ["CairnPredicates", "CairnModel"]),
    .testTarget(
      name: "CairnModelTests", dependencies: ["CairnPredicates", "CairnModel", "TestSupport"]),
    .testTarget(
      name: "CairnModelFilesTests",
      dependencies: ["CairnPredicates", "CairnModel", "CairnModelFiles", "TestSupport"]),
    .testTarget(name: "CairnXMLTests", dependencies: ["CairnXML", "CairnTesting", "TestSupport"]),
    .testTarget(
      name: "CairnModelCacheTests",
      dependencies: [
        "CairnModel", "CairnModelCache", "CairnPlatform", "CairnTesting", "TestSupport",
      ]),
    .testTarget(
      name: "CairnSQLTests",
      dependencies: [
        "CairnPredicates", "CairnModel", "CairnStore", "CairnSQL", "CairnTesting", "TestSupport",
      ]),
    .testTarget(
      name: "CairnSQLiteTests",
      dependencies: [
        "CairnPredicates", "CairnModel", "CairnModelFiles", "CairnStore", "CairnSQL", "CairnSQLite",
        "CairnTesting", "TestSupport",
        .product(name: "GRDB", package: "GRDB.swift"),
      ]),
    .testTarget(
      name: "CairnPostgreSQLTests",
      dependencies: [
        "Cairn", "CairnPredicates", "CairnModel", "CairnModelCache", "CairnStore", "CairnSQL",
        "CairnPostgreSQL", "CairnPlatform", "CairnTesting", "CairnCoordinator", "CairnContext",
        "CairnStack", "CairnAtomicStores", "ParitySamples", "CairnSQLite", "TestServers",
        "TestSupport",
      ], exclude: ["Golden"]),
    .testTarget(
      name: "CairnContextTests",
      dependencies: [
        "CairnPredicates", "CairnModel", "CairnStore", "CairnCoordinator", "CairnContext",
        "CairnAtomicStores", "CairnSQLite", "CairnTesting", "CConcurrencyDebug", "CairnIdentity",
        "TestSupport",
      ]),
    .testTarget(
      name: "CairnAtomicStoresTests",
      dependencies: [
        "CairnPredicates", "CairnModel", "CairnStore", "CairnCoordinator", "CairnAtomicStores",
        "CairnTesting", "TestSupport",
      ]),
    .testTarget(
      name: "CairnCoordinatorTests",
      dependencies: [
        "CairnPredicates", "CairnModel", "CairnStore", "CairnCoordinator", "CairnAtomicStores",
        "CairnTesting", "TestSupport",
      ]),
    .testTarget(
      name: "CairnMigrationTests",
      dependencies: [
        "Cairn", "CairnMigration", "CairnModel", "CairnStore", "CairnCoordinator", "CairnContext",
        "CairnPlatform", "CairnSQLite", "TestSupport",
      ]),
    .testTarget(
      name: "CairnTests",
      dependencies: [
        "Cairn", "CairnStack", "CoreData", "CairnTesting", "CairnSQLite", "CairnStore",
        "CairnPredicates", "CairnModel", "CairnModelCache", "CFaultVFS", "ParitySamples",
        "TestSupport",
      ],
      exclude: ["Inventory/Inventory.txt"]),
    // Rows and predicates that all stores must answer alike.
    .target(
      name: "ParitySamples", dependencies: ["CairnPredicates", "CairnModel", "CairnContext"],
      path: "Tests/ParitySamples"),
    // What tests of several targets need: a folder of their own, answers by their form, a model.
    .target(
      name: "TestSupport",
      dependencies: [
        "CairnPredicates", "CairnModel", "CairnModelFiles", "CairnStore", "CSpawn",
        .product(name: "GRDB", package: "GRDB.swift"),
      ], path: "Tests/TestSupport"),
    // What Swift does not show of the calls that start programs.
    .target(name: "CSpawn", path: "Tests/CSpawn"),
    // Servers that tests start, each once a process.
    .target(
      name: "TestServers", dependencies: ["CairnPlatform", "TestSupport"],
      path: "Tests/TestServers"),
    // Turns the check for contexts' queues on before the tests begin.
    .target(name: "CConcurrencyDebug", path: "Tests/CConcurrencyDebug"),
    // Depends on nothing else of Cairn's: what a program sees that imports only CoreData.
    .testTarget(name: "CoreDataTests", dependencies: ["CoreData", "Namesakes"]),
    // A module of other people with types that Cairn's are called as.
    .target(name: "Namesakes", path: "Tests/Namesakes"),
    // A file layer that goes wrong on demand; only tests link it.
    .target(
      name: "CFaultVFS", path: "Tests/CFaultVFS", linkerSettings: [.linkedLibrary("sqlite3")]),
    // What Tests/check-crashes.sh kills.
    .executableTarget(
      name: "cairn-crash-writer", dependencies: ["Cairn", "CairnSQLite", "CFaultVFS"],
      path: "Tests/CrashWriter"),
    // What Tests/fuzz.sh runs.
    .executableTarget(
      name: "cairn-fuzz",
      dependencies: [
        "Cairn", "CairnControl", "CairnDaemon", "CairnPredicates", "CairnModel", "CairnModelFiles",
        "CairnSQLite", "CairnSync", "CairnTesting",
      ], path: "Tests/Fuzzing", exclude: ["Corpora"]),
    .testTarget(
      name: "CairnSyncTests",
      dependencies: [
        "Cairn", "CairnSync", "CairnPredicates", "CairnModel", "CairnStore", "CairnCoordinator",
        "CairnContext", "CairnAtomicStores", "CairnPostgreSQL", "CairnSQLite", "CairnTesting",
        "CFaultVFS", "TestServers", "TestSupport",
        // Damages files.
        .product(name: "GRDB", package: "GRDB.swift"),
      ], exclude: ["Simulation/README.md"]),
    .testTarget(
      name: "CairnControlTests", dependencies: ["CairnControl", "CairnPlatform"]),
    .testTarget(
      name: "CairnDaemonTests",
      dependencies: [
        "Cairn", "CairnDaemon", "CairnControl", "CairnSync", "CairnPlatform",
        "CFaultVFS", "CairnTesting", "TestServers", "cairnd", "cairnctl", "cairn-modelgen",
        "TestSupport",
        .product(name: "Logging", package: "swift-log"),
        // Makes the files of other applications that the daemon must refuse.
        .product(name: "GRDB", package: "GRDB.swift"),
      ], exclude: ["Golden"]),
    .testTarget(name: "CairnDiagramsTests", dependencies: ["CairnDiagrams", "CairnControl"]),
    .testTarget(
      name: "CairnBrowserTests",
      dependencies: [
        "Cairn", "CairnBrowser", "CairnControl", "CairnRecords", "CairnStore", "TestSupport",
      ]),
    .testTarget(
      name: "CairnRecordsTests",
      dependencies: [
        "Cairn", "CairnControl", "CairnRecords", "CairnModel", "CairnContext", "TestSupport",
      ]),
    .testTarget(
      name: "CairnSwiftSourceTests", dependencies: ["CairnSwiftSource"], exclude: ["Fixtures"]),
    .testTarget(
      name: "CairnPlatformTests", dependencies: ["CairnPlatform", "CairnTesting", "TestSupport"]),
    .testTarget(name: "RepositoryShapeTests", dependencies: ["TestSupport"]),
  ],
  swiftLanguageModes: [.v6]
)
