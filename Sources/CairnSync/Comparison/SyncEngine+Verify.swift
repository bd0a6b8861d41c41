// Comparing the stores of a group.
import Dispatch
import Synchronization

extension SyncEngine {
  /// Compares a replica with the local store, after a pass.
  ///
  /// What differs only because of writes during the comparison is looked at again. A replica that
  /// cannot be reached now is not waited for.
  ///
  /// - Parameter level: What to read. Where the digests do not tell, everything is read instead; the
  ///   report says which it was.
  /// - Throws: ``SyncError``: why the replica cannot be compared now.
  public func verify(
    name: String, level: VerifyLevel = .full, timeout: Duration? = nil
  ) async throws -> VerifyReport {
    let link = try self.link(name)
    let report = try await compare(link, name, level, timeout)
    let now = local.environment.now()
    // From now on the status says that they differ, or does not say so any more.
    link.change { $0.compared(report, link.configuration.direction, now: now) }
    let local = self.local
    let known = link.life.differences
    // The report is not lost where the disk takes no more; what it says is then forgotten at a restart.
    try? await link.perform {
      guard let replica = link.replica else { return }
      try local.setKnownDifferences(known, with: try replica.ledger().storeID)
    }
    return report
  }

  private func compare(
    _ link: Link, _ name: String, _ level: VerifyLevel, _ timeout: Duration?
  ) async throws -> VerifyReport {
    let local = self.local
    var report: VerifyReport?
    for _ in 0..<3 {
      try await link.completePass(timeout: timeout, isPatient: false)
      if let unreadable = link.unreadable { throw unreadable }
      guard let replica = link.replica else { continue }
      await local.environment.turn(name, .step)
      let next = try await link.perform {
        try Self.compare(
          local, replica, level, link.exchanged, link.configuration.direction, name: name)
      }
      guard let last = report else {
        if next.differences.isEmpty { return next }
        report = next
        continue
      }
      let lasting = Set(last.differences)
      report = VerifyReport(
        replica: name, level: next.level, records: next.records, links: next.links,
        differences: next.differences.filter { lasting.contains($0) }, leftOut: next.leftOut,
        hadWrongDigests: last.hadWrongDigests || next.hadWrongDigests)
      if report?.differences.isEmpty == true { break }
    }
    guard let report else {
      throw SyncError(.notSyncing, "\(name) is not open yet", recovery: .wait)
    }
    return report
  }

  static func compare(
    _ local: StoreAccess, _ replica: StoreAccess, _ level: VerifyLevel,
    _ filter: EntityFilter? = nil, _ direction: SyncDirection = .both, name: String
  ) throws -> VerifyReport {
    func within(_ filter: EntityFilter?, _ report: VerifyReport) throws -> VerifyReport {
      var report = report
      if let filter {
        report = report.within(
          filter, named: filter.translated(from: local.schema, to: replica.schema))
      }
      let directed = DirectedComparison(
        local: local, replica: replica, direction, filter: filter)
      return try directed?.told(report) ?? report
    }
    if level == .quick,
      let report = try DigestComparison(local: local, replica: replica, filter: filter)
        .run(name: name)
    {
      return try within(filter, report)
    }
    var report = try StoreComparison(local: local, replica: replica, filter: filter).run(name: name)
    report.hadWrongDigests = try StoreAccess.all([local, replica]) {
      try DigestBuild(access: $0).audit()
    }.contains(true)
    return try within(filter, report)
  }
}

extension StoreAccess {
  /// Does the same with several stores at once.
  static func all<Value: Sendable>(
    _ stores: [StoreAccess], _ work: @Sendable (StoreAccess) throws -> Value
  ) throws -> [Value] {
    let results = Mutex([Result<Value, any Error>?](repeating: nil, count: stores.count))
    DispatchQueue.concurrentPerform(iterations: stores.count) { index in
      let result = Result { try work(stores[index]) }
      results.withLock { $0[index] = result }
    }
    return try results.withLock { $0 }.compactMap { try $0?.get() }
  }
}
