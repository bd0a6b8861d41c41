// io.cairn.Store.Restore: a backup back in the place of the local store.

/// Puts a backup in the place of the local store, while the daemon runs.
///
/// The backup is read and checked first; what was there is kept as another backup. Sync notices that the
/// store went back in time: what replicas have that is newer comes back from them, and nothing is lost.
public enum RestoreStore: ControlMethod {
  public static let name = "io.cairn.Store.Restore"
  public static let role = ControlRole.control
  public static let declarations = [
    StoreCopyProgress.declaration,
    """
    # What a store holds: records of all entities, and the newest transaction with its time.
    type StoreContent (records: int, bytes: int, lastTransaction: ?int, newest: ?string)
    """,
    """
    # A replica that brings back what is newer; behind are transactions that it lacks, null when that is
    # not known.
    type Bringer (name: string, behind: ?int)
    """,
    """
    # Put a backup in the place of the local store. backup is the name of a folder in the configured
    # one, or a path in there. It is checked first; what was there is kept as a backup of its own, whose
    # file is kept. With dryRun it is only checked. current is null when the store that is there cannot
    # be read. With more, replies come meanwhile that hold progress and whose content is empty; the last
    # has none. Role: control.
    method Restore(backup: string, dryRun: ?bool) -> (
      path: string,
      content: StoreContent,
      current: ?StoreContent,
      migrates: bool,
      kept: ?string,
      bringers: []Bringer,
      progress: ?StoreCopyProgress
    )
    """,
  ]

  public struct Parameters: Codable, Sendable, Hashable {
    public var backup: String
    /// False when nil.
    public var dryRun: Bool?

    public init(backup: String, dryRun: Bool? = nil) {
      self.backup = backup
      self.dryRun = dryRun
    }
  }

  public struct Reply: Codable, Sendable, Hashable {
    /// The backup's file.
    public var path: String
    public var content: Content
    /// What is, or was, there; nil when it cannot be read.
    public var current: Content?
    /// The backup was made with another version of the model.
    public var migrates: Bool
    /// The file that holds what was there; nil when nothing was done, or nothing was there.
    public var kept: String?
    public var bringers: [Bringer]
    /// Nil in the last reply.
    public var progress: StoreCopyProgress?

    public init(
      path: String, content: Content, current: Content? = nil, migrates: Bool = false,
      kept: String? = nil, bringers: [Bringer] = [], progress: StoreCopyProgress? = nil
    ) {
      self.progress = progress
      self.path = path
      self.content = content
      self.current = current
      self.migrates = migrates
      self.kept = kept
      self.bringers = bringers
    }
  }

  /// What a store holds.
  public struct Content: Codable, Sendable, Hashable {
    /// Rows of all entities.
    public var records: Int
    /// Of the file, without external data.
    public var bytes: Int
    public var lastTransaction: Int?
    public var newest: WireDate?

    public init(
      records: Int, bytes: Int, lastTransaction: Int? = nil, newest: WireDate? = nil
    ) {
      self.records = records
      self.bytes = bytes
      self.lastTransaction = lastTransaction
      self.newest = newest
    }
  }

  /// A replica that brings back what is newer.
  public struct Bringer: Codable, Sendable, Hashable {
    public var name: String
    /// Transactions that it lacks; nil when that is not known.
    public var behind: Int?

    public init(name: String, behind: Int? = nil) {
      self.name = name
      self.behind = behind
    }
  }
}
