// Sends rows to the daemon in batches and reads on while a batch is saved.
import CairnControl

/// Collects rows into batches and sends them.
///
/// One batch at a time is under way: after a bad row nothing that follows it is saved.
struct ImportUpload {
  private let client: ControlClient
  private var batch: ImportBatch
  private let rowLimit: Int
  /// What a batch may grow to: well below the size of a message.
  private static let byteLimit = JSONLimits.message.byteCount / 2
  /// What one row may have: then it goes alone.
  private static let rowByteLimit = JSONLimits.message.byteCount - 64 * 1024
  private var isUnderWay = false
  /// Rows taken from the file.
  private(set) var rowCount = 0
  /// Whether rows were so large that batches held fewer of them than was asked for.
  private(set) var isCutBySize = false
  /// What the daemon has saved.
  private(set) var total = ImportRecords.Reply(inserted: 0, updated: 0, unchanged: 0, created: 0)

  init(client: ControlClient, command: ImportCommand) {
    self.client = client
    rowLimit = command.batch ?? 500
    batch = ImportBatch(
      ImportRecords.Parameters(
        entity: command.entity, rows: [], lines: [],
        key: command.key.map { $0.split(separator: ",").map(\.trimmed) },
        createMissing: command.createMissing, author: command.author))
  }

  mutating func add(_ row: InputRow) throws {
    guard row.json.count <= Self.rowByteLimit else {
      throw InputProblem(
        line: row.line, reason: "the row is larger than \(Self.rowByteLimit / 1024) KiB")
    }
    if batch.rowCount > 0, batch.byteCount + row.json.count > Self.byteLimit {
      isCutBySize = true
      try flush()
    }
    batch.append(row.json, line: row.line)
    rowCount += 1
    if batch.rowCount >= rowLimit { try flush() }
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
  }
}
