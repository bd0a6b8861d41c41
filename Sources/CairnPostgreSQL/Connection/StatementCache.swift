/// Which texts a session has prepared, and under which names.
struct StatementCache {
  /// More would be texts that are used once: each costs memory at the server.
  static let limit = 200

  /// A text with parameters of other types is another statement.
  struct Key: Hashable {
    let text: String
    let types: [UInt32]

    init(_ text: String, _ parameters: ParameterList) {
      self.text = text
      types = parameters.types
    }

    /// Stand for the text and the types.
    fileprivate var digits: String {
      // FNV-1a from two beginnings: the same in every process, unlike Swift's hashes.
      [UInt64(0xcbf2_9ce4_8422_2325), 0x8422_2325_cbf2_9ce4].map { start in
        var hash = text.utf8.reduce(start) { ($0 ^ UInt64($1)) &* 0x100_0000_01b3 }
        for type in types { hash = (hash ^ UInt64(type)) &* 0x100_0000_01b3 }
        return String(hash, radix: 36)
      }.joined()
    }
  }

  private struct Entry {
    let name: String
    var lastUse: Int
  }
  private var entries: [Key: Entry] = [:]
  private var uses = 0
  /// How often a text was forgotten that the server still has under its last name.
  private var forgotten: [Key: Int] = [:]

  var count: Int { entries.count }

  /// The name of a text that is prepared.
  mutating func name(of key: Key) -> String? {
    uses += 1
    entries[key]?.lastUse = uses
    return entries[key]?.name
  }

  /// A name that the session has not used.
  ///
  /// It follows from the text: should a pooler hand the session to another program, a name never means another
  /// statement there.
  func newName(of key: Key) -> String {
    let name = "cairn_\(key.digits)"
    return forgotten[key].map { "\(name)_\($0)" } ?? name
  }

  mutating func note(_ key: Key, preparedAs name: String) {
    uses += 1
    entries[key] = Entry(name: name, lastUse: uses)
  }

  mutating func forget(_ key: Key) {
    if entries.removeValue(forKey: key) != nil { forgotten[key, default: 0] += 1 }
  }

  /// Takes the texts out that were not used for the longest time, where there are too many.
  ///
  /// - Returns: The names to deallocate.
  mutating func takeSurplus() -> [String] {
    guard entries.count > Self.limit else { return [] }
    let oldest = entries.sorted { $0.value.lastUse < $1.value.lastUse }
      .prefix(entries.count - Self.limit * 3 / 4)
    for (key, _) in oldest { entries[key] = nil }
    return oldest.map(\.value.name)
  }
}
