/// When the background work on a group's stores is due: decided from the time and from when it was done
/// last.
public struct UpkeepSchedule: Sendable, Hashable {
  /// What is due.
  public enum Work: Sendable, Hashable {
    case purge
    case verify
    /// Nothing for so many milliseconds.
    case wait(UInt64)
  }

  /// When something was done, in milliseconds since 1970.
  public struct Times: Sendable, Hashable {
    /// Since when this process runs.
    public var started: UInt64
    public var purged: UInt64
    public var verified: UInt64
    public init(started: UInt64, purged: UInt64 = 0, verified: UInt64 = 0) {
      self.started = started
      self.purged = purged
      self.verified = verified
    }
  }

  /// In milliseconds.
  public let purgeEvery: UInt64
  /// In milliseconds; 0 for never.
  public let verifyEvery: UInt64

  /// So long after a start replicas have to show that they are there, and nothing is done.
  static let grace: UInt64 = 60_000
  private static let day: UInt64 = 86_400_000
  /// The longest wait: the clock may be set meanwhile.
  private static let longestWait: UInt64 = 3_600_000

  /// - Parameter verifyEvery: `.zero` for never.
  public init(_ configuration: SyncConfiguration, verifyEvery: Duration) {
    // Often enough that a short retention is kept, too.
    purgeEvery = max(1000, min(Self.day, configuration.retentionMilliseconds / 8))
    self.verifyEvery = UInt64(max(0, verifyEvery / .milliseconds(1)))
  }

  public func next(now: UInt64, _ times: Times) -> Work {
    // A start in the future is one of a wrong clock, too.
    let ready = times.started > now ? now : times.started + min(Self.grace, purgeEvery)
    func wait(_ last: UInt64, _ interval: UInt64) -> UInt64 {
      // A time in the future is one of a wrong clock.
      let due = last > now ? now : max(ready, last == 0 ? ready : last + interval)
      return due > now ? due - now : 0
    }
    let purge = wait(times.purged, purgeEvery)
    if purge == 0 { return .purge }
    guard verifyEvery > 0 else { return .wait(min(purge, Self.longestWait)) }
    // What was never compared is compared after the first interval.
    let last = times.verified == 0 ? times.started : times.verified
    let verify = wait(last, verifyEvery)
    return verify == 0 ? .verify : .wait(min(purge, verify, Self.longestWait))
  }
}

extension SyncEngine {
  /// What background work did.
  public enum UpkeepResult: Sendable {
    case purged([PurgeReport])
    case verified(VerifyReport)
  }

  /// Purges the stores and compares them, each when it is due, until the task is cancelled; how far it
  /// was is known after a restart.
  ///
  /// Trouble with a store is tried again when the work is due the next time.
  ///
  /// - Parameters:
  ///   - verifyEvery: Between two comparisons, which read everything; `.zero` for none.
  ///   - report: Called with what was done.
  public func runUpkeep(
    verifyEvery: Duration, report: @escaping @Sendable (UpkeepResult) async -> Void
  ) async {
    let schedule = UpkeepSchedule(configuration, verifyEvery: verifyEvery)
    let environment = local.environment
    var times = UpkeepSchedule.Times(started: environment.now())
    if let state = try? local.ledger().retention() {
      times.purged = state.completed
      times.verified = state.verified
    }
    while !Task.isCancelled {
      switch schedule.next(now: environment.now(), times) {
      case .wait(let milliseconds):
        try? await environment.sleep(.milliseconds(Int64(clamping: milliseconds)))
      case .purge:
        // Also when it fails: it is not tried again at once.
        times.purged = environment.now()
        if let reports = try? await purge() { await report(.purged(reports)) }
      case .verify:
        times.verified = environment.now()
        for link in (try? links(nil)) ?? [] {
          let name = link.configuration.name
          guard !Task.isCancelled,
            let found = try? await verify(name: name, level: .full, timeout: .seconds(600))
          else { continue }
          await report(.verified(found))
        }
        try? noteVerified(times.verified)
      }
    }
  }

  private func noteVerified(_ time: UInt64) throws {
    for _ in 0..<StoreAccess.attempts {
      let ledger = try local.ledger()
      var state = try ledger.retention()
      state.verified = time
      ledger.setRetention(state)
      if try local.commit(ledger) { return }
    }
  }
}
