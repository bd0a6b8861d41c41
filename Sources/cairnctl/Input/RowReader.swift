// Rows of an import file with their line numbers.
import CairnControl

/// A row and the line it begins on, counted from 1.
struct InputRow: Equatable {
  let line: Int
  let values: [String: JSONValue]
}

/// A row that cannot be read.
struct InputProblem: Error, Equatable {
  let line: Int
  let reason: String
}

/// Makes rows from pieces of bytes.
protocol RowReader {
  /// Takes the next piece and returns the rows it completes.
  mutating func read(_ bytes: [UInt8]) throws -> [InputRow]
  /// Returns the last row, if the input does not end with a line end.
  mutating func finish() throws -> [InputRow]
}
