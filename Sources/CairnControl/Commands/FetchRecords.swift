// io.cairn.Data.Fetch: read records.

/// Streams the records of an entity that a predicate accepts, in batches.
///
/// A row has `id` (the record ID), `entity` and one member a property. Relationships are record IDs:
/// one, null, or an array. Key paths in `properties` (`maintainer.name`) become members too.
public enum FetchRecords: ControlMethod {
  public static let name = "io.cairn.Data.Fetch"
  public static let role = ControlRole.status
  public static let isStreaming = true
  public static let declarations = [
    """
    # Read records. Needs more: rows come in batches, the names of their members with the first.
    # The predicate is in Core Data's format language; sort keys have a "-" in front for
    # descending order. Without sort rows come by their numbers, and last is that of the batch's last row:
    # a stream that was cut goes on with after. Role: status.
    method Fetch(
      entity: string,
      predicate: ?string,
      sort: ?[]string,
      properties: ?[]string,
      limit: ?int,
      offset: ?int,
      store: ?string,
      after: ?int
    ) -> (properties: ?[]string, rows: []object, last: ?int)
    """
  ]

  public struct Parameters: Codable, Sendable, Hashable {
    public var entity: String
    /// A predicate in Core Data's format language, without `%` arguments.
    public var predicate: String?
    /// Key paths, each with a `-` in front for descending order.
    public var sort: [String]?
    /// Properties and to-one key paths to give; all properties of the entity when nil.
    public var properties: [String]?
    public var limit: Int?
    public var offset: Int?
    /// Read from this store only; the local one when nil.
    public var store: String?
    /// Only rows with a larger number, as ``Reply/last`` gives it; not with a sort order or an offset.
    ///
    /// What others have added meanwhile comes, too; what they have changed before that place does not.
    public var after: Int?

    public init(
      entity: String, predicate: String? = nil, sort: [String]? = nil, properties: [String]? = nil,
      limit: Int? = nil, offset: Int? = nil, store: String? = nil, after: Int? = nil
    ) {
      self.after = after
      self.entity = entity
      self.predicate = predicate
      self.sort = sort
      self.properties = properties
      self.limit = limit
      self.offset = offset
      self.store = store
    }
  }

  public struct Reply: Codable, Sendable, Hashable {
    /// The names of the members in the model's order; in the first reply only.
    public var properties: [String]?
    public var rows: [[String: JSONValue]]
    /// The number of the last row, from where ``Parameters/after`` goes on; nil for sorted rows.
    public var last: Int?

    public init(properties: [String]? = nil, rows: [[String: JSONValue]], last: Int? = nil) {
      self.last = last
      self.properties = properties
      self.rows = rows
    }
  }
}
