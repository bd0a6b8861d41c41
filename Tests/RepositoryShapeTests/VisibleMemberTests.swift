// What `import CoreData` shows on Apple's types beside Apple's members: a list that is kept short, since
// each of these may clash with what a program's classes have.

import Foundation
import Testing

/// The decision page Names.
@Suite struct VisibleMemberTests {
  /// Members that only Cairn has and programs see, by the type under Cairn's name.
  static let allowed: [String: Set<String>] = [
    // Compiled into generated accessors of other modules.
    "EntityDescription": ["layout"],
    // What a fetched property leads to; the model as data, whose requests are above it.
    "FetchedPropertyDescription": ["template"],
    "ManagedObjectModel": ["defaultConfigurationName"],
    "ObjectExpression": ["parse"], "ObjectPredicate": ["parse"], "ObjectSortDescriptor": ["order"],
    // What programs say where Apple's runtime looks by itself: classes by name, messages by name,
    // accessors and validators by key.
    "EntityMigrationPolicy": ["answer", "registerClass"], "MigrationManager": ["answer"],
    "ManagedObject": ["keyAccessors", "keyValidators", "readValue", "registerClass"],
    // What stores of other people override, call or adopt.
    "IncrementalStore": ["contextsDidRegister", "contextsDidUnregister"],
    "ObjectSaveRequest": ["baseVersion"],
    "ObjectStore": ["coordinatorDidAdd", "coordinatorWillRemove"],
    "PersistentStore": [
      "close", "hasUnsavedMetadata", "holds", "identity", "members", "openStore", "rowKey",
      "snapshot", "snapshots",
    ],
    "PersistentStoreCoordinator": ["registerStoreKind", "unregisterStoreKind"],
    "StagedMigrationManager": ["currentStage"],
  ]
  /// What Foundation asks of classes, and its key-value coding, which the ledger leaves out.
  static let foundation: Set<String> = [
    "copy", "encode", "supportsSecureCoding", "mutableSetValue", "mutableOrderedSetValue",
    "dictionaryWithValues", "setNilValueForKey", "setValuesForKeys",
  ]
  static let modules: Set<String> = [
    "CairnModel", "CairnStore", "CairnCoordinator", "CairnContext", "CairnMigration", "CairnStack",
  ]
  static let sources = SourceTree.swiftFiles(under: "Sources")

  /// Types that have a name in CoreData, and classes between them.
  static let types: Set<String> = {
    let text = sources.filter { $0.target == "CoreData" }.flatMap(\.lines).joined(separator: " ")
    let names = text.matches(of: /public typealias NS\w+ =\s*(\w+)/).map { String($0.output.1) }
    return Set(names).union(["ModelElement", "ObjectStore", "AnyFetchRequest"])
      // Foundation's, or of the user interface: all their members are Apple's.
      .subtracting([
        "DiffableDataSourceSnapshotReference", "ValueTransformerName",
        "SecureUnarchiveFromDataTransformer",
      ])
  }()

  /// The public members of a file that are not for generated code alone.
  static func members(of file: SourceFile) -> [(type: String, name: String)] {
    var found: [(String, String)] = []
    var type = ""
    var isHidden = false
    for (_, line) in file.code {
      if let match = line.firstMatch(
        of: /^(?:@\S+ |public |open |package |final )*(?:class|extension|struct|enum) (\w+)/)
      {
        type = String(match.output.1)
        isHidden = false
        continue
      }
      if line.hasPrefix("  @"), line.contains("@_spi") { isHidden = true }
      guard line.firstMatch(of: #/^  (?:@[\w()!]+ )*(?:public|open) /#) != nil else { continue }
      defer { isHidden = false }
      guard !isHidden, !line.contains("override "),
        let name = line.firstMatch(of: /\b(?:var|let|func|typealias)\s+`?(\w+)/)
      else { continue }
      found.append((type, String(name.output.1)))
    }
    return found
  }

  @Test func nothingButApplesMembersAndTheListIsVisible() throws {
    let url = SourceTree.root.appendingPathComponent("Sources/CoreData/LEDGER.md")
    let ledger = try String(contentsOf: url, encoding: .utf8)
    let apples = Set(ledger.matches(of: /\w+/).map { String($0.output) })
    var seen: [String: Set<String>] = [:]
    for file in Self.sources where Self.modules.contains(file.target) {
      for (type, name) in Self.members(of: file)
      where Self.types.contains(type) && !apples.contains(name) && !Self.foundation.contains(name) {
        seen[type, default: []].insert(name)
        #expect(
          Self.allowed[type]?.contains(name) == true,
          "\(file.path): \(type).\(name) shows through import CoreData; make it package, or SPI")
      }
    }
    #expect(Self.types.count > 80 && Self.types.contains("ManagedObject"))
    #expect(seen == Self.allowed, "the list has members that are not there any more")
  }
}
