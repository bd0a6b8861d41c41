// An entry in the journal's native form.
import Logging

/// Fields and bytes of one journal entry.
///
/// Always in the length form: no value can become a field.
struct SystemdJournalEntry: Sendable {
  private(set) var fields: [(name: String, value: String)] = []

  /// Adds a field, its name brought into the journal's form.
  mutating func add(_ name: String, _ value: String) {
    fields.append((Self.fieldName(name), value))
  }

  /// The entry as journald reads it.
  var bytes: [UInt8] {
    var bytes: [UInt8] = []
    for (name, value) in fields {
      bytes.append(contentsOf: name.utf8)
      bytes.append(0x0A)
      let text = Array(value.utf8)
      withUnsafeBytes(of: UInt64(text.count).littleEndian) { bytes.append(contentsOf: $0) }
      bytes.append(contentsOf: text)
      bytes.append(0x0A)
    }
    return bytes
  }

  /// `replicaKind` becomes `CAIRN_REPLICA_KIND`, `errno` stays `ERRNO`.
  static func metadataFieldName(_ key: String) -> String {
    key == "errno" ? "ERRNO" : "CAIRN_" + separated(key)
  }

  /// The journal's number for a level.
  static func priority(_ level: Logger.Level) -> Int {
    switch level {
    case .trace, .debug: 7
    case .info: 6
    case .notice: 5
    case .warning: 4
    case .error: 3
    case .critical: 2
    }
  }

  private static func separated(_ key: String) -> String {
    var result = ""
    for character in key {
      if character.isUppercase, !result.isEmpty, result.last?.isUppercase == false {
        result.append("_")
      }
      result.append(character)
    }
    return result
  }

  /// Upper case, digits and underscores, not beginning with a digit or underscore, at most 64.
  private static func fieldName(_ name: String) -> String {
    let allowed = name.unicodeScalars.map { scalar -> Character in
      let character = Character(scalar)
      guard character.isASCII, character.isLetter || character.isNumber else { return "_" }
      return Character(character.uppercased())
    }
    let trimmed = allowed.drop { $0 == "_" || $0.isNumber }.prefix(64)
    return trimmed.isEmpty ? "FIELD" : String(trimmed)
  }
}
