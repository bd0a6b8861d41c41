// cairnctl store migrate
import ArgumentParser
import CairnControl

struct StoreMigrateCommand: ParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "migrate", abstract: "Bring stores to the current version of the daemon's model.",
    discussion: """
      Stores follow the model by themselves where nothing is lost. What would be dropped is decided here: \
      until then the store is served at the version that it has. The daemon says first what is changed and \
      dropped, with the rows; with --dry-run nothing else. Before values are dropped a copy is kept beside the \
      backups, of a database as a SQLite store; those of a file are not dropped while another process has it \
      open, which is named. For files that no daemon serves see migrate.
      """)

  @OptionGroup var shared: SharedOptions

  @Argument(
    help: ArgumentHelp(
      "The store's name; all stores when left out, the local one first.", valueName: "store"),
    completion: .stores)
  var name: String?

  @Flag(help: "Say what would happen, and change nothing.")
  var dryRun = false

  @Flag(help: "Migrate although values are dropped.")
  var allowDrop = false

  func run() throws {
    let client = try shared.connect()
    // Values are copied table by table.
    if shared.timeout == nil { client.timeout = .seconds(3600) }
    let bar = ProgressBar(isShown: !shared.json && ProgressBar.canBeSeen)
    var plans: [MigrateStores.Plan] = []
    var hasResult = false
    do {
      try client.stream(
        MigrateStores.self,
        .init(name: name, allowDrop: allowDrop ? true : nil, dryRun: dryRun ? true : nil)
      ) { reply in
        if let progress = reply.progress, let total = progress.total, total > 0 {
          return bar.show(Double(progress.done) / Double(total), "migrating")
        }
        bar.clear()
        if shared.json, reply != MigrateStores.Reply() { return try Output.json(reply) }
        if let plan = reply.plan {
          if !plans.isEmpty { Output.line("") }
          plans.append(plan)
          Self.lines(plan).forEach(Output.line)
        }
        if let result = reply.result {
          if !hasResult { Output.line("") }
          hasResult = true
          Output.line(TerminalText.oneLine("\(result.store): migrated to \(result.version)"))
          if let kept = result.kept {
            Output.line(TerminalText.oneLine("  as it was: \(kept)"))
          }
        }
      }
    } catch {
      bar.clear()
      throw error
    }
    guard dryRun, !shared.json else { return }
    Output.line("")
    Output.line(Self.ending(plans))
  }

  private static func ending(_ plans: [MigrateStores.Plan]) -> String {
    if plans.allSatisfy(\.isDone) { return "nothing has to be done" }
    if plans.contains(where: { !$0.obstacles.isEmpty }) {
      return "nothing was changed; this cannot be done as it is"
    }
    return plans.allSatisfy { $0.losses.isEmpty && $0.needsConsent != true }
      ? "nothing was changed; without --dry-run this is done"
      : "nothing was changed; with --allow-drop and without --dry-run this is done"
  }

  private static func lines(_ plan: MigrateStores.Plan) -> [String] {
    if plan.isDone, let step = plan.steps.first {
      return [TerminalText.oneLine("\(plan.store): of \(step.to) already")]
    }
    let users = plan.users ?? []
    return plan.steps.flatMap { lines($0, of: plan.store) }
      + (users.isEmpty
        ? [] : TerminalText.wrapped("open in: \(users.joined(separator: ", "))", indent: "  "))
  }

  private static func lines(_ step: MigrateStores.Step, of store: String) -> [String] {
    let way =
      switch step.way {
      case .none: "as it is"
      case .lightweight: "by lightweight migration"
      case .mapping: "by a mapping model"
      case .missing: "a mapping model is needed, and none is in the package or beside it"
      }
    var lines = TerminalText.wrapped("\(store): from \(step.from) to \(step.to), \(way)")
    func add(_ counts: [MigrateStores.Count], _ title: String, _ unit: String, isBad: Bool) {
      guard !counts.isEmpty else { return }
      var table = TextTable([title, unit])
      for count in counts {
        table.add([
          .init(count.place),
          .init("\(count.values)", tone: isBad && count.values > 0 ? .bad : nil, isNumber: true),
        ])
      }
      lines += table.lines(columns: TerminalText.terminalColumns.map { $0 - 2 }).map { "  \($0)" }
    }
    add(step.changed, "CHANGED", "ROWS", isBad: false)
    add(step.dropped, "DROPPED", "ROWS WITH VALUES", isBad: true)
    for obstacle in step.obstacles {
      lines += TerminalText.wrapped(
        "cannot be done: \(obstacle.place): \(obstacle.reason)", indent: "  ")
    }
    return lines
  }
}
