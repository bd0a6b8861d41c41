import CairnStore

/// Names and texts as parts of statements that take no parameters.
enum SQLText {
  /// A name in quotes, whatever it contains: every name in a statement goes through here.
  static func name(_ name: String) -> String {
    "\"" + name.replacing("\0", with: "").replacing("\"", with: "\"\"") + "\""
  }

  static func name(_ schema: String, _ name: String) -> String {
    self.name(schema) + "." + self.name(name)
  }

  /// A text in quotes; backslashes mean nothing, as `SessionSetup` sees to.
  static func literal(_ text: String) -> String {
    "'" + text.replacing("\0", with: "").replacing("'", with: "''") + "'"
  }
}

/// The name of the schema that a store is.
package struct SchemaName: Sendable, Hashable, CustomStringConvertible {
  /// The server cuts longer names off.
  static let longest = 63

  package let text: String

  /// - Throws: 134080 for what is no name of a schema that a store may be.
  package init(_ text: String) throws {
    guard !text.isEmpty, text.utf8.count <= Self.longest, !text.utf8.contains(0),
      !text.lowercased().hasPrefix("pg_"), text.lowercased() != "information_schema"
    else {
      throw CoreDataError(
        .persistentStoreOpen,
        "\"\(text.prefix(80))\" cannot be the schema of a store: a name has 1 to \(Self.longest) bytes, and those that "
          + "begin with pg_ are the server's. Name another schema.")
    }
    self.text = text
  }

  package var description: String { text }
  var quoted: String { SQLText.name(text) }
}

/// Turns names of a model into names that people write in SQL: `firstName` becomes `first_name`.
enum ReadableName {
  /// Letters and digits of the name in lower case, with underscores between its words.
  static func of(_ name: String) -> String {
    let scalars = Array(name.precomposedStringWithCanonicalMapping.unicodeScalars)
    var result = ""
    for (index, scalar) in scalars.enumerated() {
      guard scalar.properties.isAlphabetic || scalar.properties.numericType != nil else {
        if !result.hasSuffix("_") { result += "_" }
        continue
      }
      if scalar.properties.isUppercase, index > 0, !result.hasSuffix("_") {
        let previous = scalars[index - 1]
        let next = index + 1 < scalars.count ? scalars[index + 1] : nil
        // A word begins, or the last letter of an abbreviation does: URLString is url_string.
        if !previous.properties.isUppercase || next?.properties.isLowercase == true {
          result += "_"
        }
      }
      result += scalar.properties.lowercaseMapping
    }
    return result.isEmpty || result == "_" ? "unnamed" : result
  }
}

/// Hands out names that are unique among those of one table, or among the tables of a schema, and no longer than the
/// server keeps them.
struct NameAllocator {
  private var taken: Set<String>

  init(taken: Set<String> = []) { self.taken = taken }

  /// Takes a name that a store has already.
  mutating func reserve(_ name: String) { taken.insert(name) }

  mutating func unique(_ name: String) -> String {
    var candidate = Self.shortened(name, to: SchemaName.longest)
    var number = 1
    while !taken.insert(candidate).inserted {
      number += 1
      let ending = "_\(number)"
      candidate = Self.shortened(name, to: SchemaName.longest - ending.utf8.count) + ending
    }
    return candidate
  }

  /// A name that is too long ends in digits that stand for all of it, so that two long names that begin alike differ.
  private static func shortened(_ name: String, to limit: Int) -> String {
    if name.utf8.count <= limit { return name }
    // FNV-1a: the same in every process, unlike Swift's hashes.
    let hash = name.utf8.reduce(UInt32(2_166_136_261)) { ($0 ^ UInt32($1)) &* 16_777_619 }
    let digits = String(hash, radix: 16)
    let ending = "_" + String(repeating: "0", count: 8 - digits.count) + digits
    var start = ""
    for scalar in name.unicodeScalars {
      if start.utf8.count + scalar.utf8.count + ending.utf8.count > limit { break }
      start.unicodeScalars.append(scalar)
    }
    return start + ending
  }
}
