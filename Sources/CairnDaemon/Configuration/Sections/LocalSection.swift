// `local`: the store that applications of this machine share with the daemon.

/// The local store.
public struct LocalSection: Sendable, Hashable {
  /// What survives a power cut.
  public enum Durability: String, Sendable, Hashable, CaseIterable {
    /// Every commit.
    case full
    /// The file stays intact; the last commits may be lost.
    case normal
  }

  /// The SQLite file.
  public var path: String
  public var durability: Durability

  public init(path: String, durability: Durability = .full) {
    self.path = path
    self.durability = durability
  }

  static func read(_ reader: SectionReader) -> LocalSection? {
    let path = reader.filePath(
      reader.text("path") ?? (try? defaultPath(reader)), key: "path")
    let durability = reader.choice("durability", default: Durability.full)
    reader.finish()
    return path.map { LocalSection(path: $0, durability: durability) }
  }

  private static func defaultPath(_ reader: SectionReader) throws -> String {
    try reader.expanded("${STATE_DIRECTORY}/local.sqlite")
  }
}
