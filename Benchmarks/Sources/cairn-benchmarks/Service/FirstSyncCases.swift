// How fast a filled local store reaches an empty replica, and what the daemon needs for it.

import Cairn
import CairnSync
import Foundation
import GRDBSQLite

extension ServiceCases {
  /// The engine in this process, where a profiler sees it.
  func firstSyncInProcess() throws -> [CaseResult] {
    let cairn = Contestant(name: "Cairn") {
      try withFolder { folder in
        let local = folder.appendingPathComponent("local.sqlite")
        let replica = folder.appendingPathComponent("replica.sqlite")
        try writeStore(local, modelIn: folder)
        let application = try Application(local, modelIn: folder)
        let engine = try application.makeEngine()
        let seconds = try timed {
          try blocking {
            try engine.addReplica(ReplicaConfiguration(name: "replica", url: replica))
            try await engine.wait(timeout: .seconds(1800))
          }
        }
        try blocking { await engine.stop() }
        try application.close()
        try check(replica, holds: rows)
        return seconds
      }
    }
    return [
      try measure(
        "first sync of \(rows), engine in this process (raw: insert + version row)", units: rows,
        rounds: rounds, must: 8, aim: 4, [rawWithVersions, cairn])
    ]
  }

  /// The daemon, from `store add` until `wait` says that the replica has everything.
  func firstSync() throws -> [CaseResult] {
    var memory: [Double] = []
    let cairn = Contestant(name: "Cairn") {
      try withFolder { folder in
        try writeStore(folder.appendingPathComponent("local.sqlite"), modelIn: folder)
        let daemon = try RunningDaemon(in: folder, programs: programs)
        defer { daemon.stop() }
        try daemon.figures.forgetPeak()
        let replica = RunningDaemon.replica(0, in: folder)
        let seconds = try timed(with: daemon) {
          try daemon.add(replica)
          try daemon.waitForReplicas()
        }
        memory.append(daemon.figures.peakMemory)
        try check(replica, holds: rows)
        return seconds
      }
    }
    let ratio = try measure(
      "first sync of \(rows) (raw: insert + version row)", units: rows, rounds: rounds, must: 8,
      aim: 4, [rawWithVersions, cairn])
    let seconds = ratio.seconds["Cairn"] ?? []
    return [
      ratio,
      .amounts(
        "first sync of \(rows), in all", seconds, must: 60 * Double(rows) / 1e6,
        aim: 25 * Double(rows) / 1e6, unit: "s"),
      .amounts("memory merging \(rows)", memory, must: 150, aim: 100, unit: "MB"),
    ]
  }

  private var rawWithVersions: Contestant {
    Contestant(name: "raw") {
      let file = workspace.newFile()
      defer { workspace.remove(file) }
      let database = try RawDatabase(file)
      try database.createSampleTable()
      return try timed { try database.insertWithVersions(samples) }
    }
  }
}

extension RawDatabase {
  /// Inserts the rows, and for each a row of bookkeeping with a stamp.
  func insertWithVersions(_ rows: [Sample]) throws {
    try execute("CREATE TABLE version (id INTEGER PRIMARY KEY, stamp BLOB)")
    try insert(rows)
    try execute("BEGIN IMMEDIATE")
    let statement = try prepare("INSERT INTO version VALUES (?, ?)")
    defer { sqlite3_finalize(statement) }
    let stamp = Data(repeating: 7, count: 24)
    for row in rows {
      sqlite3_bind_int64(statement, 1, row.number + 1)
      _ = stamp.withUnsafeBytes {
        sqlite3_bind_blob(statement, 2, $0.baseAddress, Int32($0.count), Self.transient)
      }
      _ = try step(statement)
      sqlite3_reset(statement)
    }
    try execute("COMMIT")
  }
}

/// Runs async work from this synchronous program.
func blocking<T: Sendable>(_ work: @escaping @Sendable () async throws -> T) throws -> T {
  let done = DispatchSemaphore(value: 0)
  let box = ResultBox<T>()
  Task {
    do {
      box.result = .success(try await work())
    } catch {
      box.result = .failure(error)
    }
    done.signal()
  }
  done.wait()
  guard let result = box.result else { throw CancellationError() }
  return try result.get()
}

// Unchecked: written before the semaphore is signalled, read after it was waited for.
private final class ResultBox<T: Sendable>: @unchecked Sendable {
  var result: Result<T, any Error>?
}
