// The verbs that drive and check the links.

import CairnControl
import CairnStore
import CairnSync
import Foundation

extension GroupEngine {
  public func verify(
    store name: String?, report: @escaping @Sendable (VerifyStores.Reply) async throws -> Void
  ) async throws -> VerifyStores.Summary {
    let engine = try current().engine
    let names = try names(name)
    // All at once, so that none waits for another; told of in the order in which they are done.
    let summaries = try await withThrowingTaskGroup(of: Comparison.self) { group in
      for replica in names {
        group.addTask { await Comparison(of: replica, by: engine) }
      }
      var summaries: [VerifyStores.StoreSummary] = []
      for try await comparison in group {
        try Task.checkCancellation()
        summaries.append(try await summary(of: comparison, report: report))
      }
      return summaries
    }.sorted { $0.store < $1.store }
    let damage = try await damage(report: report)
    var stores = summaries
    if damage > 0 || stores.isEmpty {
      stores.insert(
        VerifyStores.StoreSummary(store: "local", records: 0, differences: damage), at: 0)
    }
    return VerifyStores.Summary(
      stores: stores, isEqual: stores.allSatisfy { $0.differences == 0 && $0.problem == nil })
  }

  /// What came of comparing one replica.
  private struct Comparison: Sendable {
    let replica: String
    let result: Result<VerifyReport, any Error>

    init(of replica: String, by engine: SyncEngine) async {
      self.replica = replica
      do {
        let report = try await engine.verify(name: replica, timeout: .seconds(300))
        result = .success(report)
      } catch {
        result = .failure(error)
      }
    }
  }

  /// Tells what a comparison found.
  private nonisolated func summary(
    of comparison: Comparison,
    report: @escaping @Sendable (VerifyStores.Reply) async throws -> Void
  ) async throws -> VerifyStores.StoreSummary {
    let replica = comparison.replica
    switch comparison.result {
    case .success(let found):
      for difference in found.differences {
        try await report(VerifyStores.Reply(difference: difference.onWire(store: replica)))
      }
      return VerifyStores.StoreSummary(
        store: replica, records: found.records, differences: found.differences.count)
    case .failure(let error as SyncError):
      return VerifyStores.StoreSummary(
        store: replica, records: 0, differences: 0,
        problem: StatusProblem(code: error.code.rawValue, message: error.message))
    case .failure(let error): throw error
    }
  }

  /// Asks SQLite whether the local file is whole.
  private func damage(
    report: @escaping @Sendable (VerifyStores.Reply) async throws -> Void
  ) async throws -> Int {
    let local = try current().local
    let findings = try await Blocking.run {
      try (local as? any IntegrityChecking)?.verifyIntegrity() ?? []
    }
    for finding in findings {
      try await report(
        VerifyStores.Reply(
          difference: VerifyStores.Difference(store: "local", kind: .damage, detail: finding)))
    }
    return findings.count
  }

  public func syncNow(replica name: String?) async throws -> [String] {
    let engine = try current().engine
    let names = try names(name)
    try run(name) { try engine.syncNow(names: names) }
    return names
  }

  public func wait(
    replica name: String?, timeout: Duration
  ) async throws -> WaitForSync.Reply {
    let engine = try current().engine
    let names = try names(name)
    let start = ContinuousClock.now
    do {
      try await engine.wait(for: names, timeout: timeout)
    } catch let error as SyncError where error.code == .timedOut {
      let behind = try engine.status().replicas.filter {
        names.contains($0.name)
          && ($0.lagTransactions != 0 || $0.lastError != nil || $0.held.count > 0)
      }
      throw ControlError.waitTimedOut(behind: behind.isEmpty ? names : behind.map(\.name))
    } catch let error as SyncError {
      let troubled = error.replicas.isEmpty ? names : error.replicas
      throw ControlError(error, replica: name ?? troubled.joined(separator: ", "))
    }
    let waited = ContinuousClock.now - start
    return WaitForSync.Reply(
      reached: names,
      waited: Double(waited.components.seconds) + Double(waited.components.attoseconds) * 1e-18)
  }

  public func pause(replica name: String?) async throws -> [String] {
    let names = try names(name)
    try run(name) { try rest(names, true) }
    return names
  }

  public func resume(replica name: String?) async throws -> [String] {
    let resting = try names(name).filter(paused.contains)
    try run(name) { try rest(resting, false) }
    return resting
  }

  /// The replica of that name, or all of them.
  private func names(_ name: String?) throws -> [String] {
    let all = try current().engine.status().replicas.map(\.name)
    guard let name, name != "all" else { return all }
    guard all.contains(name) else { throw ControlError.storeNotFound(name: name) }
    return [name]
  }

  private func run(_ name: String?, _ work: () throws -> Void) throws {
    do {
      try work()
    } catch let error as SyncError {
      throw ControlError(error, replica: name ?? "")
    }
  }
}
