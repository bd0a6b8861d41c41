// Names that files of stores cannot have.

enum StorePath {
  /// What SQLite adds to a store's name for files of its own, which a store must not take the place of.
  private static let companions = ["-wal", "-shm", "-journal"]

  /// What keeps a file of this path from being a store's; nil when nothing does.
  static func problem(_ path: String) -> String? {
    companions.first(where: path.hasSuffix).map {
      "SQLite keeps files whose names end in \"\($0)\" beside stores"
    }
  }
}
