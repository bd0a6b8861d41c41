// Bringing stores together that differ.

extension SyncEngine {
  /// Makes the local store and a replica equal where they differ although both are in step: rows that
  /// programs added past history are taken up, rows that went without a trace are made again, values that
  /// were changed past history count as written now, and for all else each store gets what the other
  /// knows, and the merge rules decide.
  ///
  /// Everything is read first. Ending it in between loses nothing; what was done by then stays done.
  ///
  /// - Parameters:
  ///   - preference: Whose value is taken where both stores have the same write with other values; nil for that of
  ///     the store whose row is as it was saved, where checksums tell, else the local one's. The other is in the
  ///     local store's journal.
  ///   - isPlan: Whether only to tell what would be done.
  /// - Throws: ``SyncError``: why the stores cannot be compared, or written.
  public func repair(
    name: String, preferring preference: RepairPreference? = nil, isPlan: Bool = false,
    timeout: Duration? = nil
  ) async throws -> RepairReport {
    let link = try self.link(name)
    let found = try await verify(name: name, level: .full, timeout: timeout)
    guard let pass = link.steps else {
      throw SyncError(.notSyncing, "\(name) is not open yet", recovery: .wait)
    }
    let repair = StoreRepair(
      pass: pass, direction: link.configuration.direction, preference: preference)
    let environment = local.environment
    await environment.turn(name, .step)
    let actions = try await link.perform { try repair.plan(found.differences) }
    var report = RepairReport(replica: name, isPlan: isPlan, actions: actions)
    report.leftOut = found.leftOut
    if isPlan || actions.isEmpty { return report }
    await environment.turn(name, .step)
    try await link.perform { try repair.perform(actions) }
    link.poke()
    let left = try await verify(name: name, level: .full, timeout: timeout)
    (report.remaining, report.leftOut) = (left.differences, left.leftOut)
    return report
  }

  /// Takes rows of the local store that are gone, with no history that tells of it, for deleted now, and rows that were
  /// added in the same way for inserted: both travel as any other change, and the model's delete rules are followed for
  /// the rows around those that are gone.
  ///
  /// A repair with a replica makes rows that are gone again instead.
  ///
  /// - Parameters:
  ///   - acceptsChanges: Whether rows and links that are not as they were saved count as written now, too. Nothing
  ///     tells whether a program or a disk changed them; a repair with a replica brings back what was saved.
  ///   - isPlan: Whether only to tell what would be done.
  ///   - timeout: How long the replicas that a comparison has found to differ may take to be compared once more.
  public func repairLocal(
    acceptsChanges: Bool = false, isPlan: Bool = false, timeout: Duration = .seconds(60)
  ) async throws -> RepairReport {
    let report = try await operating { [self] in
      try LocalRepair(access: local, coordinator: coordinator, acceptsChanges: acceptsChanges)
        .run(isPlan: isPlan)
    }
    if isPlan || report.actions.isEmpty { return report }
    poke()
    let differing = try status().replicas.filter { $0.differences != nil }.map(\.name)
    await withTaskGroup(of: Void.self) { tasks in
      for name in differing {
        // One that does not answer is known to differ until it is compared.
        tasks.addTask { _ = try? await self.verify(name: name, level: .full, timeout: timeout) }
      }
    }
    return report
  }
}
