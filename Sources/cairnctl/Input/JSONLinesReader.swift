// JSON Lines: one object a line, blank lines passed over.
import CairnControl

struct JSONLinesReader: ImportReader {
  private var pending: [UInt8] = []
  private var line = 1

  mutating func read(_ bytes: [UInt8], each: (InputRow) throws -> Void) throws {
    var rest = bytes[...]
    while let end = rest.firstIndex(of: 0x0A) {
      if let row = try row(ending: rest[..<end]) { try each(row) }
      rest = rest[rest.index(after: end)...]
      line += 1
    }
    pending.append(contentsOf: rest)
    guard pending.count <= JSONLimits.row.byteCount else {
      throw InputProblem(
        line: line, reason: "the line is longer than \(JSONLimits.row.byteCount >> 20) MiB")
    }
  }

  mutating func finish() throws -> [InputRow] {
    try row(ending: []).map { [$0] } ?? []
  }

  /// The row of what is pending and of `end`; nil for a blank line.
  private mutating func row(ending end: ArraySlice<UInt8>) throws -> InputRow? {
    var bytes = end
    if !pending.isEmpty {
      bytes = (pending + end)[...]
      pending.removeAll(keepingCapacity: true)
    }
    // Some programs begin a file with a byte order mark.
    if line == 1, bytes.starts(with: [0xEF, 0xBB, 0xBF]) { bytes = bytes.dropFirst(3) }
    if bytes.allSatisfy({ $0 == 0x20 || $0 == 0x09 || $0 == 0x0D }) { return nil }
    do {
      let value = try JSONParser.parse(bytes, limits: .row)
      guard case .object = value else {
        throw InputProblem(line: line, reason: "\(value.kindName) stands where an object is wanted")
      }
      return InputRow(line: line, json: bytes)
    } catch let problem as JSONProblem {
      throw InputProblem(line: line, reason: "not JSON: \(problem)")
    }
  }
}
