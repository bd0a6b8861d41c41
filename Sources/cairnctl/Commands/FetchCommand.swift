// cairnctl fetch
import ArgumentParser
import CairnControl

struct FetchCommand: ParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "fetch", abstract: "Read records.",
    discussion: """
      Example: cairnctl fetch Package --where 'section.name == "libs" AND size > 1000' \
      --sort -size,name --limit 10
      """)

  @OptionGroup var shared: SharedOptions

  @Argument(help: "The entity.", completion: .entities)
  var entity: String

  @Option(
    name: .customLong("where"),
    help: ArgumentHelp("A predicate in Core Data's format language.", valueName: "predicate"))
  var predicate: String?

  @Option(
    name: .long, parsing: .unconditional,
    help: ArgumentHelp("Key paths with commas between, - for descending.", valueName: "keys"))
  var sort: String?

  @Option(
    name: .long,
    help: ArgumentHelp("Properties and key paths to show, with commas between.", valueName: "keys"))
  var properties: String?

  @Option(name: .long, parsing: .unconditional, help: "At most so many records; 0 for all.")
  var limit: Int?

  @Option(name: .long, parsing: .unconditional, help: "Leave out so many records first.")
  var offset: Int?

  @Option(
    name: .long,
    help: ArgumentHelp(
      "Go on behind the row of that number, as a fetch that was cut says; without --sort.",
      valueName: "number"))
  var after: Int?

  @OptionGroup var source: SourceOptions

  @Option(name: .long, help: "How rows are written: table, jsonl or csv.")
  var format: RowFormat?

  func validate() throws {
    if let properties, Self.list(properties)?.isEmpty ?? true {
      throw ValidationError("--properties names at least one; without it all are shown.")
    }
    if let limit, limit < 0 { throw ValidationError("--limit cannot be negative.") }
    if let offset, offset < 0 { throw ValidationError("--offset cannot be negative.") }
    if let after, after < 0 || sort != nil || (offset ?? 0) > 0 {
      throw ValidationError("--after is a number from 0, and goes without --sort and --offset.")
    }
  }

  func run() throws {
    let chosen = Self.list(properties)
    var writer = RowPrinter(
      format: format ?? (shared.json ? .jsonl : .table),
      showsID: chosen?.contains("id") ?? true)
    let parameters = FetchRecords.Parameters(
      entity: entity, predicate: predicate, sort: Self.list(sort),
      properties: chosen?.filter { $0 != "id" }, limit: limit, offset: offset,
      store: source.store, after: after)
    var last: Int?
    func write(_ reply: FetchRecords.Reply) {
      if let properties = reply.properties { writer.begin(properties) }
      for row in reply.rows { writer.add(row) }
      last = reply.last ?? last
    }
    if let opened = try source.open() {
      try opened.fetch(parameters, emit: write)
    } else {
      do {
        try shared.connect().stream(FetchRecords.self, parameters) { write($0) }
      } catch {
        writer.end()
        if let last { Output.note("note: the rest of it comes with --after \(last)") }
        throw error
      }
    }
    writer.end()
  }

  private static func list(_ text: String?) -> [String]? {
    text.map { $0.split(separator: ",").map { $0.trimmed } }
  }
}

extension Substring {
  /// The text without white space at its ends.
  var trimmed: String {
    let start = drop { $0.isWhitespace }
    return String(start.reversed().drop { $0.isWhitespace }.reversed())
  }
}
