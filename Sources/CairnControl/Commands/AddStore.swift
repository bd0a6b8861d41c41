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
    # the password. entities are those that it has, with their subentities (all); migrate whether a store of an
    # older version of the model is brought to this one (true); required whether a start waits for it (false).
    # A caller with the role control may name files below the folders of the configured stores and of
    # control.storeFolders. Role: control.
    method Add(
      name: string,
      type: string,
      location: string,
      direction: ?(both, push, pull),
      schema: ?string,
      credential: ?string,
      entities: ?[]string,
      migrate: ?bool,
      required: ?bool
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
    /// The entities that it has, with their subentities; all of them when nil.
    public var entities: [String]?
    /// Whether a store of an older version of the model is brought to this one; true when nil.
    public var migrate: Bool?
    /// Whether a start of the daemon waits for it; false when nil.
    public var required: Bool?

    public init(
      name: String, type: String, location: String, direction: ReplicaStatus.Direction? = nil,
      schema: String? = nil, credential: String? = nil, entities: [String]? = nil,
      migrate: Bool? = nil, required: Bool? = nil
    ) {
      self.name = name
      self.type = type
      self.location = location
      self.direction = direction
      self.schema = schema
      self.credential = credential
      self.entities = entities
      self.migrate = migrate
      self.required = required
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
