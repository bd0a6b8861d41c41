import CairnModel

/// What a derived attribute is computed from, as far as a SQL store understands it.
package enum SQLDerivation: Sendable {
  /// The number of members of a to-many relationship.
  case count(SQLLink)
  /// An aggregate of a column of the members, whose table is named: `sum`, `min`, `max` or `avg`.
  case aggregate(String, SQLLink, members: String, column: String)
  /// The value of a column of the destination of a to-one relationship.
  case toOne(key: String, table: String, column: String)
  /// The value of a column of the same row.
  case copy(column: String)
  /// A column of the same row, folded by one of the SQL functions Cairn registers.
  case folded(function: String, column: String)
  /// The time of the save.
  case now

  /// Nil when Cairn cannot maintain the attribute; its value then stays as it is.
  package init?(_ attribute: DerivedAttributeDescription, of entity: SQLEntity, schema: SQLSchema) {
    // A predicate that limits the members is a private thing; triggers that obey it stay in a file.
    guard attribute.filteringPredicate == nil,
      let expression = attribute.derivationExpression?.node
    else { return nil }
    switch expression {
    case .keyPath(let path):
      self.init(path: path, of: entity, schema: schema)
    case .function(.count, let arguments):
      guard case .keyPath(let path)? = arguments.first else { return nil }
      self.init(path: path + ".@count", of: entity, schema: schema)
    case .function(.now, _):
      self = .now
    case .function(let function, let arguments):
      guard case .keyPath(let path)? = arguments.first else { return nil }
      self.init(function: function, path: path, of: entity, schema: schema)
    case .constant, .evaluatedObject, .variable, .keyPathOf, .element, .cast, .message,
      .setOperation, .subquery, .aggregate, .anyKey, .block, .conditional, .assignment, .fetch:
      return nil
    }
  }

  private init?(path: String, of entity: SQLEntity, schema: SQLSchema) {
    let parts = path.split(separator: ".").map(String.init)
    if parts.count == 1, let column = SQLIndexes.column(parts[0], of: entity) {
      self = .copy(column: column)
      return
    }
    guard parts.count >= 2 else { return nil }
    if let index = entity.layout.toManyByName[parts[0]] {
      let link = entity.links[index]
      if parts[1] == "@count" {
        self = .count(link)
        return
      }
      guard parts.count == 3, let function = Self.aggregates[parts[1]],
        let destination = entity.layout.toManys[index].destinationEntity,
        let column = SQLIndexes.column(parts[2], of: schema.entity(destination))
      else { return nil }
      self = .aggregate(
        function, link, members: schema.entity(destination).table, column: column)
      return
    }
    guard parts.count == 2, let slot = entity.layout.slotByName[parts[0]],
      case .toOne(let key, _, let number) = entity.slots[slot],
      let destination = schema.entity(number: number),
      let column = SQLIndexes.column(parts[1], of: destination)
    else { return nil }
    self = .toOne(key: key, table: destination.table, column: column)
  }

  private init?(
    function: PredicateFunction, path: String, of entity: SQLEntity, schema: SQLSchema
  ) {
    if let name = Self.foldings[function], let column = SQLIndexes.column(path, of: entity) {
      self = .folded(function: name, column: column)
      return
    }
    let parts = path.split(separator: ".").map(String.init)
    guard parts.count == 2, let name = Self.functions[function] else { return nil }
    self.init(path: "\(parts[0]).\(name).\(parts[1])", of: entity, schema: schema)
  }

  private static let aggregates = [
    "@sum": "TOTAL", "@min": "MIN", "@max": "MAX", "@avg": "AVG",
  ]
  private static let functions: [PredicateFunction: String] = [
    .sum: "@sum", .min: "@min", .max: "@max", .average: "@avg",
  ]
  private static let foldings: [PredicateFunction: String] = [
    .uppercase: SQLFunctionName.uppercase, .lowercase: SQLFunctionName.lowercase,
    .canonical: SQLFunctionName.canonical,
  ]
}

/// The SQL functions that Cairn registers on every connection.
package enum SQLFunctionName {
  package static let uppercase = "CairnUppercase"
  package static let lowercase = "CairnLowercase"
  package static let canonical = "CairnCanonical"
  /// `CairnTag(data)`: data as a column that allows external storage holds it.
  package static let tag = "CairnTag"
  /// `CairnUntag(column)`: the data of such a column.
  package static let untag = "CairnUntag"
  /// `CairnFold(text, options)`.
  package static let fold = "CairnFold"
  /// `CairnCompare(left, operator, right, options)`: the string operators of predicates.
  package static let compare = "CairnCompare"
  /// `CairnCall(name, argument…)`: a predefined function.
  package static let call = "CairnCall"
  /// `CairnSum(column)`: the evaluator's sum, 0 of no values.
  package static let sum = "CairnSum"
  /// `CairnAverage(column)`: the evaluator's average, 0 of no values.
  package static let average = "CairnAverage"
  /// `CairnTotal(column)`: the exact sum of integers, NULL of no values.
  package static let total = "CairnTotal"
  /// `CairnDecimalTotal(column)`: the sum of stored decimals, digit by digit; NULL of no values.
  package static let decimalTotal = "CairnDecimalTotal"
  /// `CairnDecimalAverage(column)`: the average of stored decimals; NULL of no values.
  package static let decimalAverage = "CairnDecimalAverage"
}
