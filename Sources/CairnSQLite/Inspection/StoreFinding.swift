/// One thing that a ``StoreCheck`` found in a store's file.
///
/// It names the rule that does not hold and the place: entity, row and column as far as they are
/// known.
public struct StoreFinding: Sendable, Hashable, CustomStringConvertible {
  /// What the format asks of a file; the raw values are stable.
  public enum Rule: String, Sendable, Hashable, CaseIterable {
    /// SQLite's own `PRAGMA integrity_check`.
    case database
    /// The model asks for a table or a column that the file lacks.
    case schema
    /// `Z_PRIMARYKEY` has one row an entity, with its number and name.
    case entityNumber
    /// `Z_SUPER` is the number of the superentity, 0 for roots.
    case superNumber
    /// `Z_MAX` of a root entity is no smaller than any key of its table; subentities have 0.
    case keyCounter
    /// `Z_ENT` of a row is a concrete entity of the row's table.
    case rowEntity
    /// `Z_OPT` of a row is 1 or more.
    case rowVersion
    /// A value has the storage class of its attribute.
    case value
    /// A to-one key leads to a row of the destination.
    case reference
    /// The entity number beside a to-one key is that of the row it leads to.
    case companion
    /// The two keys of a one-to-one relationship lead to each other.
    case inverse
    /// Both ends of a row of a join table exist and are of the relationship's entities.
    case link
    /// Members of an ordered relationship have positions, each its own.
    case order
    /// External data that a row names has its file, no other row names it, and the tag is right.
    case externalData
    /// Rows differ in the values of a uniqueness constraint.
    case uniqueness
    /// Derived attributes and location indexes say what the rows say.
    case derived
    /// Rows and files of external data are as they were saved, where the file has sums of them.
    case checksum
    /// Changes, transactions and strings of persistent history belong together.
    case history
    /// `Z_METADATA` holds what a store cannot be opened without.
    case metadata
    /// `Z_MODELCACHE` holds the model that the metadata describes.
    case modelCache
  }

  /// How bad it is.
  public enum Severity: String, Sendable, Hashable {
    /// The file breaks the rule: objects may be missing, wrong or impossible to save.
    case damage
    /// Worth knowing, with nothing wrong in what is read: a file of external data that no row names,
    /// or what Apple's frameworks leave behind, such as a link to a row that is gone.
    case remark
  }

  public let rule: Rule
  public let severity: Severity
  /// The entity of the row, or the one that the finding is about.
  public let entity: String?
  /// The row's primary key.
  public let key: Int64?
  /// The table, when the finding is about one.
  public let table: String?
  public let column: String?
  /// What is wrong, in words.
  public let message: String
  /// The file of external data that is not there, or that no row names, as far as one state of a store
  /// tells that another writer may have changed meanwhile.
  let file: String?

  init(
    _ rule: Rule, as severity: Severity = .damage, entity: String? = nil, key: Int64? = nil,
    table: String? = nil, column: String? = nil, file: String? = nil, _ message: String
  ) {
    self.rule = rule
    self.severity = severity
    self.entity = entity
    self.key = key
    self.table = table
    self.column = column
    self.message = message
    self.file = file
  }

  /// The place, such as `Employee/p3 ZCOMPANY`; empty for a finding about the whole file.
  public var place: String {
    var row = entity ?? table ?? ""
    if let key { row += "/p\(key)" }
    return [row, column ?? ""].filter { !$0.isEmpty }.joined(separator: " ")
  }

  public var description: String {
    "\(rule.rawValue): \(place.isEmpty ? "" : place + ": ")\(message)"
  }
}
