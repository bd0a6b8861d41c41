// Rows of an import file with their line numbers.

/// A row and the line it begins on, counted from 1.
struct InputRow: Equatable {
  let line: Int
  /// The row as a JSON object.
  let json: ArraySlice<UInt8>
}

/// A row that cannot be read.
struct InputProblem: Error, Equatable {
  let line: Int
  let reason: String
}

/// Makes rows from pieces of bytes.
protocol ImportReader {
  /// Takes the next piece and hands over the rows it completes, also those before a bad one: how
  /// much is imported must not depend on how the pieces fall.
  mutating func read(_ bytes: [UInt8], each: (InputRow) throws -> Void) throws
  /// Returns the last row, if the input does not end with a line end.
  mutating func finish() throws -> [InputRow]
}
