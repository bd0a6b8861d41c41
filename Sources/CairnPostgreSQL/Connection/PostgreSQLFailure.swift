import CairnStore
import Foundation

/// What the server, or libpq, said: before it is known which store and which work it concerns.
///
/// It has no detail text of the server, which repeats values of rows; but for the names of what depends on something.
package struct PostgreSQLFailure: Error, Sendable, CustomStringConvertible {
  /// What kind of failure it is where no SQLSTATE says so.
  enum Origin: Sendable, Equatable {
    /// The server answered.
    case server
    /// No connection came about.
    case connecting
    /// The connection ended, or no answer came in time; what was sent may have been done.
    case lost
    /// libpq, or this program's use of it.
    case client
  }

  let origin: Origin
  /// The server's code; see ``SQLState``.
  let state: SQLState?
  let message: String
  /// The schema, table, column and constraint that the failure is about, where the server names them.
  var schema: String?
  var table: String?
  var column: String?
  var constraint: String?

  init(_ origin: Origin, state: SQLState? = nil, _ message: String) {
    self.origin = origin
    self.state = state
    self.message = message
  }

  /// What a result says that failed.
  init(_ result: OpaquePointer?, libpq: LibPQ) {
    func field(_ code: Character) -> String? {
      libpq.errorField(result, Int32(code.asciiValue ?? 0)).map { String(cString: $0) }
    }
    state = field("C").map { SQLState($0) }
    let words =
      field("M") ?? libpq.resultMessage(result).map { String(cString: $0).trimmedLine }
      ?? "no reason given"
    // Names of objects, and no values.
    let detail = state == .dependentObjects ? field("D")?.trimmedLine : nil
    message = detail.map { "\(words) (\($0))" } ?? words
    origin = state.map { $0.endsConnection ? .lost : .server } ?? .lost
    schema = field("s")
    table = field("t")
    column = field("c")
    constraint = field("n")
  }

  /// Whether the same work may succeed when it is done once more from the start.
  package var isWorthRepeating: Bool {
    switch state {
    case SQLState.serializationFailure, SQLState.deadlock: true
    default: false
    }
  }

  /// Whether the database does not have what a statement names.
  var isOfSchema: Bool {
    switch state {
    case SQLState.unknownTable, SQLState.unknownColumn, SQLState.unknownSchema: true
    default: false
    }
  }

  /// Whether the connection cannot be used any more.
  var endsConnection: Bool { origin == .lost || origin == .connecting }

  package var description: String {
    var text = state.map { "\(message) [SQLSTATE \($0.code)]" } ?? message
    if let constraint { text += ", constraint \(constraint)" }
    if let table { text += ", table \(table)" }
    return text
  }
}

/// A code of five characters, as the appendix "PostgreSQL Error Codes" lists them.
struct SQLState: Hashable, Sendable {
  let code: String
  init(_ code: String) { self.code = code }

  static let textTooLong = SQLState("22001")
  static let numberOutOfRange = SQLState("22003")
  static let dateOutOfRange = SQLState("22008")
  static let invalidBytes = SQLState("22021")
  static let notNullViolation = SQLState("23502")
  static let foreignKeyViolation = SQLState("23503")
  static let uniqueViolation = SQLState("23505")
  static let checkViolation = SQLState("23514")
  static let exclusionViolation = SQLState("23P01")
  static let viewViolation = SQLState("44000")
  /// What a function says with `RAISE EXCEPTION`.
  static let raised = SQLState("P0001")
  static let readOnlyTransaction = SQLState("25006")
  static let invalidPassword = SQLState("28P01")
  static let invalidAuthorization = SQLState("28000")
  static let unknownStatement = SQLState("26000")
  static let duplicateStatement = SQLState("42P05")
  static let unknownDatabase = SQLState("3D000")
  static let unknownSchema = SQLState("3F000")
  static let serializationFailure = SQLState("40001")
  static let deadlock = SQLState("40P01")
  static let noRight = SQLState("42501")
  static let unknownColumn = SQLState("42703")
  static let unknownTable = SQLState("42P01")
  static let changedPlan = SQLState("0A000")
  static let dependentObjects = SQLState("2BP01")
  static let diskFull = SQLState("53100")
  static let outOfMemory = SQLState("53200")
  static let tooManyConnections = SQLState("53300")
  static let limitExceeded = SQLState("54000")
  static let lockTimeout = SQLState("55P03")
  static let cancelled = SQLState("57014")
  static let shuttingDown = SQLState("57P01")
  static let crashed = SQLState("57P02")
  static let startingUp = SQLState("57P03")
  static let databaseDropped = SQLState("57P04")
  static let idleTransactionTimeout = SQLState("25P03")
  static let idleSessionTimeout = SQLState("57P05")
  static let damagedData = SQLState("XX001")
  static let damagedIndex = SQLState("XX002")

  /// Whether the server ends the connection with it.
  ///
  /// Class 08 is not among these: a foreign table's server may be what a connection failed to.
  var endsConnection: Bool {
    [
      .shuttingDown, .crashed, .startingUp, .databaseDropped, .idleSessionTimeout,
      .idleTransactionTimeout,
    ].contains(self)
  }
}

extension String {
  /// The text without the line ends that libpq's messages have.
  var trimmedLine: String {
    // libpq asks back in lines of their own, behind a tab.
    split(whereSeparator: \.isNewline).filter { !$0.hasPrefix("\t") }
      .map { $0.trimmingCharacters(in: .whitespaces) }.joined(separator: " ")
  }
}
