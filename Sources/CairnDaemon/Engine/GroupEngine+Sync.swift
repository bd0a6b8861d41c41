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
    var summaries: [VerifyStores.StoreSummary] = []
    for replica in try names(name) {
      do {
        let result = try await engine.verify(name: replica, timeout: .seconds(300))
        for difference in result.differences {
          try await report(VerifyStores.Reply(difference: difference.onWire(store: replica)))
        }
        summaries.append(
          VerifyStores.StoreSummary(
            store: replica, records: result.records, differences: result.differences.count))
      } catch let error as SyncError {
        summaries.append(
          VerifyStores.StoreSummary(
            store: replica, records: 0, differences: 0,
            problem: StatusProblem(code: error.code.rawValue, message: error.message)))
      }
      try Task.checkCancellation()
    }
    let damage = try await damage(report: report)
    if damage > 0 || summaries.isEmpty {
      summaries.insert(
        VerifyStores.StoreSummary(store: "local", records: 0, differences: damage), at: 0)
    }
    return VerifyStores.Summary(
      stores: summaries,
      isEqual: summaries.allSatisfy { $0.differences == 0 && $0.problem == nil })
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
        names.contains($0.name) && ($0.lagTransactions != 0 || $0.lastError != nil)
      }
      throw ControlError.waitTimedOut(behind: behind.isEmpty ? names : behind.map(\.name))
    } catch let error as SyncError {
      throw ControlError(error, replica: name ?? names.joined(separator: ", "))
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
