// A PostgreSQL store as the replica of daemons.

import Cairn
import CairnSync
import Foundation

extension PostgreSQLCases {
  /// Every record of a store that is in sync changes in two values; the engine in this process merges them into the hub.
  func applyChanges() throws -> [CaseResult] {
    let raw = Contestant(name: "raw") {
      try withSchema { schema in
        let database = try RawPostgreSQL(server, schema: schema)
        try database.insert(samples)
        try database.analyze()
        return try timed { try database.merge(samples) }
      }
    }
    let cairn = Contestant(name: "Cairn") {
      try withHub { hub, folder in
        let local = folder.appendingPathComponent("local.sqlite")
        try service.writeStore(local, modelIn: folder)
        let application = try Application(local, modelIn: folder)
        try synchronize(application, with: hub)
        try application.changeItems()
        try server.query("VACUUM ANALYZE")
        try server.query("CHECKPOINT")
        let seconds = try timed { try synchronize(application, with: hub) }
        try application.close()
        try check(hub, "title LIKE 'changed %'", is: rows)
        return seconds
      }
    }
    return [
      try measure(
        "PostgreSQL: \(rows) changes synchronized (raw: COPY + merge of rows)", units: rows,
        rounds: rounds, must: 2, aim: 1.3, [raw, cairn])
    ]
  }

  private func synchronize(_ application: Application, with hub: String) throws {
    let engine = try application.makeEngine()
    let configuration = ReplicaConfiguration(
      name: "hub", type: "PostgreSQL", url: try server.url(hub))
    try blocking {
      try engine.addReplica(configuration)
      try await engine.wait(timeout: .seconds(1800))
    }
    try blocking { await engine.stop() }
  }

  /// From the end of a save in this process until the row is seen at the server.
  func latency() throws -> [CaseResult] {
    var middle: [Double] = []
    var late: [Double] = []
    for _ in 0..<rounds {
      try withHub { hub, folder in
        let daemon = try RunningDaemon(in: folder, programs: service.programs)
        defer { daemon.stop() }
        try add(hub, to: daemon)
        let application = try Application(daemon.local, modelIn: folder)
        let reader = try RawLibPQ(server.connection)
        try reader.prepare("newest", "SELECT max(number) FROM \(hub).note")
        func newest() throws -> Int64 {
          try reader.run("newest") { rows in
            guard reader.isNull(rows, 0, 0) == 0, let value = reader.value(rows, 0, 0) else {
              return 0
            }
            return Int64(bigEndian: UnsafeRawPointer(value).loadUnaligned(as: Int64.self))
          }
        }
        var generator = SeededGenerator(seed: 7)
        let times = try (1...220).map { number in
          usleep(.random(in: 20_000...40_000, using: &generator))
          _ = try application.saveNote(number)
          let start = ContinuousClock.now
          while try newest() < Int64(number) {
            guard start.duration(to: .now) < .seconds(30) else {
              throw RawError(description: "a save does not arrive")
            }
            usleep(200)
          }
          return start.duration(to: .now) / .milliseconds(1)
        }
        try application.close()
        // The first ones warm both programs up.
        middle.append(percentile(Array(times.dropFirst(20)), 0.5))
        late.append(percentile(Array(times.dropFirst(20)), 0.99))
      }
    }
    return [
      .amounts(
        "PostgreSQL: a save in another process until it is at the server, p50", middle, must: 10,
        aim: 3, unit: "ms"),
      .amounts(
        "PostgreSQL: a save in another process until it is at the server, p99", late, must: 100,
        aim: 30, unit: "ms"),
    ]
  }

  /// The daemon, from `store add` until `wait` says that the server has everything.
  func firstSync() throws -> [CaseResult] {
    var memory: [Double] = []
    let seconds = try (0..<rounds).map { _ in
      try withHub { hub, folder in
        try service.writeStore(folder.appendingPathComponent("local.sqlite"), modelIn: folder)
        let daemon = try RunningDaemon(in: folder, programs: service.programs)
        defer { daemon.stop() }
        try daemon.figures.forgetPeak()
        let seconds = try timed { try add(hub, to: daemon) }
        memory.append(daemon.figures.peakMemory)
        try check(hub, "true", is: rows)
        return seconds
      }
    }
    return [
      .amounts(
        "PostgreSQL: first sync of \(rows), in all", seconds, must: 90 * Double(rows) / 1e6,
        aim: 40 * Double(rows) / 1e6, unit: "s"),
      .amounts("memory of the daemon meanwhile", memory, must: 150, aim: 100, unit: "MB"),
    ]
  }

  /// What the server is asked by fifty daemons that have nothing to do.
  func idleHub() throws -> [CaseResult] {
    let statements = try withHub { hub, folder in
      var daemons: [RunningDaemon] = []
      defer { for daemon in daemons { daemon.stop() } }
      for number in 1...50 {
        let own = folder.appendingPathComponent("\(number)")
        try FileManager.default.createDirectory(at: own, withIntermediateDirectories: true)
        let writer = try Application(own.appendingPathComponent("local.sqlite"), modelIn: own)
        try writer.insert((0..<10).map { Sample(number * 10 + $0) })
        try writer.close()
        let daemon = try RunningDaemon(in: own, programs: service.programs)
        daemons.append(daemon)
        try add(hub, to: daemon)
      }
      // What the last ones brought has to reach the first.
      for daemon in daemons {
        let reader = try RawDatabase(daemon.local)
        for _ in 0..<1200 where try reader.count(of: "Item") < 500 { usleep(100_000) }
        try service.check(daemon.local, holds: 500)
      }
      // The slow look of each, a minute after the last commit, is a pass: it finds what the daemon committed itself.
      sleep(90)
      return try server.statements(during: 60)
    }
    return [
      .amounts(
        "PostgreSQL: 50 daemons idle, statements a second at the server", [statements / 60],
        must: 10, aim: 1, unit: "/s")
    ]
  }

  // MARK: Helpers

  /// A schema for a store, and a folder for a daemon.
  private func withHub<T>(_ body: (String, URL) throws -> T) throws -> T {
    try withSchema { schema in try service.withFolder { try body(schema, $0) } }
  }

  private func add(_ hub: String, to daemon: RunningDaemon) throws {
    try daemon.control(
      "store", "add", "hub", "postgresql", server.connection, "--schema", hub)
    try daemon.waitForReplicas()
  }

  private func check(_ hub: String, _ condition: String, is count: Int) throws {
    let found = try server.query("SELECT count(*) FROM \(hub).item WHERE \(condition)")
    guard found == "\(count)" else {
      throw RawError(description: "the hub has \(found) rows, not \(count)")
    }
  }
}

extension BenchmarkServer {
  /// How many statements others run in so many seconds, as the server's log tells.
  func statements(during seconds: UInt32) throws -> Double {
    func log() throws -> [Substring] {
      try String(contentsOfFile: "\(folder)/server.log", encoding: .utf8).split(separator: "\n")
    }
    for command in ["ALTER SYSTEM SET log_statement = 'all'", "SELECT pg_reload_conf()"] {
      try query(command)
    }
    sleep(1)
    let before = try log().count
    sleep(seconds)
    let lines = try log().dropFirst(before)
    for command in ["ALTER SYSTEM RESET log_statement", "SELECT pg_reload_conf()"] {
      try query(command)
    }
    return Double(
      lines.filter { $0.contains("LOG:  execute ") || $0.contains("LOG:  statement: ") }.count)
  }
}
