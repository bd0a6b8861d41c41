// Comparing the stores of a group.
import Dispatch
import Synchronization

extension SyncEngine {
  /// Compares a replica with the local store, after a pass.
  ///
  /// What differs only because of writes during the comparison is looked at again. A replica that
  /// cannot be reached now is not waited for. Decimals are the same where a SQLite store, which keeps them as
  /// doubles, keeps both as one.
  ///
  /// - Parameter level: What to read. Where the digests do not tell, everything is read instead; the
  ///   report says which it was.
  /// - Throws: ``SyncError``: why the replica cannot be compared now.
  public func verify(
    name: String, level: VerifyLevel = .full, timeout: Duration? = nil
  ) async throws -> VerifyReport {
    try await link(name).verify(level, timeout: timeout)
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
