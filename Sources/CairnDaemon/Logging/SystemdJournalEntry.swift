// An entry in the journal's terms.
import Foundation
import Logging

/// The fields of one journal entry.
struct SystemdJournalEntry: Sendable {
  private(set) var fields: [(name: String, value: String)] = []

  /// Adds a field, its name brought into the journal's form.
  mutating func add(_ name: String, _ value: String) {
    fields.append((Self.fieldName(name), value))
  }

  /// Calls `body` with the fields as libsystemd takes them, `NAME=value` each, whose memory is there for that long.
  ///
  /// No value can become a field: libsystemd sends one that has line breaks with its length.
  func withFields<Result>(_ body: (UnsafeBufferPointer<iovec>) -> Result) -> Result {
    var bytes: [UInt8] = []
    let ends = fields.map { name, value in
      bytes.append(contentsOf: "\(name)=\(value)".utf8)
      return bytes.count
    }
    return bytes.withUnsafeMutableBytes { bytes in
      let parts = zip([0] + ends, ends).map { start, end in
        iovec(iov_base: bytes.baseAddress.map { $0 + start }, iov_len: end - start)
      }
      return parts.withUnsafeBufferPointer(body)
    }
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
