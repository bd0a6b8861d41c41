// cairnctl import
import ArgumentParser
import CairnControl
import CairnPlatform

struct ImportCommand: ParsableCommand {
  enum Format: String, CaseIterable, ExpressibleByArgument {
    case jsonl, csv
  }

  static let configuration = CommandConfiguration(
    commandName: "import", abstract: "Import rows from a file in one pass.",
    discussion: """
      JSON Lines (one object a line) or CSV (with a header). Each batch of rows is saved as one \
      transaction; a bad row is named by its line, and nothing of its batch is saved. A batch ends \
      at 512 KiB of JSON, whatever --batch says; a longer row goes alone, and may have 16 MiB.

      A relationship's value is a record ID, an array of them, or an object of attribute values \
      that names the other record: {"name": "bash", "section": {"name": "shells"}}.

      Without --entity each row of JSON Lines says its own, as `cairnctl export` writes it; a row \
      whose uniqueness constraint is found updates that record.
      """)

  @OptionGroup var shared: SharedOptions

  @Argument(help: "The file; - for standard input.", completion: .file())
  var file: String

  @Option(
    name: .long, help: "The entity of the rows; each row says its own when left out.",
    completion: .entities)
  var entity: String?

  @Option(name: .long, help: "jsonl or csv; by the file's name when left out.")
  var format: Format?

  @Option(
    name: .long,
    help: ArgumentHelp(
      "Properties that identify a record, with commas between; rows found are updated.",
      valueName: "keys"))
  var key: String?

  @Option(
    name: .long, parsing: .unconditional,
    help: ArgumentHelp("Rows in a transaction; 500 when left out.", valueName: "rows"))
  var batch: Int?

  @Flag(
    inversion: .prefixedNo, help: "Make records that relationships name and that are not there.")
  var createMissing = true

  @Option(name: .long, help: "The author in the history.")
  var author: String?

  func validate() throws {
    guard (1...100_000).contains(batch ?? 1) else {
      throw ValidationError("--batch is a number from 1 to 100000.")
    }
    let keys = key?.split(separator: ",", omittingEmptySubsequences: false).map(\.trimmed) ?? []
    guard !keys.contains("") else {
      throw ValidationError("--key names properties, with commas between.")
    }
    guard entity == nil else { return }
    if isCSV { throw ValidationError("CSV does not say its entity: name it with --entity.") }
    if key != nil { throw ValidationError("--key goes with --entity.") }
  }

  func run() throws {
    let source = try ByteSource(path: file)
    let client = try shared.connect()
    var reader = try makeReader(client)
    var upload = try ImportUpload(client: client, command: self)
    let bar = ProgressBar(isShown: !shared.json && ProgressBar.canBeSeen)
    do {
      while let bytes = try source.next() {
        try reader.read(bytes) { try upload.add($0) }
        bar.show(source.fraction, Readable.count(upload.rowCount, "row"))
      }
      for row in try reader.finish() { try upload.add(row) }
      try upload.finish()
    } catch {
      bar.clear()
      upload.settle()
      throw describe(error, upload)
    }
    bar.clear()
    let total = upload.total
    if let batch, upload.isCutBySize {
      Output.note(
        "note: transactions hold fewer rows than --batch \(batch) says, since one ends at 512 KiB "
          + "of JSON")
    }
    if shared.json { return try Output.json(total) }
    Output.line(
      "\(Readable.count(upload.rowCount, "row")): \(total.inserted) inserted, "
        + "\(total.updated) updated, \(total.unchanged) unchanged, "
        + "\(total.created) related created")
  }

  private var isCSV: Bool { (format ?? (file.hasSuffix(".csv") ? .csv : .jsonl)) == .csv }

  private func makeReader(_ client: ControlClient) throws -> any ImportReader {
    guard isCSV, let entity else { return JSONLinesReader() }
    let model = try client.call(GetModel.self, NoValues()).model
    return CSVReader(types: try TypedValues(entity: entity, model: model))
  }

  /// Names the file and the line, and what is in already.
  private func describe(_ error: any Error, _ upload: ImportUpload) -> any Error {
    let name = file == "-" ? "standard input" : file
    let total = upload.total
    let done = total.inserted + total.updated + total.unchanged
    func failure(_ text: String, line: Int, after cure: String, _ cause: (any Error)? = nil)
      -> CommandFailure
    {
      CommandFailure(
        message: "\(name):\(line): \(text)",
        hint:
          "\(cure); \(Readable.count(done, "row")) of earlier batches are in: import the rest from line "
          + "\(upload.openLine ?? line) on" + (isCSV ? ", below the header" : "")
          + (key == nil && entity != nil
            ? ", or all with --key to pass over rows that are in" : ""),
        cause: cause)
    }
    switch error {
    case let problem as InputProblem:
      return failure(problem.reason, line: problem.line, after: "correct the file")
    case ControlError.importFailed(let line, let reason):
      return failure(reason, line: line, after: "correct the file")
    case let error as ControlError:
      guard done > 0, let line = upload.openLine else { return error }
      return failure(
        "the batch that begins here failed: \(error)", line: line,
        after: error.hint ?? "mend that", error)
    case let error as ControlClientError:
      guard let line = upload.openLine else { return error }
      return failure(
        "the batch that begins here had no answer, and may be in: \(error)", line: line,
        after: error.hint ?? "mend that", error)
    default: return error
    }
  }
}
