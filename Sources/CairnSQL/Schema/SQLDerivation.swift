import CairnModel
import CairnPredicates

/// What a derived attribute is computed from, as far as a SQL store understands it.
///
/// Core Data takes key paths of the same row or through to-ones, texts folded, counts and aggregates
/// of a to-many with the operator at the end, and the time of the save.
package enum SQLDerivation: Sendable {
  /// The number of members of a to-many relationship.
  case count(SQLLink)
  /// An aggregate of a column of the members, whose table is named: `sum`, `min`, `max` or `avg`.
  case aggregate(String, SQLLink, members: String, column: String)
  /// The value of a column at the end of one to-one relationship or of several.
  case toOne([Hop], column: String)
  /// The value of a column of the same row.
  case copy(column: String)
  /// A column of the same row, folded by one of the SQL functions Cairn registers.
  case folded(function: String, column: String)
  /// The time of the save.
  case now

  /// A to-one relationship on the way: the column that holds the key, and the table it leads to.
  package struct Hop: Sendable {
    package let key: String
    package let table: String
  }

  /// Nil when the attribute is derived in a way that Core Data does not take either.
  package init?(_ attribute: DerivedAttributeDescription, of entity: SQLEntity, schema: SQLSchema) {
    // A predicate that limits the members is a private thing; triggers that obey it stay in a file.
    guard attribute.filteringPredicate == nil,
      let expression = attribute.derivationExpression?.node
    else { return nil }
    switch expression {
    case .keyPath(let path):
      self.init(path: path, of: entity, schema: schema)
    case .function(.now, _):
      self = .now
    case .function(let function, let arguments):
      guard case .keyPath(let path)? = arguments.first else { return nil }
      if let name = Self.foldings[function], let column = SQLIndexes.column(path, of: entity) {
        self = .folded(function: name, column: column)
      } else if let name = Self.functions[function] {
        self.init(path: "\(path).\(name)", of: entity, schema: schema)
      } else {
        return nil
      }
    case .constant, .evaluatedObject, .variable, .keyPathOf, .element, .cast, .message,
      .setOperation, .subquery, .aggregate, .anyKey, .block, .conditional, .assignment, .fetch:
      return nil
    }
  }

  private init?(path: String, of entity: SQLEntity, schema: SQLSchema) {
    var parts = path.split(separator: ".").map(String.init)
    guard let last = parts.popLast() else { return nil }
    if last.hasPrefix("@") {
      guard let members = parts.first, let index = entity.layout.toManyByName[members] else {
        return nil
      }
      let link = entity.links[index]
      if last == "@count", parts.count == 1 {
        self = .count(link)
        return
      }
      guard parts.count == 2, let function = Self.aggregates[last],
        let destination = entity.layout.toManys[index].destinationEntity,
        let column = SQLIndexes.column(parts[1], of: schema.entity(destination))
      else { return nil }
      self = .aggregate(
        function, link, members: schema.entity(destination).table, column: column)
      return
    }
    var (place, hops): (SQLEntity, [Hop]) = (entity, [])
    for part in parts {
      guard let slot = place.layout.slotByName[part],
        case .toOne(let key, _, let number) = place.slots[slot],
        let destination = schema.entity(number: number)
      else { return nil }
      hops.append(Hop(key: key, table: destination.table))
      place = destination
    }
    guard let column = SQLIndexes.column(last, of: place) else { return nil }
    self = hops.isEmpty ? .copy(column: column) : .toOne(hops, column: column)
  }

  private static let aggregates = [
    "@sum": "TOTAL", "@min": "MIN", "@max": "MAX", "@avg": "AVG",
  ]
  private static let functions: [PredicateFunction: String] = [
    .count: "@count", .sum: "@sum", .min: "@min", .max: "@max", .average: "@avg",
  ]
  private static let foldings: [PredicateFunction: String] = [
    .uppercase: SQLFunctionName.uppercase, .lowercase: SQLFunctionName.lowercase,
    .canonical: SQLFunctionName.canonical,
  ]
}

/// The foldings of text that derived attributes have, which no database does as Core Data does.
package enum SQLFolding {
  package static let all: [(name: String, fold: @Sendable (String) -> String)] = [
    (SQLFunctionName.uppercase, { $0.uppercased() }),
    (SQLFunctionName.lowercase, { $0.lowercased() }),
    (
      SQLFunctionName.canonical,
      { StringFolding.fold($0, options: [.caseInsensitive, .diacriticInsensitive]) }
    ),
  ]

  /// What a function makes of a text; nil for another function.
  package static func fold(_ function: String) -> (@Sendable (String) -> String)? {
    all.first { $0.name == function }?.fold
  }
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
