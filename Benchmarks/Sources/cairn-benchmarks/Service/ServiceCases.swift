// The cases of the service: a real daemon, its stores, and programs that use them.

import Foundation

/// Builds and runs every case that needs the daemon.
struct ServiceCases {
  let rows: Int
  let rounds: Int
  let workspace: Workspace
  /// Where cairnd and cairnctl lie.
  let programs: URL
  let samples: [Sample]

  init(rows: Int, rounds: Int, workspace: Workspace, programs: URL) throws {
    for name in ["cairnd", "cairnctl"] {
      let path = programs.appendingPathComponent(name).path
      guard FileManager.default.isExecutableFile(atPath: path) else {
        throw RawError(description: "there is no program \(path); build it, or say --programs")
      }
    }
    self.rows = rows
    self.rounds = rounds
    self.workspace = workspace
    self.programs = programs
    samples = Sample.rows(rows)
  }

  /// Runs the cases; `each` gets the results of a case when they are there.
  func all(only: String?, each: ([CaseResult]) -> Void) throws {
    let cases: [(name: String, run: () throws -> [CaseResult])] = [
      ("import", importRows), ("first sync engine", firstSyncInProcess), ("first sync", firstSync),
      ("pull", disturbedPull), ("latency", latency), ("writer", writerCost),
      ("idle 2", idleMemory), ("blobs", blobMemory), ("idle 20", idleCost), ("verify", verify),
      ("control", controlCalls),
    ]
    let named = cases.filter { $0.name == only }
    let wanted = named.isEmpty ? cases.filter { only.map($0.name.contains) ?? true } : named
    for element in wanted { each(try element.run()) }
  }

  /// Lets `body` use a folder of its own, with room for a daemon's files.
  func withFolder<T>(_ body: (URL) throws -> T) throws -> T {
    let folder = workspace.newFile().deletingPathExtension()
    try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true)
    defer { try? FileManager.default.removeItem(at: folder) }
    return try body(folder)
  }

  /// A store of the cases' model with all rows in it.
  func writeStore(_ file: URL, modelIn folder: URL, aSave: Int = 1000) throws {
    let writer = try Application(file, modelIn: folder)
    try writer.insert(samples, aSave: aSave)
    try writer.close()
  }

  /// Makes sure that a file holds what it should, as read from outside.
  func check(_ file: URL, holds count: Int, of entity: String = "Item") throws {
    let found = try RawDatabase(file).count(of: entity)
    guard found == count else {
      throw RawError(description: "\(file.lastPathComponent): \(found) rows, not \(count)")
    }
  }

  // MARK: Importing

  /// `cairnctl import` of JSON Lines, against Python's sqlite3 inserting the same rows.
  private func importRows() throws -> [CaseResult] {
    try withFolder { folder in
      let lines = folder.appendingPathComponent("rows.jsonl")
      try ServiceModel.writeLines(samples, to: lines)
      let script = folder.appendingPathComponent("insert.py")
      try Self.pythonInsert.write(to: script, atomically: true, encoding: .utf8)
      var inserting: [Double] = []
      let python = Contestant(name: "raw") {
        try withFolder { folder in
          let database = folder.appendingPathComponent("python.sqlite").path
          let clock = BenchmarkClock.countsProcessorTime ? "process_time" : "perf_counter"
          var text = ""
          let seconds = try timed(with: nil) {
            text = try Program.run("python3", [script.path, lines.path, database, clock])
          }
          guard let part = Double(text.trimmingCharacters(in: .whitespacesAndNewlines)) else {
            throw RawError(description: "Python says \(text)")
          }
          inserting.append(part)
          return seconds
        }
      }
      let cairn = Contestant(name: "Cairn") {
        try withFolder { folder in
          let daemon = try RunningDaemon(in: folder, programs: programs)
          defer { daemon.stop() }
          let seconds = try timed(with: daemon) {
            try daemon.control("import", lines.path, "--entity", "Item")
          }
          try check(daemon.local, holds: rows)
          return seconds
        }
      }
      let whole = try measure(
        "cairnctl import of \(rows) JSON rows (raw: Python's json and sqlite3)", units: rows,
        rounds: rounds, must: 6, aim: 3, [python, cairn])
      // The same run, without what Python needs to start and to read the JSON.
      var part = CaseResult(
        name: "cairnctl import of \(rows) JSON rows (raw: inserting alone)", units: rows, must: nil,
        aim: nil)
      part.seconds = ["raw": Array(inserting.dropFirst()), "Cairn": whole.seconds["Cairn"] ?? []]
      return [whole, part]
    }
  }

  private static let pythonInsert = """
    import json, sqlite3, sys, time
    clock = getattr(time, sys.argv[3])
    names = ["number", "group", "count", "ratio", "weight", "created", "code", "name", "title", "payload"]
    rows = [json.loads(line) for line in open(sys.argv[1])]
    rows = [tuple(row[name] for name in names) for row in rows]
    database = sqlite3.connect(sys.argv[2])
    database.execute("PRAGMA journal_mode = WAL")
    database.execute("PRAGMA synchronous = NORMAL")
    database.execute(
      "CREATE TABLE item (id INTEGER PRIMARY KEY, number INTEGER, grp INTEGER, count INTEGER, "
      "ratio FLOAT, weight FLOAT, created TIMESTAMP, code VARCHAR, name VARCHAR, title VARCHAR, "
      "payload BLOB)")
    start = clock()
    database.executemany(
      "INSERT INTO item (number, grp, count, ratio, weight, created, code, name, title, payload) "
      "VALUES (?,?,?,?,?,?,?,?,?,?)", rows)
    database.commit()
    print(clock() - start)
    """

  // MARK: Verifying

  /// `cairnctl verify` of a local store and a replica that are equal, less what cairnctl itself takes.
  private func verify() throws -> [CaseResult] {
    try withFolder { folder in
      try writeStore(folder.appendingPathComponent("local.sqlite"), modelIn: folder)
      let daemon = try RunningDaemon(in: folder, programs: programs, replicas: 1)
      defer { daemon.stop() }
      try daemon.waitForReplicas()
      let levels: [(name: String, level: String, must: Double?, aim: Double?)] = [
        ("by digests", "quick", Double(rows) / 1e6, Double(rows) / 1e7),
        ("every value", "full", nil, nil),
      ]
      return try levels.map { name, level, must, aim in
        try measure(
          "verify of equal stores of \(rows), \(name)", must: must, aim: aim, unit: "s",
          rounds: rounds
        ) {
          let nothing = try timed(with: daemon) { try daemon.control("stores") }
          return try timed(with: daemon) { try daemon.control("verify", "--level", level) }
            - nothing
        }
      }
    }
  }
}

/// Measures an amount of something, after one round that warms up where `warmsUp` says so.
func measure(
  _ name: String, must: Double?, aim: Double?, unit: String, rounds: Int, warmsUp: Bool = true,
  _ amount: () throws -> Double
) throws -> CaseResult {
  if warmsUp { _ = try amount() }
  return .amounts(
    name, try (0..<rounds).map { _ in try amount() }, must: must, aim: aim, unit: unit)
}

extension CaseResult {
  /// Amounts of a unit that were measured one by one.
  static func amounts(
    _ name: String, _ values: [Double], must: Double?, aim: Double?, unit: String
  ) -> CaseResult {
    var result = CaseResult(name: name, units: 1, must: must, aim: aim)
    result.unit = unit
    result.seconds["Cairn"] = values
    return result
  }
}
