// Waiting until a link has brought everything that was there.

extension Link {
  /// How long an answer waits for records that others are about to bring, and how often it looks.
  ///
  /// Daemons that share a replica write it in batches: between two of them a reference may come before
  /// its record. Longer than a batch takes, and shorter than a person waits for bad news.
  private static let patience = Duration.seconds(5)
  private static let pause = Duration.milliseconds(250)

  /// Runs a pass that begins from now on, and waits for it; failed passes are tried again until
  /// then.
  ///
  /// Where a pass has moved something and left something held, the next one is waited for. While nothing is missing but
  /// records that others refer to, further passes look for them, as long as each few seconds bring some.
  ///
  /// - Throws: ``SyncError``: timed out, paused, failed for good, removed, or complete with records
  ///   that are not visible, with differences that no pass knows of, or with records that the direction
  ///   leaves out.
  func sync(timeout: Duration?) async throws {
    let start = environment.now()
    func isInTime() -> Bool {
      // A clock that is set back gives the time anew.
      let now = environment.now()
      return timeout.map { .milliseconds(now > start ? now - start : 0) < $0 } ?? true
    }
    try await completePass(timeout: timeout)
    // What a pass brings may be what something waits for, which only the next one tries again.
    if life.isUnfinished, life.held.count > 0 { try await completePass(timeout: timeout) }
    var held = life.held
    var waited = Duration.zero
    while held.count > 0, held.count == held.parked, isInTime(),
      waited < min(Self.patience, timeout ?? Self.patience)
    {
      try await environment.sleep(Self.pause)
      try await completePass(timeout: timeout)
      waited = life.held.parked == held.parked ? waited + Self.pause : .zero
      held = life.held
    }
    if held.count > 0 {
      throw SyncError(
        .recordsHeld,
        "\(configuration.name) is not in step: \(held.text)"
          + (held.leftOut > 0 ? "; " + configuration.textOfLeftOut(held.leftOut) : ""),
        recovery: .person)
    }
    if let known = await lastingDifferences(timeout: timeout) {
      throw SyncError(
        .recordsHeld,
        "\(configuration.name) is not in step: \(known.text); verify it again, or repair it",
        recovery: .person)
    }
    if held.leftOut > 0 {
      throw SyncError(
        .leftOut,
        "\(configuration.name) is in step as far as its direction goes, but "
          + configuration.textOfLeftOut(held.leftOut),
        recovery: .person)
    }
  }

  /// Why a wait for the link fails now; nil when a pass may come.
  func refusal(_ life: LinkLife) -> SyncError? {
    switch life.phase {
    case .paused:
      return SyncError(
        .paused, "\(configuration.name) is paused; resume it first", recovery: .wait)
    case .removed: return removed
    case .failed(let error): return error
    case .awaitingApproval(let plan): return plan.error
    case .opening, .migrating, .ready, .syncing, .waiting: return nil
    }
  }

  var removed: SyncError {
    SyncError(.noSuchReplica, "\(configuration.name) was removed", recovery: .person)
  }

  func timedOut() -> SyncError {
    let life = self.life
    let why = life.lastError.map { ": " + $0.message } ?? ""
    return SyncError(
      .timedOut, "\(configuration.name) is not in step yet (\(life.phase.word))\(why)",
      recovery: .wait)
  }
}
