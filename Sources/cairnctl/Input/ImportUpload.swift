// Sends rows to the daemon in batches and reads on while a batch is saved.
import CairnControl

/// Collects rows into batches and sends them.
///
/// One batch at a time is under way: after a bad row nothing that follows it is saved.
struct ImportUpload {
  private let client: ControlClient
  private let template: ImportRecords.Parameters
  private let rowLimit: Int
  /// Well below what one message may hold.
  private let byteLimit = 512 * 1024
  private var rows: [InputRow] = []
  private var bytes = 0
  private var isUnderWay = false
  /// Rows taken from the file.
  private(set) var rowCount = 0
  /// What the daemon has saved.
  private(set) var total = ImportRecords.Reply(inserted: 0, updated: 0, unchanged: 0, created: 0)

  init(client: ControlClient, command: ImportCommand) {
    self.client = client
    rowLimit = command.batch
    template = ImportRecords.Parameters(
      entity: command.entity, rows: [], lines: [],
      key: command.key.map { $0.split(separator: ",").map(\.trimmed) },
      createMissing: command.createMissing, author: command.author)
  }

  mutating func add(_ row: InputRow) throws {
    let size = JSONValue.object(row.values).bytes().count + 16
    guard size <= byteLimit else {
      throw InputProblem(line: row.line, reason: "the row is larger than \(byteLimit / 1024) KiB")
    }
    if bytes + size > byteLimit { try flush() }
    rows.append(row)
    bytes += size
    rowCount += 1
    if rows.count >= rowLimit { try flush() }
  }

  /// Sends what is left and waits for all answers.
  mutating func finish() throws {
    if !rows.isEmpty { try flush() }
    try takeAnswer()
  }

  /// Counts a batch that was under way when the input turned out bad.
  mutating func settle() { try? takeAnswer() }

  private mutating func flush() throws {
    try takeAnswer()
    var parameters = template
    parameters.rows = rows.map(\.values)
    parameters.lines = rows.map(\.line)
    rows.removeAll(keepingCapacity: true)
    bytes = 0
    try client.send(ImportRecords.self, parameters)
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
