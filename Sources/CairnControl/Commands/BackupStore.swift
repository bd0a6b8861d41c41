// io.cairn.Store.Backup: a copy that can be put in the store's place.

/// Copies a store while it is open and in use, and checks the copy.
///
/// The copy stands in a new folder below the one that the configuration names; nothing is ever written
/// over, and what fails leaves nothing.
public enum BackupStore: ControlMethod {
  public static let name = "io.cairn.Store.Backup"
  public static let role = ControlRole.control
  public static let declarations = [
    StoreCopyProgress.declaration,
    """
    # Copy a store while it is open and check the copy, in a new folder below the configured one; path is
    # the copy's on the daemon's machine. With more, replies come meanwhile that hold progress; their other
    # values are those of no backup so far. The last has none. Role: control.
    method Backup(name: ?string, label: ?string) -> (
      store: string,
      path: string,
      bytes: int,
      records: int,
      lastTransaction: ?int,
      progress: ?StoreCopyProgress
    )
    """,
  ]

  public struct Parameters: Codable, Sendable, Hashable {
    /// The local store when nil.
    public var name: String?
    /// The name of the new folder; made of the store's name and the time when nil.
    public var label: String?

    public init(name: String? = nil, label: String? = nil) {
      self.name = name
      self.label = label
    }
  }

  public struct Reply: Codable, Sendable, Hashable {
    public var store: String
    /// The copy's file.
    public var path: String
    /// Of the file, without external data.
    public var bytes: Int
    /// Rows of all entities.
    public var records: Int
    /// The newest transaction that is in it.
    public var lastTransaction: Int?
    /// Nil in the last reply.
    public var progress: StoreCopyProgress?

    public init(
      store: String, path: String, bytes: Int, records: Int, lastTransaction: Int? = nil,
      progress: StoreCopyProgress? = nil
    ) {
      self.progress = progress
      self.store = store
      self.path = path
      self.bytes = bytes
      self.records = records
      self.lastTransaction = lastTransaction
    }
  }
}
