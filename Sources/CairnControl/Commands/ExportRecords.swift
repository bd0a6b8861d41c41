// io.cairn.Data.Export: several reads of one moment.

/// Streams what several fetches find, all of them in the store as it was when the first began.
///
/// Writers go on meanwhile, and nothing of what they commit is seen. Rows are as those of ``FetchRecords``,
/// but for `id` and references: these are names that hold within this export, since the record of an ID can be
/// gone before the export ends.
public enum ExportRecords: ControlMethod {
  public static let name = "io.cairn.Data.Export"
  public static let role = ControlRole.status
  public static let isStreaming = true
  public static let declarations = [
    """
    # One read of an export, with the parameters of Fetch. With records each row has the member record, the
    # record's ID in all stores.
    type ExportFetch (
      entity: string,
      predicate: ?string,
      sort: ?[]string,
      properties: ?[]string,
      records: ?bool
    )
    """,
    """
    # Read records at one moment. Needs more: the rows of the fetches in their order, in batches; fetch is the
    # number of the one that they are of, from 0. Each has one batch at least, which names the members. A
    # store in a file must keep a write-ahead log. Role: status.
    method Export(fetches: []ExportFetch, store: ?string) -> (
      fetch: ?int,
      properties: ?[]string,
      rows: []object
    )
    """,
  ]

  public struct Parameters: Codable, Sendable, Hashable {
    public var fetches: [Fetch]
    /// Read from this store only; the local one when nil.
    public var store: String?

    public init(fetches: [Fetch], store: String? = nil) {
      self.fetches = fetches
      self.store = store
    }
  }

  public struct Fetch: Codable, Sendable, Hashable {
    public var entity: String
    public var predicate: String?
    public var sort: [String]?
    public var properties: [String]?
    /// Whether rows have the record's ID in all stores; false when nil.
    public var records: Bool?

    public init(
      entity: String, predicate: String? = nil, sort: [String]? = nil, properties: [String]? = nil,
      records: Bool? = nil
    ) {
      self.entity = entity
      self.predicate = predicate
      self.sort = sort
      self.properties = properties
      self.records = records
    }
  }

  public struct Reply: Codable, Sendable, Hashable {
    /// The fetch that the rows are of; nil in the last reply, which has none.
    public var fetch: Int?
    public var properties: [String]?
    public var rows: [[String: JSONValue]]

    public init(fetch: Int? = nil, properties: [String]? = nil, rows: [[String: JSONValue]]) {
      self.fetch = fetch
      self.properties = properties
      self.rows = rows
    }
  }
}
