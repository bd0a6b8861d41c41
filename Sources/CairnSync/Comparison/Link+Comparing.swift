// Comparing the two stores of a link.

extension Link {
  /// Compares them, after a pass; from now on the status says that they differ, or does not say so any more.
  ///
  /// - Throws: ``SyncError``: why they cannot be compared now.
  func verify(_ level: VerifyLevel, timeout: Duration?) async throws -> VerifyReport {
    let began = environment.now()
    let report = try await compare(level, timeout)
    await note(report, since: began)
    return report
  }

  private func note(_ report: VerifyReport, since began: UInt64, isAgain: Bool = false) async {
    let now = environment.now()
    change {
      $0.compared(report, configuration.direction, since: began, now: now, isAgain: isAgain)
    }
    let known = life.differences
    // The report is not lost where the disk takes no more; what it says is then forgotten at a restart.
    try? await perform { [self] in
      guard let replica else { return }
      try local.setKnownDifferences(known, with: try replica.ledger().storeID)
    }
  }

  /// What no pass is going to mend, for a wait that would fail because of it: another daemon's repair of the replica,
  /// or a person, may have mended it since it was found, of which nothing tells.
  ///
  /// So it is looked at again, unless the link would spend more than a small part of its time on that.
  func lastingDifferences(timeout: Duration?) async -> KnownDifferences? {
    guard let known = life.differences, known.lasting > 0 else { return nil }
    // Of two values of one write, one has replaced the other, and nothing shows any more which was right: a person is
    // to see that. What could not be read has replaced nothing.
    guard known.contradictions == known.unreadable, life.mayCompareAgain(now: environment.now())
    else { return known }
    let began = environment.now()
    guard let report = try? await compare(known.level, timeout) else { return known }
    await note(report, since: began, isAgain: true)
    return life.differences.flatMap { $0.lasting > 0 ? $0 : nil }
  }

  private func compare(_ level: VerifyLevel, _ timeout: Duration?) async throws -> VerifyReport {
    let name = configuration.name
    var report: VerifyReport?
    for _ in 0..<3 {
      try await completePass(timeout: timeout, isPatient: false)
      if let unreadable { throw unreadable }
      guard let replica else { continue }
      await environment.turn(name, .step)
      let next = try await perform { [self] in
        try SyncEngine.compare(
          local, replica, level, exchanged, configuration.direction, name: name)
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
}
