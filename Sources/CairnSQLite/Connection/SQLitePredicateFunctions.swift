import CairnModel
import CairnSQL
import Foundation
import GRDBSQLite

/// The SQL functions behind predicates: the evaluator's own implementations, so that SQL and memory
/// agree.
enum SQLitePredicateFunctions {
  static func register(on connection: OpaquePointer?) {
    define(SQLFunctionName.fold, 2, connection) { call in
      guard let text = call.argument(0), text.isText, let options = call.argument(1) else { return }
      call.result(StringFolding.fold(text.text, options: .init(rawValue: UInt(options.integer))))
    }
    define(SQLFunctionName.compare, 4, connection, compare)
    define(SQLFunctionName.call, -1, connection) { call in
      guard let name = call.argument(0), let function = PredicateFunction(rawValue: name.text)
      else { return }
      let arguments = (1..<call.count).compactMap { call.argument($0)?.predicateValue }
      do {
        call.result(try FunctionTable.call(function, arguments))
      } catch {
        call.fail(error)
      }
    }
    for (name, finish) in [(SQLFunctionName.sum, sum), (SQLFunctionName.average, average)] {
      sqlite3_create_function_v2(
        connection, name, 1, SQLITE_UTF8 | SQLITE_DETERMINISTIC, nil, nil, collect, finish, nil)
    }
  }

  // MARK: Functions

  private typealias Body = (SQLiteCall) -> Void

  /// Keeps a function's body for SQLite.
  private final class Definition {
    let body: Body
    init(_ body: @escaping Body) { self.body = body }
  }

  private static func define(
    _ name: String, _ count: Int32, _ connection: OpaquePointer?, _ body: @escaping Body
  ) {
    sqlite3_create_function_v2(
      connection, name, count, SQLITE_UTF8 | SQLITE_DETERMINISTIC,
      Unmanaged.passRetained(Definition(body)).toOpaque(),
      { context, count, values in
        guard let call = SQLiteCall(context, count, values),
          let data = sqlite3_user_data(context)
        else { return }
        Unmanaged<Definition>.fromOpaque(data).takeUnretainedValue().body(call)
      }, nil, nil,
      { data in
        if let data { Unmanaged<Definition>.fromOpaque(data).release() }
      })
  }

  // MARK: Comparing texts

  /// `CairnCompare(left, operator, right, options)`; false where one side is NULL.
  private static func compare(_ call: SQLiteCall) {
    guard let left = call.argument(0), let right = call.argument(2), let type = call.argument(1),
      let options = call.argument(3), left.isText, right.isText
    else {
      call.result(false)
      return
    }
    // `IN` looks for its left side in the right one.
    let isIn = type.integer == Int64(ComparisonPredicate.Operator.in.rawValue)
    let (text, pattern, place) = isIn ? (right, left, Int32(0)) : (left, right, Int32(2))
    do {
      if let known = sqlite3_get_auxdata(call.context, place) {
        let test = Unmanaged<TextTest>.fromOpaque(known).takeUnretainedValue()
        call.result(try test.holds(for: text.bytes))
        return
      }
      let test = TextTest(
        type: ComparisonPredicate.Operator(rawValue: UInt(type.integer)) ?? .equalTo,
        pattern: pattern.text, options: .init(rawValue: UInt(options.integer)))
      call.result(try test.holds(for: text.bytes))
      // SQLite drops it at once unless the pattern is the same in all rows.
      sqlite3_set_auxdata(
        call.context, place, Unmanaged.passRetained(test).toOpaque(),
        { data in
          if let data { Unmanaged<TextTest>.fromOpaque(data).release() }
        })
    } catch {
      call.fail(error)
    }
  }

  // MARK: Sums

  /// The numbers of an aggregate so far.
  private final class Numbers {
    var integers: Int128 = 0
    var count: Int64 = 0
    var doubles: [Double] = []

    var sum: PredicateValue {
      let whole = Int64(exactly: integers).map { PredicateValue.integer($0) }
      if doubles.isEmpty { return whole ?? .number(Double(integers)) }
      return .number(Double(integers) + doubles.sorted().reduce(0, +))
    }
  }

  private typealias Step =
    @convention(c) (OpaquePointer?, Int32, UnsafeMutablePointer<OpaquePointer?>?) -> Void
  private typealias Finish = @convention(c) (OpaquePointer?) -> Void

  private static let collect: Step = { context, count, values in
    guard let call = SQLiteCall(context, count, values), let argument = call.argument(0),
      let place = sqlite3_aggregate_context(context, Int32(MemoryLayout<UnsafeRawPointer?>.size))
    else { return }
    let slot = place.assumingMemoryBound(to: UnsafeMutableRawPointer?.self)
    let known = slot.pointee ?? Unmanaged.passRetained(Numbers()).toOpaque()
    slot.pointee = known
    let numbers = Unmanaged<Numbers>.fromOpaque(known).takeUnretainedValue()
    switch sqlite3_value_type(argument.value) {
    case SQLITE_INTEGER: numbers.integers += Int128(argument.integer)
    case SQLITE_FLOAT: numbers.doubles.append(sqlite3_value_double(argument.value))
    default: return
    }
    numbers.count += 1
  }

  private static let sum: Finish = { finish($0) { $0.sum } }
  private static let average: Finish = {
    finish($0) { numbers in
      // Opposite infinities have no sum.
      let sum = numbers.sum
      return sum.isNull ? .null : .number(NumberOrder.double(of: sum) / Double(numbers.count))
    }
  }

  /// Gives the result, 0 of no numbers, and drops them.
  private static func finish(_ context: OpaquePointer?, _ value: (Numbers) -> PredicateValue) {
    guard let call = SQLiteCall(context, 0, nil) else { return }
    let place = sqlite3_aggregate_context(context, 0)
    let slot = place?.assumingMemoryBound(to: UnsafeMutableRawPointer?.self)
    guard let known = slot?.pointee else {
      call.result(.integer(0))
      return
    }
    let numbers = Unmanaged<Numbers>.fromOpaque(known).takeRetainedValue()
    slot?.pointee = nil
    call.result(numbers.count == 0 ? .integer(0) : value(numbers))
  }
}
