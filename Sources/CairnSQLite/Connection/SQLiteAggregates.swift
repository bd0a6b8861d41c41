import CairnModel
import CairnPredicates
import CairnSQL
import Foundation
import GRDBSQLite

/// The sums and averages that SQLite's own would get wrong: of integers that overflow, of decimals,
/// and of doubles in whatever order the rows come.
enum SQLiteAggregates {
  static func register(on connection: OpaquePointer?) {
    let all: [(String, Step, Finish)] = [
      (SQLFunctionName.sum, collect, sum), (SQLFunctionName.average, collect, average),
      (SQLFunctionName.total, collect, total),
      (SQLFunctionName.decimalTotal, collectDecimals, total),
      (SQLFunctionName.decimalAverage, collectDecimals, decimalAverage),
    ]
    for (name, step, finish) in all {
      sqlite3_create_function_v2(
        connection, name, 1, SQLITE_UTF8 | SQLITE_DETERMINISTIC | SQLITE_INNOCUOUS, nil, nil, step,
        finish, nil)
    }
  }

  /// The numbers of an aggregate so far.
  private final class Numbers {
    var integers: Int128 = 0
    var count: Int64 = 0
    var doubles: [Double] = []
    /// Decimals with up to four digits after the point, as so many ten thousandths.
    var tenThousandths: Int128 = 0
    /// The others.
    var decimals: Decimal = 0
    var isDecimal = false

    var sum: PredicateValue {
      if isDecimal { return .number(decimal) }
      let whole = Int64(exactly: integers).map { PredicateValue.integer($0) }
      if doubles.isEmpty { return whole ?? .number(Double(integers)) }
      return .number(Double(integers) + doubles.sorted().reduce(0, +))
    }

    var decimal: Decimal {
      let parts = Decimal(string: "\(tenThousandths)") ?? 0
      let whole = Decimal(string: "\(integers)") ?? 0
      return whole + decimals + parts / 10_000
    }

    /// A decimal as it is stored.
    func add(_ decimal: Double) {
      let scaled = (decimal * 10_000).rounded()
      if abs(scaled) < 0x1p53, scaled / 10_000 == decimal {
        tenThousandths += Int128(scaled)
      } else if let exact = Decimal(shortest: decimal) {
        decimals += exact
      }
    }
  }

  private typealias Step =
    @convention(c) (OpaquePointer?, Int32, UnsafeMutablePointer<OpaquePointer?>?) -> Void
  private typealias Finish = @convention(c) (OpaquePointer?) -> Void

  /// The numbers of the aggregate that a call belongs to.
  private static func numbers(of context: OpaquePointer?) -> Numbers? {
    AggregateState.get(context) { Numbers() }
  }

  private static let collect: Step = { context, _, values in
    guard let value = values?[0], let numbers = numbers(of: context) else { return }
    switch sqlite3_value_type(value) {
    case SQLITE_INTEGER: numbers.integers += Int128(sqlite3_value_int64(value))
    case SQLITE_FLOAT: numbers.doubles.append(sqlite3_value_double(value))
    default: return
    }
    numbers.count += 1
  }

  private static let collectDecimals: Step = { context, _, values in
    guard let value = values?[0], let numbers = numbers(of: context) else { return }
    numbers.isDecimal = true
    switch sqlite3_value_type(value) {
    case SQLITE_INTEGER: numbers.integers += Int128(sqlite3_value_int64(value))
    case SQLITE_FLOAT: numbers.add(sqlite3_value_double(value))
    default: return
    }
    numbers.count += 1
  }

  private static let sum: Finish = { finish($0, empty: .integer(0)) { $0.sum } }
  private static let total: Finish = { finish($0, empty: .null) { $0.sum } }
  private static let average: Finish = {
    finish($0, empty: .integer(0)) { numbers in
      // Opposite infinities have no sum.
      let sum = numbers.sum
      return sum.isNull ? .null : .number(NumberOrder.double(of: sum) / Double(numbers.count))
    }
  }
  private static let decimalAverage: Finish = {
    finish($0, empty: .null) { .number($0.decimal / Decimal($0.count)) }
  }

  /// Gives the result and drops the numbers.
  ///
  /// - Parameter empty: The result of no numbers.
  private static func finish(
    _ context: OpaquePointer?, empty: PredicateValue, _ value: (Numbers) -> PredicateValue
  ) {
    guard let call = SQLiteCall(context, 0, nil) else { return }
    guard let numbers = AggregateState.take(context, as: Numbers.self) else {
      call.result(empty)
      return
    }
    call.result(numbers.count == 0 ? empty : value(numbers))
  }
}
