import CairnModel

/// A capability of a store: it can say how it would run a fetch.
///
/// A store without it is taken to read all rows of the entity and to do the rest in memory.
public protocol FetchExplaining: AnyObject, Sendable {
  /// How the request would run; nothing is fetched.
  ///
  /// - Throws: What ``PersistentStore/fetch(_:)`` throws for the request.
  func explain(_ request: StoreFetchRequest) throws -> StoreFetchExplanation
}

/// How one store runs a fetch: what it asks its database, and what is left for memory.
public struct StoreFetchExplanation: Sendable, Hashable {
  /// One statement the store sends to its database.
  public struct Statement: Sendable, Hashable {
    public let sql: String
    /// The values of the statement's parameters, in order.
    public let parameters: [AttributeValue]
    /// The database's own account of its plan, a line a step.
    public let queryPlan: [String]
    /// The indexes the plan uses, each once.
    public let indexes: [String]

    public init(
      sql: String, parameters: [AttributeValue], queryPlan: [String], indexes: [String]
    ) {
      self.sql = sql
      self.parameters = parameters
      self.queryPlan = queryPlan
      self.indexes = indexes
    }
  }

  public let storeType: String
  public let storeIdentifier: String
  /// Empty for stores that have no database.
  public var statements: [Statement] = []
  /// The part of the predicate that is tested in memory, row by row; nil for none.
  public var predicateInMemory: String?
  /// The sort descriptors that are applied in memory, all of them or none.
  public var sortInMemory: [String] = []
  /// Whether limit and offset wait for what memory does.
  public var limitsInMemory = false
  /// Whether columns, groups and aggregates of dictionaries are made in memory.
  public var makesDictionariesInMemory = false

  public init(storeType: String, storeIdentifier: String) {
    self.storeType = storeType
    self.storeIdentifier = storeIdentifier
  }

  /// What a store does that keeps its rows in memory.
  public init(inMemory request: StoreFetchRequest, type: String, identifier: String) {
    self.init(storeType: type, storeIdentifier: identifier)
    predicateInMemory = request.predicate?.predicateFormat
    sortInMemory = request.sortDescriptors.map(\.description)
    limitsInMemory = request.limit > 0 || request.offset > 0
    if case .dictionaries = request.result { makesDictionariesInMemory = true }
  }

  /// Whether the store's database does all the work.
  public var isCompleteInDatabase: Bool {
    !statements.isEmpty && predicateInMemory == nil && sortInMemory.isEmpty && !limitsInMemory
      && !makesDictionariesInMemory
  }
}

extension StoreFetchExplanation: CustomStringConvertible {
  /// Several lines for people.
  public var description: String {
    var lines = ["store: \(storeType) \(storeIdentifier)"]
    for statement in statements {
      lines.append("  sql: \(statement.sql)")
      for (index, parameter) in statement.parameters.enumerated() {
        lines.append("    ?\(index + 1) = \(Self.text(of: parameter))")
      }
      lines += statement.queryPlan.map { "    plan: \($0)" }
      for index in statement.indexes { lines.append("    index: \(index)") }
    }
    var memory: [String] = []
    if let predicateInMemory { memory.append("predicate \(predicateInMemory)") }
    if !sortInMemory.isEmpty { memory.append("sort " + sortInMemory.joined(separator: ", ")) }
    if makesDictionariesInMemory { memory.append("columns and groups") }
    if limitsInMemory { memory.append("limit and offset") }
    lines.append("  in memory: " + (memory.isEmpty ? "nothing" : memory.joined(separator: "; ")))
    return lines.joined(separator: "\n")
  }

  private static func text(of value: AttributeValue) -> String {
    switch value {
    case .null: return "NULL"
    case .boolean(let flag): return flag ? "1" : "0"
    case .integer(let number): return "\(number)"
    case .float(let number): return "\(number)"
    case .double(let number): return "\(number)"
    case .decimal(let number): return "\(number)"
    case .string(let text): return "'\(text.prefix(200))'"
    case .date(let date): return "\(date.timeIntervalSinceReferenceDate)"
    case .data(let data): return "\(data.count) bytes"
    case .uuid(let uuid): return uuid.uuidString
    case .url(let url): return url.absoluteString
    case .object(let id): return id.description
    }
  }
}
