import CairnModel

// How Apple derives SQL names from model names.

package enum SQLNaming {
  /// Whether a name can stand in SQL as it is.
  ///
  /// Letters, digits and underscores, as Core Data asks of the names in a model. Those in a file can
  /// be any.
  package static func isPlain(_ name: String) -> Bool {
    guard let first = name.unicodeScalars.first, !("0"..."9").contains(first) else { return false }
    return name.unicodeScalars.allSatisfy { scalar in
      !scalar.isASCII || scalar == "_" || ("0"..."9").contains(scalar)
        || ("a"..."z").contains(scalar) || ("A"..."Z").contains(scalar)
    }
  }

  /// A name of any letters as SQL has it.
  package static func quoted(_ name: String) -> String {
    isPlain(name) ? name : "\"" + name.replacing("\"", with: "\"\"") + "\""
  }

  static func column(_ property: String) -> String { "Z" + property.uppercased() }
  static func table(_ entity: EntityDescription) -> String {
    "Z" + (entity.name ?? "").uppercased()
  }

  /// The declared type of an attribute's column.
  static func declaredType(_ type: AttributeType) -> String {
    switch type {
    case .integer16, .integer32, .integer64, .boolean, .objectID: return "INTEGER"
    case .decimal: return "DECIMAL"
    case .double, .float: return "FLOAT"
    case .date: return "TIMESTAMP"
    case .string, .uri: return "VARCHAR"
    case .uuid, .binaryData, .transformable, .undefined, .composite: return "BLOB"
    }
  }

  /// The position of an attribute's column among the groups of a table.
  static func group(_ type: AttributeType) -> Int {
    switch type {
    case .integer16, .integer32, .integer64, .boolean, .objectID: return 0
    case .date, .double, .float: return 2
    case .decimal: return 3
    case .string: return 4
    case .uri: return 5
    case .uuid: return 6
    case .transformable: return 7
    case .binaryData, .undefined, .composite: return 8
    }
  }
}

/// Hands out names that are unique within one table; a repeated one gets a number from 1.
struct SQLNameAllocator {
  private var counts: [String: Int] = [:]
  private var taken: Set<String>

  init(taken: Set<String> = []) { self.taken = taken }

  mutating func unique(_ name: String) -> String {
    if taken.insert(name).inserted { return name }
    var count = counts[name] ?? 0
    var candidate: String
    repeat {
      count += 1
      candidate = "\(name)\(count)"
    } while !taken.insert(candidate).inserted
    counts[name] = count
    return candidate
  }
}
