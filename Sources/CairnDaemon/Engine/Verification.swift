// Compares replicas with the local store, all at once.

import CairnControl
import CairnStore
import CairnSync
import Foundation
import Logging

/// One verification of a group.
struct Verification: Sendable {
  let group: OpenGroup
  /// The replicas to compare.
  let names: [String]
  let level: VerifyLevel

  /// Writes down how many differences a replica has, unless it has none.
  static func log(_ differences: Int, in replica: String, to logger: Logger) {
    if differences == 0 { return }
    logger.event(
      .storesDiffer, "\(Readable.count(differences, "difference")) in \(replica)",
      metadata: ["replica": .string(replica), "count": "\(differences)"])
  }

  /// Reports differences as they are found; returns the summary.
  func run(
    report: @Sendable (VerifyStores.Reply) async throws -> Void
  ) async throws -> VerifyStores.Summary {
    let (engine, level) = (group.engine, level)
    // All at once, so that none waits for another; told of in the order in which they are done.
    let summaries = try await withThrowingTaskGroup(of: Comparison.self) { tasks in
      for replica in names {
        tasks.addTask { await Comparison(of: replica, by: engine, level) }
      }
      var summaries: [VerifyStores.StoreSummary] = []
      for try await comparison in tasks {
        try Task.checkCancellation()
        let summary = try await summary(of: comparison, report: report)
        try await report(VerifyStores.Reply(store: summary))
        summaries.append(summary)
      }
      return summaries
    }.sorted { $0.store < $1.store }
    // A look at every page takes as long as reading every value; where there is nothing to compare, it is
    // what there is to verify.
    let damage = level == .full || names.isEmpty ? try await damage(report: report) : 0
    var stores = summaries
    if damage > 0 || stores.isEmpty {
      let local = VerifyStores.StoreSummary(store: "local", records: 0, differences: damage)
      try await report(VerifyStores.Reply(store: local))
      stores.insert(local, at: 0)
    }
    return VerifyStores.Summary(
      stores: stores,
      isEqual: stores.allSatisfy {
        $0.differences == 0 && $0.leftOut == nil && $0.problem == nil
      })
  }

  /// What came of comparing one replica.
  private struct Comparison: Sendable {
    let replica: String
    let result: Result<VerifyReport, any Error>
    /// What is wrong in the tables of a hub, where that was looked at.
    let damage: [String]

    init(of replica: String, by engine: SyncEngine, _ level: VerifyLevel) async {
      self.replica = replica
      do {
        let report = try await engine.verify(
          name: replica, level: level, timeout: .seconds(300))
        damage = report.level == .full ? try await Self.damage(ofHub: replica, engine) : []
        result = .success(report)
      } catch {
        (result, damage) = (.failure(error), [])
      }
    }

    /// What other programs did to the tables of a hub that no record shows.
    ///
    /// Rows of no entity, values that are not what they are derived from, triggers and indexes that are gone. Of a file a
    /// comparison has read all there is.
    private static func damage(ofHub name: String, _ engine: SyncEngine) async throws -> [String] {
      guard let store = try engine.openStore(ofReplica: name)?.store,
        store.url?.isFileURL != true, let integrity = store.capabilities.integrity
      else { return [] }
      return try await Blocking.run { try integrity.verifyIntegrity() }
    }
  }

  /// Tells what a comparison found.
  private func summary(
    of comparison: Comparison, report: @Sendable (VerifyStores.Reply) async throws -> Void
  ) async throws -> VerifyStores.StoreSummary {
    let replica = comparison.replica
    switch comparison.result {
    case .success(let found):
      let count = found.differences.count + comparison.damage.count
      group.figures.checked(replica, found: count)
      for difference in found.differences {
        try await report(VerifyStores.Reply(difference: difference.onWire(store: replica)))
      }
      for finding in comparison.damage {
        try await report(
          VerifyStores.Reply(difference: .init(store: replica, kind: .damage, detail: finding)))
      }
      return VerifyStores.StoreSummary(
        store: replica, records: found.records, differences: count,
        leftOut: found.leftOut > 0 ? found.leftOut : nil, held: try group.held(in: replica),
        level: found.level == .quick ? .quick : .full)
    case .failure(let error as CoreDataError) where error.storePath == group.local.url?.path:
      throw error
    case .failure(let error as CancellationError): throw error
    case .failure(let error):
      let error = SyncError(describing: error, at: nil)
      return VerifyStores.StoreSummary(
        store: replica, records: 0, differences: 0,
        problem: StatusProblem(code: error.code.rawValue, message: error.message))
    }
  }

  /// Asks SQLite whether the file of the local store is whole, unless that was done less than `interval` ago; what
  /// is found is in the status, and in the log.
  static func checkLocal(of group: OpenGroup, every interval: Duration) async {
    if let last = group.figures.values.checks[StoreReference.localName]?.date,
      Date().timeIntervalSince(last) < Double(interval.components.seconds)
    {
      return
    }
    do {
      _ = try await damage(in: group)
    } catch {
      group.health.note(error)
    }
  }

  /// Looks again at a local store that is known to be damaged: a repair may have ended that.
  static func checkDamaged(_ group: OpenGroup) async {
    let isDamaged = group.health.problems.contains { $0.code == StoreTrouble.damaged.rawValue }
    if isDamaged { await checkLocal(of: group, every: .zero) }
  }

  /// What SQLite finds in the file of the local store.
  static func damage(in group: OpenGroup) async throws -> [String] {
    let local = group.local
    let findings = try await Blocking.run {
      try local.capabilities.integrity?.verifyIntegrity() ?? []
    }
    // A file from the past is whole: the status has that it lacks commits, and the hint for it.
    let known = Set(local.capabilities.failures?.findings ?? [])
    group.health.noteVerified(findings.filter { !known.contains($0) })
    group.figures.checked(StoreReference.localName, found: findings.count)
    return findings
  }

  /// Tells what is not whole in the file of the local store.
  private func damage(
    report: @Sendable (VerifyStores.Reply) async throws -> Void
  ) async throws -> Int {
    let findings = try await Self.damage(in: group)
    for finding in findings {
      try await report(
        VerifyStores.Reply(
          difference: VerifyStores.Difference(store: "local", kind: .damage, detail: finding)))
    }
    return findings.count
  }
}
