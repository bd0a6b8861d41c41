import Foundation

/// The functions over collections of numbers.
///
/// Nulls are left out.
package enum Statistics {
  /// The same whatever the order of the values: integers and decimals are added exactly, doubles
  /// from the smallest to the largest.
  ///
  /// An integer, unless it is too large; a decimal of decimals; a double where one takes part.
  package static func sum(_ values: [PredicateValue]) throws -> PredicateValue {
    var integers: Int128 = 0
    var decimals: Decimal?
    var doubles: [Double] = []
    for value in values where !value.isNull {
      if let integer = NumberOrder.integer(of: value) {
        integers += Int128(integer)
      } else if case .decimal(let number) = value {
        decimals = (decimals ?? 0) + number
      } else {
        doubles.append(try Arithmetic.double(value))
      }
    }
    let whole = Int64(exactly: integers).map { PredicateValue.integer($0) }
    let exact = whole ?? .number(Double(integers))
    let total = try decimals.map { try Arithmetic.add(exact, .decimal($0)) } ?? exact
    if doubles.isEmpty { return total }
    let sum = doubles.sorted().reduce(0, +)
    return .number(NumberOrder.double(of: total) + sum)
  }

  /// 0 of nothing; a double, or a decimal of decimals.
  package static func average(_ values: [PredicateValue]) throws -> PredicateValue {
    let values = values.filter { !$0.isNull }
    if values.isEmpty { return .integer(0) }
    let total = try sum(values)
    // Opposite infinities have no sum.
    if total.isNull { return .null }
    if case .decimal = total {
      return try Arithmetic.divide(total, .integer(Int64(values.count)))
    }
    return .number(try Arithmetic.double(total) / Double(values.count))
  }

  static func minimum(_ values: [PredicateValue]) -> PredicateValue {
    extreme(values, .orderedAscending)
  }

  static func maximum(_ values: [PredicateValue]) -> PredicateValue {
    extreme(values, .orderedDescending)
  }

  private static func extreme(
    _ values: [PredicateValue], _ wanted: ComparisonResult
  ) -> PredicateValue {
    var best = PredicateValue.null
    for value in values where !value.isNull {
      if best.isNull || ValueSorting.compare(value, best, by: .compare) == wanted { best = value }
    }
    return best
  }

  /// The middle value; of an even number, the mean of the two in the middle.
  static func median(_ values: [PredicateValue]) throws -> PredicateValue {
    let sorted = values.filter { !$0.isNull }.sorted {
      ValueSorting.compare($0, $1, by: .compare) == .orderedAscending
    }
    if sorted.isEmpty { return .null }
    let middle = sorted.count / 2
    if sorted.count % 2 == 1 { return sorted[middle] }
    return try average([sorted[middle - 1], sorted[middle]])
  }

  /// The most frequent values, in ascending order.
  static func mode(_ values: [PredicateValue]) -> PredicateValue {
    var counts: [PredicateValue: Int] = [:]
    for value in values where !value.isNull { counts[value, default: 0] += 1 }
    let most = counts.values.max() ?? 0
    return .array(ValueSorting.sorted(Set(counts.filter { $0.value == most }.keys)))
  }

  /// The standard deviation of the whole population.
  static func standardDeviation(_ values: [PredicateValue]) throws -> PredicateValue {
    let numbers = try values.filter { !$0.isNull }.map(Arithmetic.double)
    if numbers.isEmpty { return .null }
    let mean = numbers.reduce(0, +) / Double(numbers.count)
    let squares = numbers.reduce(0) { $0 + ($1 - mean) * ($1 - mean) }
    return .number((squares / Double(numbers.count)).squareRoot())
  }
}
