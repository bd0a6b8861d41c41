/// A type of the server that Cairn sends or reads.
///
/// The numbers are the same in every server: they are in `pg_type.dat`, and clients rely on them.
package enum PostgreSQLType: String, Sendable, Hashable, CaseIterable {
  case boolean
  case bytea
  case bigint
  case smallint
  case integer
  case text
  case real
  case double = "double precision"
  case timestamp = "timestamp with time zone"
  case numeric
  case uuid
  case transactionID = "xid8"

  /// The name as a column is declared with it.
  package var name: String { rawValue }

  /// The number of the type.
  var number: UInt32 {
    switch self {
    case .boolean: 16
    case .bytea: 17
    case .bigint: 20
    case .smallint: 21
    case .integer: 23
    case .text: 25
    case .real: 700
    case .double: 701
    case .timestamp: 1184
    case .numeric: 1700
    case .uuid: 2950
    case .transactionID: 5069
    }
  }

  /// The number of the type of arrays of it.
  var arrayNumber: UInt32 {
    switch self {
    case .boolean: 1000
    case .bytea: 1001
    case .bigint: 1016
    case .smallint: 1005
    case .integer: 1007
    case .text: 1009
    case .real: 1021
    case .double: 1022
    case .timestamp: 1185
    case .numeric: 1231
    case .uuid: 2951
    case .transactionID: 271
    }
  }
}
