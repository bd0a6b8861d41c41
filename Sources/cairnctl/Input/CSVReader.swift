// CSV after RFC 4180: a header with property names, quotes that may span lines.
import CairnControl

struct CSVReader: ImportReader {
  private enum State {
    case fieldStart, plain, quoted, quoteInQuoted
  }

  private let types: TypedValues
  private var state = State.fieldStart
  private var field: [UInt8] = []
  private var fields: [(text: String, isQuoted: Bool)] = []
  private var header: [String]?
  private var line = 1
  private var rowLine = 1
  private var rowBytes = 0
  private var isAfterReturn = false

  private static let byteOrderMark: [UInt8] = [0xEF, 0xBB, 0xBF]

  init(types: TypedValues) { self.types = types }

  mutating func read(_ bytes: [UInt8], each: (InputRow) throws -> Void) throws {
    for byte in bytes {
      let wasReturn = isAfterReturn
      isAfterReturn = false
      rowBytes += 1
      guard rowBytes <= JSONLimits.row.byteCount else {
        throw InputProblem(
          line: rowLine, reason: "the row is longer than \(JSONLimits.row.byteCount >> 20) MiB")
      }
      if state == .quoted {
        if byte == UInt8(ascii: "\"") {
          state = .quoteInQuoted
        } else {
          if byte == 0x0A { line += 1 }
          field.append(byte)
        }
        continue
      }
      switch byte {
      case UInt8(ascii: "\""):
        try quote()
      case UInt8(ascii: ","):
        try endField()
      case 0x0D:
        isAfterReturn = true
        if let row = try endRow() { try each(row) }
        line += 1
        rowLine = line
      case 0x0A:
        // The second half of one line end.
        if wasReturn {
          rowBytes = 0
          continue
        }
        if let row = try endRow() { try each(row) }
        line += 1
        rowLine = line
      default:
        guard state != .quoteInQuoted else {
          throw InputProblem(line: line, reason: "text after a closing quote")
        }
        state = .plain
        field.append(byte)
      }
    }
  }

  mutating func finish() throws -> [InputRow] {
    guard state != .quoted else {
      throw InputProblem(line: rowLine, reason: "a quote does not end")
    }
    return try endRow().map { [$0] } ?? []
  }

  private mutating func quote() throws {
    switch state {
    case .fieldStart: state = .quoted
    // Spreadsheets write both: a byte order mark, and quotes around names.
    case .plain where header == nil && fields.isEmpty && field == Self.byteOrderMark:
      field = []
      state = .quoted
    case .quoteInQuoted:
      field.append(UInt8(ascii: "\""))
      state = .quoted
    case .plain, .quoted:
      throw InputProblem(line: line, reason: "a quote inside a field that has none around it")
    }
  }

  private mutating func endField() throws {
    var bytes = field[...]
    if header == nil, fields.isEmpty, bytes.starts(with: Self.byteOrderMark) {
      bytes = bytes.dropFirst(Self.byteOrderMark.count)
    }
    guard let text = String(validating: bytes, as: UTF8.self) else {
      throw InputProblem(line: line, reason: "the text is not UTF-8")
    }
    fields.append((text, state == .quoteInQuoted))
    field.removeAll(keepingCapacity: true)
    state = .fieldStart
  }

  private func check(_ names: [String]) throws {
    var known: Set<String> = []
    for (index, name) in names.enumerated() {
      guard !name.isEmpty else {
        throw InputProblem(line: rowLine, reason: "column \(index + 1) has no name")
      }
      guard known.insert(name).inserted else {
        throw InputProblem(line: rowLine, reason: "the column \"\(name)\" comes twice")
      }
      do {
        try types.check(name)
      } catch let error as ControlError {
        let hint =
          names.count == 1 && name.contains(where: { ";\t".contains($0) })
          ? "; columns are separated by commas" : ""
        throw InputProblem(line: rowLine, reason: error.description + hint)
      }
    }
  }

  private mutating func endRow() throws -> InputRow? {
    rowBytes = 0
    if fields.isEmpty, field.isEmpty, state == .fieldStart { return nil }
    try endField()
    defer { fields.removeAll(keepingCapacity: true) }
    guard let header else {
      let names = fields.map { Substring($0.text).trimmed }
      try check(names)
      self.header = names
      return nil
    }
    guard fields.count == header.count else {
      throw InputProblem(
        line: rowLine, reason: "\(fields.count) fields where the header has \(header.count)")
    }
    var values: [String: JSONValue] = [:]
    for (name, field) in zip(header, fields) {
      do {
        values[name] = try types.value(field.text, property: name, isQuoted: field.isQuoted)
      } catch let error as ControlError {
        throw InputProblem(line: rowLine, reason: error.description)
      }
    }
    return InputRow(line: rowLine, json: JSONValue.object(values).bytes()[...])
  }
}
