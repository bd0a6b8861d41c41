// What `import CoreData` shows on Apple's types beside Apple's members: a list that is kept short, since
// each of these may clash with what a program's classes have.

import Foundation
import Testing

/// The decision page Names.
@Suite struct VisibleMemberTests {
  /// Members that only Cairn has and programs see, by the type under Cairn's name.
  static let allowed: [String: Set<String>] = [
    // What a request of the class's own type is made with, as generic classes cannot be cast; a
    // program's own is preferred to it.
    "FetchRequestResult": ["fetchRequest"],
    // Apple's as well, from the user interface's part of Foundation.
    "IndexPath": ["item", "row", "section"],
  ]
  /// What Foundation asks of classes, and its key-value coding, which the ledger leaves out.
  static let foundation: Set<String> = [
    "copy", "encode", "supportsSecureCoding", "mutableSetValue", "mutableOrderedSetValue",
    "dictionaryWithValues", "setNilValueForKey", "setValuesForKeys", "value", "rawValue",
    // Apple's, of collections with predicates and sort descriptors.
    "filter", "filtered", "sort", "sortedArray",
  ]
  static let modules: Set<String> = [
    "CairnPredicates", "CairnModel", "CairnModelFiles", "CairnStore", "CairnCoordinator",
    "CairnContext", "CairnMigration", "CairnStack",
  ]
  static let sources = SourceTree.sources

  /// Apple's names of types by Cairn's.
  static let names: [String: Set<String>] = {
    let text = sources.filter { $0.target == "CoreData" }.flatMap(\.lines).joined(separator: " ")
    var names: [String: Set<String>] = [:]
    for match in text.matches(of: /public typealias (NS\w+) =\s*(?:\w+\.)*(\w+)/) {
      names[String(match.output.2), default: []].insert(String(match.output.1))
    }
    // Classes and protocols between them, whose members theirs are.
    names["ModelElement"] = []
    names["ObjectStore"] = []
    names["AnyFetchRequest"] = ["NSFetchRequest"]
    names["CoordinatorStore"] = ["NSPersistentStore"]
    // Foundation's, or of the user interface: all their members are Apple's.
    for name in [
      "DiffableDataSourceSnapshotReference", "ValueTransformerName",
      "SecureUnarchiveFromDataTransformer",
    ] { names[name] = nil }
    return names
  }()

  /// The superclass of each class.
  static let superclasses: [String: String] = {
    var result: [String: String] = [:]
    for file in sources where modules.contains(file.target) {
      // A look at the words first: expressions are slow in debug builds.
      for (_, line) in file.code where line.contains("class ") {
        if let match = line.firstMatch(of: /^(?:public |open |final )+class (\w+)(?:<.*>)?: (\w+)/)
        {
          result[String(match.output.1)] = String(match.output.2)
        }
      }
    }
    return result
  }()

  /// Apple's members by Apple's name of the type, from the ledger.
  static func ledger() throws -> [String: Set<String>] {
    let url = SourceTree.root.appendingPathComponent("Sources/CoreData/LEDGER.md")
    let text = try String(contentsOf: url, encoding: .utf8)
    var members: [String: Set<String>] = [:]
    for match in text.matches(of: /\| `(?:\w+\.)*(\w+)\.(\w+)/) {
      members[String(match.output.1), default: []].insert(String(match.output.2))
    }
    return members
  }

  /// The public members of a file that are not system programming interface.
  static func members(of file: SourceFile) -> [(type: String, name: String)] {
    var found: [(String, String)] = []
    var type = ""
    var isHidden = false
    for (_, line) in file.code {
      if !line.hasPrefix(" "), line != "}",
        let match = line.firstMatch(
          of: /^(?:@\S+ |public |open |package |final )*(?:class|extension|struct|enum) (\w+)/)
      {
        type = String(match.output.1)
        isHidden = false
        continue
      }
      if line.hasPrefix("  @"), line.contains("@_spi") { isHidden = true }
      // Cheap looks first: expressions are slow in debug builds.
      guard line.hasPrefix("  "), !line.hasPrefix("   "),
        line.contains("public ") || line.contains("open "),
        line.firstMatch(of: #/^  (?:@[\w()!]+ )*(?:public|open) /#) != nil
      else { continue }
      defer { isHidden = false }
      guard !isHidden, !line.contains("override "),
        let name = line.firstMatch(of: /\b(?:var|let|func|typealias)\s+`?(\w+)/)
      else { continue }
      found.append((type, String(name.output.1)))
    }
    return found
  }

  @Test func nothingButApplesMembersAndTheListIsVisible() throws {
    let ledger = try Self.ledger()
    var seen: [String: Set<String>] = [:]
    for file in Self.sources where Self.modules.contains(file.target) {
      for (type, name) in Self.members(of: file) where !Self.foundation.contains(name) {
        // Of Foundation's types, what they are extended with.
        let isExtended = ["Sequence", "Array", "MutableCollection", "IndexPath"].contains(type)
        guard Self.names[type] != nil || isExtended else { continue }
        var (apples, next): (Set<String>, String?) = ([], type)
        while let current = next {
          for apple in Self.names[current] ?? [] { apples.formUnion(ledger[apple] ?? []) }
          next = Self.superclasses[current]
        }
        if apples.contains(name) { continue }
        seen[type, default: []].insert(name)
        #expect(
          Self.allowed[type]?.contains(name) == true,
          "\(file.path): \(type).\(name) shows through import CoreData; make it package, or SPI")
      }
    }
    #expect(Self.names.count > 80 && Self.superclasses["ManagedObject"] == "NSObject")
    #expect((ledger["NSManagedObject"] ?? []).contains("awakeFromInsert"))
    #expect(seen == Self.allowed, "the list has members that are not there any more")
  }
}
