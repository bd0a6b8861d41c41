// The picture of the architecture, as imports obey it.

import Testing

@Suite struct LayeringTests {
  static let sources = SourceTree.sources

  /// What each target may import of the project's own.
  static let allowed: [String: Set<String>] = [
    "CairnPredicates": [],
    "CairnModel": ["CairnPredicates"],
    "CairnXML": [],
    "CairnModelFiles": ["CairnPredicates", "CairnModel", "CairnXML"],
    // The one target with a codec for compressed data.
    "CairnModelCache": ["CairnModel"],
    "CairnStore": ["CairnPredicates", "CairnModel"],
    "CairnSQL": ["CairnPredicates", "CairnModel", "CairnStore"],
    "CairnSQLite": [
      "CairnPredicates", "CairnModel", "CairnModelCache", "CairnStore", "CairnSQL", "CairnPlatform",
    ],
    "CairnPostgreSQL": [
      "CairnPredicates", "CairnModel", "CairnModelCache", "CairnStore", "CairnSQL", "CairnPlatform",
      "CLibPQ",
    ],
    "CairnAtomicStores": ["CairnModel", "CairnStore", "CairnPlatform", "CairnXML"],
    "CairnCoordinator": ["CairnPredicates", "CairnModel", "CairnStore"],
    "CairnContext": [
      "CairnPredicates", "CairnModel", "CairnStore", "CairnCoordinator", "CairnPlatform",
    ],
    "CairnMigration": [
      "CairnPredicates", "CairnModel", "CairnModelFiles", "CairnStore", "CairnCoordinator",
      "CairnContext", "CairnPlatform",
    ],
    "CairnIdentity": ["CairnContext"],
    "CairnStack": [
      "CairnPredicates", "CairnModel", "CairnModelFiles", "CairnStore", "CairnCoordinator",
      "CairnContext", "CairnMigration", "CairnSQLite", "CairnPostgreSQL", "CairnAtomicStores",
      "CairnIdentity",
    ],
    "Cairn": [
      "CairnStack", "CairnPredicates", "CairnModel", "CairnModelFiles", "CairnStore",
      "CairnCoordinator", "CairnContext", "CairnMigration", "CairnPostgreSQL", "CairnSQLite",
    ],
    // Not Cairn: what that adds to Core Data's types would show.
    "CoreData": [
      "CairnStack", "CairnPredicates", "CairnModel", "CairnModelFiles", "CairnStore",
      "CairnCoordinator", "CairnContext", "CairnMigration", "CairnIdentity",
    ],
    "CairnTesting": [
      "Cairn", "CairnPredicates", "CairnModel", "CairnStore", "CairnCoordinator", "CairnContext",
    ],
    "CairnSync": [
      "CairnPredicates", "CairnModel", "CairnStore", "CairnCoordinator", "CairnContext",
    ],
    // The client speaks over the platform's Unix sockets.
    "CairnControl": ["CairnPlatform"],
    "CairnRecords": [
      "Cairn", "CairnControl", "CairnPredicates", "CairnModel", "CairnModelFiles", "CairnStore",
      "CairnSQL", "CairnContext", "CairnPlatform",
    ],
    "CairnDiagrams": ["CairnControl"],
    "CairnBrowser": ["Cairn", "CairnControl", "CairnCoordinator", "CairnDiagrams", "CairnRecords"],
    "CairnDaemon": [
      "Cairn", "CairnModel", "CairnStore", "CairnCoordinator", "CairnContext", "CairnSync",
      "CairnControl", "CairnRecords", "CairnPlatform", "CSystemd",
    ],
    // Its version is the protocol's.
    "cairnd": ["CairnDaemon", "CairnControl"],
    "cairnctl": [
      "Cairn", "CairnBrowser", "CairnControl", "CairnDiagrams", "CairnRecords", "CairnPlatform",
      "CairnSwiftSource",
    ],
    "CairnPlatform": ["CPlatform"],
    "CairnSwiftSource": [],
    "cairn-modelgen": ["CairnModel", "CairnModelFiles", "CairnSwiftSource"],
  ]

  static let ownModules = Set(allowed.keys).union(["CPlatform", "CSystemd", "CLibPQ"])

  @Test func everyTargetStandsInThePicture() {
    for target in Set(Self.sources.map(\.target)) {
      #expect(Self.allowed[target] != nil, "\(target) is not in the picture; add it there first")
    }
  }

  @Test func importsPointOneWay() {
    for file in Self.sources {
      let allowed = Self.allowed[file.target] ?? []
      for module in file.imports where Self.ownModules.contains(module) {
        #expect(allowed.contains(module), "\(file.path) imports \(module)")
      }
    }
  }

  @Test func onlyThePlatformTargetImportsTheCLibrary() {
    for file in Self.sources where file.target != "CairnPlatform" {
      for module in file.imports {
        #expect(module != "Glibc" && module != "Musl", "\(file.path) imports \(module)")
      }
    }
  }

  @Test func grdbIsUsedOnlyByTheSQLiteStore() {
    for file in Self.sources where file.target != "CairnSQLite" {
      #expect(!file.imports.contains { $0.hasPrefix("GRDB") }, "\(file.path) imports GRDB")
    }
  }

  @Test func theLibraryLinksNeitherNIONorSystemd() {
    let library: Set<String> = [
      "CairnPredicates", "CairnModel", "CairnXML", "CairnModelFiles", "CairnModelCache",
      "CairnStore", "CairnSQL", "CairnSQLite", "CairnPostgreSQL", "CairnAtomicStores",
      "CairnCoordinator", "CairnContext", "CairnMigration", "CairnIdentity", "CairnStack", "Cairn",
      "CoreData", "CairnPlatform", "CairnSync",
    ]
    for file in Self.sources where library.contains(file.target) {
      for module in file.imports {
        #expect(
          !module.hasPrefix("NIO") && module != "CSystemd", "\(file.path) imports \(module)")
      }
    }
  }
}
