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
  }

  private struct Entry {
    let name: String
    var lastUse: Int
  }
  private var entries: [Key: Entry] = [:]
  private var uses = 0
  private var names = 0

  var count: Int { entries.count }

  /// The name of a text that is prepared.
  mutating func name(of key: Key) -> String? {
    uses += 1
    entries[key]?.lastUse = uses
    return entries[key]?.name
  }

  /// A name that the session has not used.
  mutating func newName() -> String {
    names += 1
    return "cairn_\(names)"
  }

  mutating func note(_ key: Key, preparedAs name: String) {
    uses += 1
    entries[key] = Entry(name: name, lastUse: uses)
  }

  mutating func forget(_ key: Key) { entries[key] = nil }

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
