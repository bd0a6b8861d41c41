// io.cairn.Data.Import: many rows, batch by batch.

/// Takes one batch of rows of a longer import; each batch is saved as one transaction.
///
/// Varlink has no stream from client to daemon, so an import is a series of calls on one connection,
/// each after the answer to the one before: what follows a bad row is then never saved. A row that is longer
/// than a call may be comes in parts, in calls that save nothing, before the one that takes it. A row
/// is an object of property values. A relationship's value is a record ID, null, an array, or an
/// object of attribute values that names the destination: the one record that has them, made when
/// there is none and `createMissing` is true.
public enum ImportRecords: ControlMethod {
  public static let name = "io.cairn.Data.Import"
  public static let role = ControlRole.control
  public static let declarations = [
    """
    # Take one batch of rows, as one transaction. A longer import is a series of calls on one
    # connection. lines holds the line of each row in its file, for messages. Rows whose key
    # properties are found update that record. A relationship's value may be an object of
    # attribute values that names the destination. One row that no call holds comes in calls with part, a piece
    # of its JSON text, and without rows or lines: the next call, on the same connection, with one line and no
    # row takes it. Role: control.
    method Import(
      entity: string,
      rows: []object,
      lines: []int,
      key: ?[]string,
      createMissing: ?bool,
      author: ?string,
      part: ?string
    ) -> (inserted: int, updated: int, unchanged: int, created: int)
    """
  ]

  public struct Parameters: Codable, Sendable, Hashable {
    public var entity: String
    public var rows: [[String: JSONValue]]
    /// The line of each row in the file, from 1, for messages; same count as `rows`.
    public var lines: [Int]
    /// Properties that identify a record: a row whose values are found updates it.
    ///
    /// Always inserts when nil.
    public var key: [String]?
    /// Make destinations that are named and not there; true when nil.
    public var createMissing: Bool?
    /// The author in the history; `cairnctl` when nil.
    public var author: String?
    /// A piece of the text of a row that is longer than a call may be; nothing is saved then.
    public var part: String?

    public init(
      entity: String, rows: [[String: JSONValue]], lines: [Int], key: [String]? = nil,
      createMissing: Bool? = nil, author: String? = nil, part: String? = nil
    ) {
      self.part = part
      self.entity = entity
      self.rows = rows
      self.lines = lines
      self.key = key
      self.createMissing = createMissing
      self.author = author
    }
  }

  public struct Reply: Codable, Sendable, Hashable {
    public var inserted: Int
    public var updated: Int
    /// Rows that were there already just so.
    public var unchanged: Int
    /// Destinations of relationships that were made on the way.
    public var created: Int

    public init(inserted: Int, updated: Int, unchanged: Int, created: Int) {
      self.inserted = inserted
      self.updated = updated
      self.unchanged = unchanged
      self.created = created
    }
  }
}
