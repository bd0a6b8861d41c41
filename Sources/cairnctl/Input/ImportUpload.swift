// Sends rows to the daemon in batches and reads on while a batch is saved.
import CairnControl

/// Collects rows into batches and sends them.
///
/// One batch at a time is under way: after a bad row nothing that follows it is saved.
struct ImportUpload {
  /// What one batch has in common.
  private struct Kind: Hashable {
    let entity: String
    let key: [String]?
  }

  private let client: ControlClient
  private let command: ImportCommand
  /// What finds a record again, by entity, where rows say their entity; nil where they do not.
  private let plan: ExportPlan?
  private var kind: Kind
  private var batch: ImportBatch
  private let rowLimit: Int
  /// What a batch may grow to: well below the size of a message.
  private static let byteLimit = JSONLimits.message.byteCount / 2
  /// What one row of a call may have: then it goes alone.
  private static let rowByteLimit = JSONLimits.message.byteCount - 64 * 1024
  /// What a part of a longer row has: as text inside of a message it takes at most twice as much.
  private static let partByteLimit = 256 * 1024
  private var isUnderWay = false
  /// Where the batch begins that was sent last and is not known to be in.
  private var sentLine: Int?
  /// Where the batch begins that is put together.
  private var batchLine: Int?
  /// Rows taken from the file.
  private(set) var rowCount = 0
  /// Whether rows were so large that batches held fewer of them than was asked for.
  private(set) var isCutBySize = false
  /// What the daemon has saved.
  private(set) var total = ImportRecords.Reply(inserted: 0, updated: 0, unchanged: 0, created: 0)

  /// The first line of what is not known to be in; nil where all rows so far are.
  var openLine: Int? { sentLine ?? batchLine }

  init(client: ControlClient, command: ImportCommand) throws {
    self.client = client
    self.command = command
    rowLimit = command.batch ?? 500
    plan =
      command.entity == nil
      ? try ExportPlan(try client.call(GetModel.self, NoValues()).model) : nil
    kind = Kind(
      entity: command.entity ?? "",
      key: command.key.map { $0.split(separator: ",").map(\.trimmed) })
    batch = Self.batch(of: kind, command)
  }

  private static func batch(of kind: Kind, _ command: ImportCommand) -> ImportBatch {
    ImportBatch(
      ImportRecords.Parameters(
        entity: kind.entity, rows: [], lines: [], key: kind.key,
        createMissing: command.createMissing, author: command.author))
  }

  /// Begins another batch when the row is of another entity than the last.
  private mutating func take(kindOf row: InputRow, _ plan: ExportPlan) throws {
    let members = try JSONParser.parse(row.json, limits: .row).objectValue ?? [:]
    guard let entity = members["entity"]?.stringValue else {
      throw InputProblem(
        line: row.line,
        reason: "the row does not say its \"entity\"; --entity names one for all rows")
    }
    let key = plan.key(of: entity)?.allSatisfy { (members[$0] ?? .null) != .null }
    let own = Kind(entity: entity, key: key == true ? plan.key(of: entity) : nil)
    if own == kind { return }
    if batch.rowCount > 0 { try flush() }
    kind = own
    batch = Self.batch(of: own, command)
  }

  mutating func add(_ row: InputRow) throws {
    guard row.json.count <= JSONLimits.row.byteCount else {
      throw InputProblem(
        line: row.line,
        reason: "the row has \(row.json.count >> 10) KiB as JSON, and the daemon takes "
          + "\(JSONLimits.row.byteCount >> 10) KiB; a program that opens the store itself can write it, or "
          + "this one without the long value")
    }
    if let plan { try take(kindOf: row, plan) }
    if row.json.count > Self.rowByteLimit { return try addInParts(row) }
    if batch.rowCount > 0, batch.byteCount + row.json.count > Self.byteLimit {
      isCutBySize = true
      try flush()
    }
    batch.append(row.json, line: row.line)
    batchLine = batchLine ?? row.line
    rowCount += 1
    if batch.rowCount >= rowLimit { try flush() }
  }

  /// Sends a row that no call holds, which is a transaction of its own.
  private mutating func addInParts(_ row: InputRow) throws {
    if batch.rowCount > 0 {
      isCutBySize = true
      try flush()
    }
    try takeAnswer()
    sentLine = row.line
    var rest = row.json
    while !rest.isEmpty {
      let piece = rest.wholeCharacters(within: Self.partByteLimit)
      rest = rest[piece.endIndex...]
      let part = ImportRecords.Parameters(
        entity: kind.entity, rows: [], lines: [], part: String(decoding: piece, as: UTF8.self))
      do {
        _ = try client.call(ImportRecords.self, part)
      } catch ControlError.invalidParameter("part") {
        throw InputProblem(
          line: row.line,
          reason:
            "the row has \(row.json.count >> 10) KiB as JSON, and this daemon, which is older than this "
            + "program, takes \(Self.rowByteLimit >> 10) KiB")
      }
    }
    try client.send(
      ImportRecords.self,
      ImportRecords.Parameters(
        entity: kind.entity, rows: [], lines: [row.line], key: kind.key,
        createMissing: command.createMissing, author: command.author))
    isUnderWay = true
    rowCount += 1
  }

  /// Sends what is left and waits for all answers.
  mutating func finish() throws {
    if batch.rowCount > 0 { try flush() }
    try takeAnswer()
  }

  /// Counts a batch that was under way when the input turned out bad.
  mutating func settle() { try? takeAnswer() }

  private mutating func flush() throws {
    try takeAnswer()
    (sentLine, batchLine) = (batchLine, nil)
    try client.send(batch)
    batch.removeAll()
    isUnderWay = true
  }

  private mutating func takeAnswer() throws {
    guard isUnderWay else { return }
    isUnderWay = false
    let reply = try client.receive(ImportRecords.self).reply
    total.inserted += reply.inserted
    total.updated += reply.updated
    total.unchanged += reply.unchanged
    total.created += reply.created
    sentLine = nil
  }
}

extension ArraySlice<UInt8> {
  /// The longest beginning of UTF-8 text that ends with a character.
  fileprivate func wholeCharacters(within limit: Int) -> ArraySlice<UInt8> {
    guard count > limit else { return self }
    var end = startIndex + limit
    while end > startIndex, self[end] & 0xC0 == 0x80 { end -= 1 }
    return self[..<end]
  }
}
