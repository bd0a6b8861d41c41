// CSV after RFC 4180: a header with property names, quotes that may span lines.
import CairnControl

struct CSVReader: RowReader {
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

  init(types: TypedValues) { self.types = types }

  mutating func read(_ bytes: [UInt8], each: (InputRow) throws -> Void) throws {
    for byte in bytes {
      let wasReturn = isAfterReturn
      isAfterReturn = false
      rowBytes += 1
      guard rowBytes <= JSONLimits.message.byteCount else {
        throw InputProblem(line: rowLine, reason: "the row is longer than 1 MiB")
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
      case 0x0A:
        if wasReturn {
          rowBytes = 0
        } else if let row = try endRow() {
          try each(row)
        }
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
    case .quoteInQuoted:
      field.append(UInt8(ascii: "\""))
      state = .quoted
    case .plain, .quoted:
      throw InputProblem(line: line, reason: "a quote inside a field that has none around it")
    }
  }

  private mutating func endField() throws {
    var bytes = field[...]
    if line == 1, header == nil, fields.isEmpty, bytes.starts(with: [0xEF, 0xBB, 0xBF]) {
      bytes = bytes.dropFirst(3)
    }
    guard let text = String(validating: bytes, as: UTF8.self) else {
      throw InputProblem(line: line, reason: "the text is not UTF-8")
    }
    fields.append((text, state == .quoteInQuoted))
    field.removeAll(keepingCapacity: true)
    state = .fieldStart
  }

  private mutating func endRow() throws -> InputRow? {
    rowBytes = 0
    if fields.isEmpty, field.isEmpty, state == .fieldStart { return nil }
    try endField()
    defer { fields.removeAll(keepingCapacity: true) }
    guard let header else {
      let names = fields.map { Substring($0.text).trimmed }
      guard Set(names).count == names.count else {
        throw InputProblem(line: rowLine, reason: "a column's name comes twice")
      }
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
