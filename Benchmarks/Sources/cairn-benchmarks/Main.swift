// The command: runs every case, prints the table, writes JSON, and checks the targets on demand.

import ArgumentParser
import Foundation

@main
struct BenchmarkCommand: ParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "cairn-benchmarks",
    abstract: "Measures Cairn against raw SQLite and GRDB, all in the same run.")

  @Option(help: "Rows in each case.") var rows = 100_000
  @Option(help: "Counted rounds of each case, after one that warms up.") var rounds = 3
  @Option(help: "Writes the figures to this file as JSON.") var json: String?
  @Option(help: "Runs only the case of this name, or all that contain it.") var only: String?
  @Flag(help: "Ends with an error when a ratio misses what it must reach.") var check = false

  @Flag(help: "Shows instead how costs grow from a tenth of the rows to all of them.")
  var growth = false

  @Flag(help: "Measures instead the daemon: imports, sync, what it needs and what others notice.")
  var service = false

  @Flag(
    name: .customLong("postgresql"),
    help: "Measures instead PostgreSQL stores and daemons on one, at a server of its own.")
  var postgreSQL = false

  @Option(help: "The folder of cairnd and cairnctl; that of this program when left out.")
  var programs: String?

  @Flag(help: "Counts the processor time of the process: steadier where others work as well.")
  var processorTime = false

  func run() throws {
    BenchmarkClock.countsProcessorTime = processorTime
    let workspace = try Workspace()
    if growth { return try runGrowth(workspace) }
    if service { return try runService(workspace) }
    if postgreSQL { return try runPostgreSQL(workspace) }
    let results = try Cases(rows: rows, rounds: rounds, workspace: workspace, only: only).all()
    Report(results: results).printTable()
    try finish(results)
  }

  /// Writes the figures where that is wanted, and holds them against the targets.
  private func finish(_ results: [CaseResult]) throws {
    if let json { try Report(results: results).writeJSON(to: URL(fileURLWithPath: json)) }
    let missed = results.filter { result in
      guard let must = result.must, let figure = result.figure else { return false }
      return figure > must
    }
    if check, !missed.isEmpty {
      for result in missed { print("missed: \(result.name)") }
      throw ExitCode.failure
    }
  }

  private func runService(_ workspace: Workspace) throws {
    let cases = try serviceCases(workspace)
    try finish(printing { try cases.all(only: only, each: $0) })
  }

  private func runPostgreSQL(_ workspace: Workspace) throws {
    guard let cases = try PostgreSQLCases(serviceCases(workspace)) else {
      let notice =
        "NOT MEASURED: no PostgreSQL server is installed; `make postgresql-server` installs Debian's package\n"
      FileHandle.standardError.write(Data(notice.utf8))
      return
    }
    try finish(printing { try cases.all(only: only, each: $0) })
  }

  private func serviceCases(_ workspace: Workspace) throws -> ServiceCases {
    let folder =
      programs.map { URL(fileURLWithPath: $0) }
      ?? Bundle.main.executableURL?.deletingLastPathComponent()
    guard let folder else { throw ValidationError("say with --programs where cairnd is") }
    return try ServiceCases(rows: rows, rounds: rounds, workspace: workspace, programs: folder)
  }

  /// Prints the results of cases as they come.
  private func printing(
    _ run: (([CaseResult]) -> Void) throws -> Void
  ) rethrows -> [CaseResult] {
    var results: [CaseResult] = []
    Report.printHeading()
    try run { found in
      Report(results: found).printLines()
      results += found
    }
    return results
  }

  private func runGrowth(_ workspace: Workspace) throws {
    let growth = Growth(rows: rows, rounds: rounds, workspace: workspace)
    growth.printHeading()
    let results = try growth.all(only: only)
    if check, results.contains(where: { $0.factor > Growth.limit }) { throw ExitCode.failure }
  }
}
