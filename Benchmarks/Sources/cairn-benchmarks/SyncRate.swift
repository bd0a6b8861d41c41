// How fast a filled local store reaches an empty replica.

import Cairn
import CairnSync
import Foundation
import GRDBSQLite

/// The first sync of a replica, against raw inserts with a version row each.
struct SyncRate {
  let rows: Int
  let rounds: Int
  let workspace: Workspace

  func measureRate() throws -> CaseResult {
    let samples = Sample.rows(rows)
    return try measure(
      "sync: local to an empty replica (raw: insert + version row)", units: rows, rounds: rounds,
      [
        Contestant(name: "raw") {
          let file = workspace.newFile()
          defer { workspace.remove(file) }
          let database = try RawDatabase(file)
          try database.createSampleTable()
          return try timed { try database.insertWithVersions(samples) }
        },
        Contestant(name: "Cairn") { try syncOnce(samples) },
      ])
  }

  private func syncOnce(_ samples: [Sample]) throws -> Double {
    let local = workspace.newFile()
    let replica = workspace.newFile()
    defer {
      workspace.remove(local)
      workspace.remove(replica)
    }
    let stack = try CairnStack(local, history: true)
    try stack.insert(samples)
    let engine = try SyncEngine(coordinator: stack.coordinator, local: stack.store)
    let seconds = try blocking {
      let start = ContinuousClock.now
      try engine.addReplica(ReplicaConfiguration(name: "replica", url: replica))
      try await engine.wait(timeout: .seconds(600))
      let elapsed = ContinuousClock.now - start
      await engine.stop()
      return Double(elapsed.components.seconds) + Double(elapsed.components.attoseconds) * 1e-18
    }
    try stack.close()
    return seconds
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
private func blocking<T: Sendable>(_ work: @escaping @Sendable () async throws -> T) throws -> T {
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
