// cairnctl export
import ArgumentParser
import CairnControl
import CairnPlatform
import CairnRecords

struct ExportCommand: ParsableCommand {
  enum Format: String, CaseIterable, ExpressibleByArgument {
    case jsonl, csv
  }

  static let configuration = CommandConfiguration(
    commandName: "export", abstract: "Write records for `cairnctl import`, of any store or file.",
    discussion: """
      JSON Lines: one object a record, which says its entity, of all entities or of those named. \
      CSV: one entity, with a header. A missing value is an empty field, an empty text "".

      A record that another one refers to is named by the values of its uniqueness constraint, else by \
      all its plain values, so that `cairnctl import FILE` makes an equal store elsewhere. Where these \
      do not tell it from others, it is named by its ID, and a note says so.

      All of it is read at one moment: what others write meanwhile is not in it, and they do not wait.
      """)

  @OptionGroup var shared: SharedOptions

  @Option(
    name: .long, help: "An entity, its subentities included; may come several times.",
    completion: .entities)
  var entity: [String] = []

  @Option(
    name: .customLong("where"),
    help: ArgumentHelp(
      "Only records that a predicate in Core Data's format language accepts; with one --entity.",
      valueName: "predicate"))
  var predicate: String?

  @Option(name: .long, help: "jsonl or csv; jsonl when left out.")
  var format: Format = .jsonl

  @OptionGroup var source: SourceOptions

  func validate() throws {
    if predicate != nil, entity.count != 1 {
      throw ValidationError("--where goes with one --entity.")
    }
    if format == .csv, entity.count != 1 {
      throw ValidationError("CSV holds one entity: name it with --entity.")
    }
  }

  func run() throws {
    if let file = try source.open() {
      return try run(file.model) { _ in try file.snapshot() }
    }
    let client = try shared.connect()
    try run(client.call(GetModel.self, NoValues()).model) { fetches in
      try ExportStream(client, fetches, store: source.store).next
    }
  }

  private func run(
    _ model: ModelSummary, _ open: ([ExportRecords.Fetch]) throws -> ExportRun.Fetch
  ) throws {
    let plan = try ExportPlan(model, entities: entity)
    if format == .csv, plan.steps.count != 1 {
      throw CommandFailure(
        message: "\(entity.first ?? "") stands for \(plan.steps.count) entities, and CSV holds one",
        hint: plan.steps.isEmpty
          ? "`cairnctl model show` lists entities"
          : "JSON Lines holds them all: cairnctl export --format jsonl --entity "
            + ShellWord.quoted(entity.first ?? ""))
    }
    let isWhole = format == .csv
    let fetch = try open(
      ExportRun.fetches(of: plan, where: predicate, model, isWhole: isWhole))
    var export = ExportRun(plan, where: predicate, fetch: fetch)
    var writer = ExportWriter(format: format)
    if format == .csv, let step = plan.steps.first {
      writer.begin(step.attributes + (step.references + step.later).map(\.name))
    }
    // On a terminal the rows themselves show how far it is.
    let bar = ProgressBar(
      isShown: !StandardStream.output.isTerminal && ProgressBar.canBeSeen)
    defer { bar.clear() }
    var count = 0
    try export.run(model, isWhole: isWhole) { entity, row in
      try writer.add(row, of: entity)
      count += 1
      bar.show(nil, "\(Readable.count(count, "row")), \(entity.name)")
    }
    bar.clear()
    note(plan, export)
  }

  /// Says what an import will not make as it is here.
  private func note(_ plan: ExportPlan, _ export: ExportRun) {
    for (name, count) in export.referencesByID.sorted(by: { $0.key < $1.key }) {
      Output.note(
        "note: \(Readable.count(count, "reference")) to \(name) \(count == 1 ? "is" : "are") by ID: no "
          + "other values tell these records apart; only a store that holds them can import this")
    }
    for name in plan.left {
      Output.note("note: \(name) is left out: an import could not find its records again")
    }
    for name in plan.late where format == .jsonl {
      Output.note(
        "note: \(name) is required, and is not in the first rows; an import may refuse them")
    }
  }
}

/// Writes exported rows.
private struct ExportWriter {
  let format: ExportCommand.Format
  private var columns: [String] = []

  init(format: ExportCommand.Format) { self.format = format }

  mutating func begin(_ columns: [String]) {
    self.columns = columns
    Output.line(columns.map { RowPrinter.csvField($0) }.joined(separator: ","))
  }

  func add(_ row: [String: JSONValue], of entity: EntitySummary) throws {
    switch format {
    case .jsonl:
      var row = row
      row["entity"] = .string(entity.name)
      Output.line(JSONValue.object(row).text)
    case .csv:
      let fields = columns.map { Self.field(row[$0]) }
      // An empty line is no row.
      guard fields != [""] else {
        throw CommandFailure(
          message: "a \(entity.name) without a value of its only property is no line of CSV",
          hint: "cairnctl export --entity \(entity.name) --format jsonl")
      }
      Output.line(fields.joined(separator: ","))
    }
  }

  private static func field(_ value: JSONValue?) -> String {
    switch value {
    case .none, .some(.null): ""
    case .some(.string("")): "\"\""
    case .some(.string(let text)): RowPrinter.csvField(text)
    case .some(let value): RowPrinter.csvField(value.text)
    }
  }
}
