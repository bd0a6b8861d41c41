// io.cairn.Data.Save: one atomic set of changes.

/// Inserts, updates and deletes records, all or none.
///
/// Attribute values follow the wire rules. A relationship's value is a record ID, null, an array of
/// record IDs, or `#label` for an insert of the same call.
public enum SaveRecords: ControlMethod {
  public static let name = "io.cairn.Data.Save"
  public static let role = ControlRole.control
  public static let declarations = [
    """
    # A label is a name for references within the same call: "#label" as a relationship's value.
    type Insert (entity: string, values: [string]object, label: ?string)
    """,
    """
    type Update (entity: string, id: string, values: [string]object)
    """,
    """
    type Delete (entity: string, id: string)
    """,
    """
    # Save one atomic set of changes. Answers the record IDs of the inserts, and the token of the local store's
    # history that holds them: io.cairn.Sync.Wait takes it. Role: control.
    method Save(
      inserts: ?[]Insert,
      updates: ?[]Update,
      deletes: ?[]Delete,
      author: ?string
    ) -> (inserted: []string, updated: int, deleted: int, token: ?string)
    """,
  ]

  public struct Parameters: Codable, Sendable, Hashable {
    public var inserts: [Insert]?
    public var updates: [Update]?
    public var deletes: [Delete]?
    /// The author in the history; `cairnctl` when nil.
    public var author: String?

    public init(
      inserts: [Insert]? = nil, updates: [Update]? = nil, deletes: [Delete]? = nil,
      author: String? = nil
    ) {
      self.inserts = inserts
      self.updates = updates
      self.deletes = deletes
      self.author = author
    }
  }

  public struct Insert: Codable, Sendable, Hashable {
    public var entity: String
    public var values: [String: JSONValue]
    /// A name for references within this call, without the `#`.
    public var label: String?

    public init(entity: String, values: [String: JSONValue], label: String? = nil) {
      self.entity = entity
      self.values = values
      self.label = label
    }
  }

  public struct Update: Codable, Sendable, Hashable {
    public var entity: String
    public var id: String
    public var values: [String: JSONValue]

    public init(entity: String, id: String, values: [String: JSONValue]) {
      self.entity = entity
      self.id = id
      self.values = values
    }
  }

  public struct Delete: Codable, Sendable, Hashable {
    public var entity: String
    public var id: String

    public init(entity: String, id: String) {
      self.entity = entity
      self.id = id
    }
  }

  public struct Reply: Codable, Sendable, Hashable {
    /// The record IDs of the inserts, in their order.
    public var inserted: [String]
    public var updated: Int
    public var deleted: Int
    /// Where the local store's history holds the changes, as ``WaitForSync`` takes it.
    public var token: String?

    public init(inserted: [String], updated: Int, deleted: Int, token: String? = nil) {
      self.inserted = inserted
      self.updated = updated
      self.deleted = deleted
      self.token = token
    }
  }
}
