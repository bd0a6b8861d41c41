// io.cairn.Store.Checkpoint: move the write-ahead log into the store's file.

/// Moves what is in a store's write-ahead log into its file, and empties the log.
///
/// Readers of an old state keep a part of the log in use; they are waited for a few seconds, and named
/// then.
public enum CheckpointStore: ControlMethod {
  public static let name = "io.cairn.Store.Checkpoint"
  public static let role = ControlRole.control
  public static let declarations = [
    """
    # The log beside a store: pages that were not moved into the file, and the log's size in bytes.
    type LogState (frames: int, bytes: int)
    """,
    """
    # A process that reads in the log; its program is null where it cannot be learned.
    type LogReader (process: int, program: ?string)
    """,
    """
    # Move a store's write-ahead log into its file and empty it. Readers are waited for a few seconds;
    # those that still read in it then are named, and the rest of the log stays. Role: control.
    method Checkpoint(name: ?string) -> (
      store: string,
      before: LogState,
      after: LogState,
      readers: []LogReader
    )
    """,
  ]

  public struct Parameters: Codable, Sendable, Hashable {
    /// The local store when nil.
    public var name: String?
    public init(name: String? = nil) { self.name = name }
  }

  public struct Reply: Codable, Sendable, Hashable {
    public var store: String
    public var before: LogState
    public var after: LogState
    /// Who keeps the rest from being moved; empty when all was.
    public var readers: [Reader]

    public init(store: String, before: LogState, after: LogState, readers: [Reader] = []) {
      self.store = store
      self.before = before
      self.after = after
      self.readers = readers
    }
  }

  /// How much is in a log.
  public struct LogState: Codable, Sendable, Hashable {
    /// Pages that were not moved.
    public var frames: Int
    /// Of the log's file.
    public var bytes: Int

    public init(frames: Int, bytes: Int) {
      self.frames = frames
      self.bytes = bytes
    }
  }

  /// A process that reads in a log.
  public struct Reader: Codable, Sendable, Hashable {
    public var process: Int
    public var program: String?

    public init(process: Int, program: String? = nil) {
      self.process = process
      self.program = program
    }
  }
}
