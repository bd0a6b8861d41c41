import CairnModel
import CairnPredicates

/// A fetch as it crosses to a store: only values and frozen descriptions.
public struct StoreFetchRequest: Sendable {
  /// What comes back for each match.
  public enum Result: Sendable {
    /// Rows; a store that reads them one by one may answer with object IDs.
    case snapshots
    case objectIDs
    case count
    case dictionaries(DictionaryColumns)
  }

  /// The shape of a dictionary fetch.
  public struct DictionaryColumns: Sendable {
    /// One column: the key of the result, and what it holds.
    public struct Column: Sendable {
      public let key: String
      public let expression: ObjectExpression
      public let type: AttributeType
      public init(key: String, expression: ObjectExpression, type: AttributeType) {
        self.key = key
        self.expression = expression
        self.type = type
      }
    }
    public var columns: [Column]
    public var groupBy: [ObjectExpression]
    public var having: ObjectPredicate?
    public var distinct: Bool
    public init(
      columns: [Column], groupBy: [ObjectExpression] = [], having: ObjectPredicate? = nil,
      distinct: Bool = false
    ) {
      self.columns = columns
      self.groupBy = groupBy
      self.having = having
      self.distinct = distinct
    }
  }

  /// A row's place in the order of a fetch, to go on behind it: an offset would pass over all rows before it.
  package struct Place: Sendable {
    /// The row's value for each sort descriptor; the key for the order of objects themselves.
    package var values: [AttributeValue]
    /// The row's key, by which rows with equal values come.
    package var key: Int64

    package init(values: [AttributeValue], key: Int64) {
      self.values = values
      self.key = key
    }
  }

  public var entity: EntityDescription
  public var includesSubentities: Bool
  public var predicate: ObjectPredicate?
  public var sortDescriptors: [ObjectSortDescriptor]
  /// 0 means no limit.
  public var limit: Int
  public var offset: Int
  public var result: Result
  /// Only the rows behind this one: of a SQL store, in an order that it makes itself.
  package var place: Place?
  /// Told of each row, and asked whether to go on.
  public var monitor: FetchMonitor?

  public init(
    entity: EntityDescription, includesSubentities: Bool = true,
    predicate: ObjectPredicate? = nil, sortDescriptors: [ObjectSortDescriptor] = [],
    limit: Int = 0, offset: Int = 0, result: Result = .snapshots
  ) {
    self.entity = entity
    self.includesSubentities = includesSubentities
    self.predicate = predicate
    self.sortDescriptors = sortDescriptors
    self.limit = limit
    self.offset = offset
    self.result = result
  }
}
