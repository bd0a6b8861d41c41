// A call of io.cairn.Data.Import that is put together row by row.

/// Rows on their way to the daemon, as the JSON texts that they were read as.
///
/// A client that has checked a row need not print it again: 100,000 rows take half the time so.
public struct ImportBatch {
  private let template: ImportRecords.Parameters
  private var rows: [UInt8] = []
  private var lines: [Int] = []

  /// Makes an empty batch with the parameters of `template`, whose own rows do not count.
  public init(_ template: ImportRecords.Parameters) { self.template = template }

  public var rowCount: Int { lines.count }

  /// What the rows add to the message, in bytes.
  public var byteCount: Int { rows.count + lines.count * 8 }

  /// Adds a row.
  ///
  /// - Parameters:
  ///   - row: One JSON object, checked by ``JSONParser``: the daemon refuses the whole message
  ///     otherwise.
  ///   - line: Its line in the file, from 1.
  public mutating func append(_ row: some Collection<UInt8>, line: Int) {
    if !rows.isEmpty { rows.append(UInt8(ascii: ",")) }
    rows.append(contentsOf: row)
    lines.append(line)
  }

  public mutating func removeAll() {
    rows.removeAll(keepingCapacity: true)
    lines.removeAll(keepingCapacity: true)
  }

  /// The message to send, without its end.
  func message() throws -> [UInt8] {
    var parameters = template
    parameters.rows = []
    parameters.lines = lines
    var members = try JSONValueEncoder.encode(parameters).objectValue ?? [:]
    members["rows"] = nil
    var message = Array("{\"method\":\"\(ImportRecords.name)\",\"parameters\":".utf8)
    JSONValue.object(members).append(to: &message)
    message.removeLast()
    message.append(contentsOf: ",\"rows\":[".utf8)
    message.append(contentsOf: rows)
    message.append(contentsOf: "]}}".utf8)
    return message
  }
}
