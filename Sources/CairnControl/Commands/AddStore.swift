// io.cairn.Store.Add: a new replica while the daemon runs.

/// Adds a replica.
///
/// Returns at once; opening, migrating and the first sync show in the status.
///
/// Adding a store that exists with the same settings succeeds and changes nothing.
public enum AddStore: ControlMethod {
  public static let name = "io.cairn.Store.Add"
  public static let role = ControlRole.control
  public static let declarations = [
    StoreDescription.declaration,
    """
    # Add a replica and return at once; GetStatus shows how it comes along. Adding a store that
    # exists with the same settings succeeds with added false. The location of type sqlite is the path of
    # a file, that of type postgresql a connection URL or libpq's settings without a password; schema and
    # credential are for the latter: the schema that the store is (cairn), and the systemd credential with
    # the password. Role: control.
    method Add(
      name: string,
      type: string,
      location: string,
      direction: ?(both, push, pull),
      schema: ?string,
      credential: ?string
    ) -> (store: Store, added: bool)
    """,
  ]

  public struct Parameters: Codable, Sendable, Hashable {
    /// Letters, digits, `.`, `_` and `-`; at most 64.
    public var name: String
    public var type: String
    /// An absolute path for a file store; a connection URL or libpq's settings for a PostgreSQL store.
    public var location: String
    /// `both` when nil.
    public var direction: ReplicaStatus.Direction?
    /// The schema of a PostgreSQL store; `cairn` when nil.
    public var schema: String?
    /// The systemd credential with the password for a PostgreSQL server.
    public var credential: String?

    public init(
      name: String, type: String, location: String, direction: ReplicaStatus.Direction? = nil,
      schema: String? = nil, credential: String? = nil
    ) {
      self.name = name
      self.type = type
      self.location = location
      self.direction = direction
      self.schema = schema
      self.credential = credential
    }
  }

  public struct Reply: Codable, Sendable, Hashable {
    public var store: StoreDescription
    /// False when the same store was there already.
    public var added: Bool

    public init(store: StoreDescription, added: Bool) {
      self.store = store
      self.added = added
    }
  }
}
