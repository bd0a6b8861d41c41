import Foundation

/// The operators in key paths, `items.@sum.price`.
enum CollectionOperators {
  /// Applies an operator to a collection.
  ///
  /// `rest` is the path after the operator.
  ///
  /// Null is an empty collection. Nulls among the values are left out, as in SQL. Of nothing,
  /// sum, average and count are 0, minimum and maximum null.
  static func apply(
    _ name: String, to collection: PredicateValue, _ rest: ArraySlice<Substring>
  ) throws -> PredicateValue {
    guard let members = collection.isNull ? [] : collection.elements else {
      throw PredicateEvaluationError(
        .notACollection, "The operator \(name) needs a collection on its left.")
    }
    if name == "@count" {
      return try KeyPathReading.value(of: .integer(Int64(members.count)), path: rest)
    }
    func values() throws -> [PredicateValue] {
      try members.map { try KeyPathReading.value(of: $0, path: rest) }
    }
    func nested() throws -> [PredicateValue] {
      try values().flatMap { $0.isNull ? [] : $0.elements ?? [$0] }
    }
    switch name {
    case "@sum": return try Statistics.sum(flattened(values()))
    case "@avg": return try Statistics.average(flattened(values()))
    case "@min": return Statistics.minimum(flattened(try values()))
    case "@max": return Statistics.maximum(flattened(try values()))
    case "@unionOfObjects": return .array(try values().filter { !$0.isNull })
    case "@distinctUnionOfObjects": return .array(distinct(try values().filter { !$0.isNull }))
    case "@unionOfArrays": return .array(try nested())
    case "@distinctUnionOfArrays": return .array(distinct(try nested()))
    case "@distinctUnionOfSets": return .set(Set(try nested()))
    default:
      throw PredicateEvaluationError(
        .unsupportedKeyPath, "The operator \(name) is not one of Cairn's collection operators.")
    }
  }

  /// The values in first-seen order without repetitions.
  private static func distinct(_ values: [PredicateValue]) -> [PredicateValue] {
    var seen: Set<PredicateValue> = []
    return values.filter { seen.insert($0).inserted }
  }

  /// The members of collections within collections, which paths over several to-many
  /// relationships give.
  static func flattened(_ values: [PredicateValue]) -> [PredicateValue] {
    values.flatMap { value -> [PredicateValue] in
      switch value {
      case .array(let members): return flattened(members)
      case .set(let members): return flattened(Array(members))
      case .null, .boolean, .integer, .double, .decimal, .string, .date, .data, .uuid, .url,
        .objectID, .object, .dictionary:
        return [value]
      }
    }
  }
}
