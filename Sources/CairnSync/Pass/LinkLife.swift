/// The life of a link as a pure state machine: phases, failures, and who waits for what.
struct LinkLife: Sendable {
  private(set) var phase = ReplicaPhase.opening
  /// When it entered the phase, in milliseconds since 1970; how far a migration is makes no difference.
  var phaseSince: UInt64 = 0
  private(set) var isPaused = false
  private(set) var isRemoved = false
  private(set) var failures = 0
  private(set) var lastError: SyncError?
  private(set) var lastPass: UInt64?
  /// When the last complete pass began: it has served all that was committed before.
  private(set) var lastPassBegan: UInt64?
  var counters = SyncCounters()
  /// The number of the pass that was asked for last, and of the last that was completed; a pass
  /// serves all requests made before it began.
  private(set) var requested = 0
  private(set) var completed = 0
  private var running = 0
  /// The local store's change order as the replica has it.
  var pushedTo: UInt64?
  var firstSync: Double?
  /// What the last complete pass could not make visible.
  private(set) var held = HeldRecords()
  /// Whether the replica was open since the engine began.
  private(set) var hasBeenOpen = false
  /// Whether the next pass may make more of that visible.
  private(set) var isUnfinished = false
  /// What a comparison found and none has found to be over.
  private(set) var differences: KnownDifferences?
  /// When the last comparison ended and how long it took, in milliseconds; nil before the first.
  private var comparison: (end: UInt64, length: UInt64)?
  /// What waits to be approved; stays while the link is paused or looks again.
  private(set) var deletions: DeletionPlan?
  /// When to try or to look again, and how many milliseconds later that was when it was decided.
  private var nextLook: (time: UInt64, wait: UInt64) = (0, 0)

  /// What the link's task does next.
  enum Action: Hashable, Sendable {
    case open
    case pass
    /// Until called, or for so many milliseconds.
    case sleep(milliseconds: UInt64?)
    case stop
  }

  func next(isOpen: Bool, now: UInt64) -> Action {
    if isRemoved { return .stop }
    if isPaused { return .sleep(milliseconds: nil) }
    switch phase {
    case .failed: return .sleep(milliseconds: nil)
    case .awaitingApproval where isEarly(now), .waiting where isEarly(now):
      return .sleep(milliseconds: nextLook.time - now)
    case .opening, .migrating, .ready, .syncing, .waiting, .awaitingApproval, .paused, .removed:
      break
    }
    return isOpen ? .pass : .open
  }

  /// Whether it is not yet time to look again; a clock that was set back meanwhile makes no wait longer.
  private func isEarly(_ now: UInt64) -> Bool {
    nextLook.time > now && nextLook.time - now <= nextLook.wait
  }

  /// Asks for a pass that begins from now on.
  mutating func request() -> Int {
    requested += 1
    return requested
  }

  /// An operator's word: whatever stood in the way may be gone.
  mutating func retry(isOpen: Bool) {
    switch phase {
    case .failed, .waiting, .awaitingApproval: phase = isOpen ? .ready : .opening
    case .opening, .migrating, .ready, .syncing, .paused, .removed: break
    }
  }

  mutating func beginOpening() { enter(.opening) }
  mutating func migrate(_ progress: Double) { enter(.migrating(progress: progress)) }
  /// - Parameter differences: What was found before by a comparison with the store that is open now.
  mutating func opened(_ differences: KnownDifferences? = nil) {
    self.differences = differences
    hasBeenOpen = true
    enter(.ready)
  }

  mutating func beginPass() {
    running = requested
    enter(.syncing)
  }

  mutating func completePass(
    began: UInt64? = nil, now: UInt64, held: HeldRecords = HeldRecords(),
    isUnfinished: Bool = false
  ) {
    self.held = held
    self.isUnfinished = isUnfinished
    completed = max(completed, running)
    failures = 0
    lastError = nil
    lastPass = now
    lastPassBegan = began ?? now
    firstSync = nil
    deletions = nil
    counters.passes += 1
    enter(.ready)
  }

  /// - Parameter isAgain: Whether what is known was looked at again, for a wait; what is still so was found before.
  mutating func compared(
    _ report: VerifyReport, _ direction: SyncDirection, since began: UInt64, now: UInt64,
    isAgain: Bool = false
  ) {
    comparison = (now, now > began ? now - began : 0)
    // A value that could not be read may read by now and still be missing here.
    if isAgain, let known = differences, known.unreadable > 0, !report.differences.isEmpty {
      return
    }
    let found = KnownDifferences.after(
      report, at: now, direction, isComplete: held.count == 0, known: differences)
    if isAgain, let found, let known = differences, found.count == known.count,
      found.lasting == known.lasting
    {
      return
    }
    differences = found
  }

  /// What was found because records waited is over when none does.
  mutating func nothingIsHeld() {
    if differences?.areOfHeld == true { differences = nil }
  }

  /// Whether a wait may compare the stores: so that a link that is waited for all the time spends a twentieth of its
  /// time on that.
  func mayCompareAgain(now: UInt64) -> Bool {
    // A clock that is set back gives the time anew.
    comparison.map { now < $0.end || now - $0.end >= 20 * $0.length } ?? true
  }

  /// - Parameters:
  ///   - count: How many values a pass has found that are not what their write wrote.
  ///   - unreadable: How many of them could not be read.
  mutating func contradicted(_ count: Int, unreadable: Int, now: UInt64) {
    differences = KnownDifferences.after(
      contradictions: count, unreadable: unreadable, at: now, known: differences)
  }

  /// - Parameter delay: The wait for the number of failures so far, in milliseconds.
  mutating func fail(_ error: SyncError, now: UInt64, delay: (Int) -> UInt64) {
    failures += 1
    lastError = error
    counters.failedPasses += 1
    switch error.recovery {
    case .person: enter(.failed(error))
    case .retry, .wait:
      let wait = delay(failures)
      nextLook = (now + wait, wait)
      enter(.waiting(until: now + wait, reason: error))
    }
  }

  /// Stops until a person has approved what a pass would delete.
  mutating func ask(_ plan: DeletionPlan, now: UInt64) {
    let minute: UInt64 = 60_000
    deletions = plan
    lastError = plan.error
    nextLook = (now + minute, minute)
    enter(.awaitingApproval(plan))
  }

  mutating func pause() {
    if isRemoved { return }
    isPaused = true
    phase = .paused
  }

  mutating func resume(isOpen: Bool) {
    guard isPaused, !isRemoved else { return }
    isPaused = false
    // A link that was paused before its replica was open has still to open it.
    phase = isOpen ? .ready : .opening
  }

  mutating func remove() {
    isRemoved = true
    phase = .removed
  }

  /// What a person decided stands until a person decides otherwise.
  private mutating func enter(_ next: ReplicaPhase) {
    if !isPaused, !isRemoved { phase = next }
  }
}
