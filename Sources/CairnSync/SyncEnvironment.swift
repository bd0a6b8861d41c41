import Dispatch
import Foundation

/// The outside world as sync sees it: time, randomness, waiting.
///
/// Nothing else in this target may read a clock or a random source, so that a simulation can replay
/// a run from a seed.
public struct SyncEnvironment: Sendable {
  /// A named place in a pass at which a test can make it stop.
  public enum Failpoint: String, Sendable, CaseIterable {
    case beforeCapture, beforeCaptureCommit, afterCaptureCommit
    case beforeExport, afterExport
    case beforeImport, afterPlan, beforeImportCommit, afterImportCommit
    case beforeBootstrapCommit, afterBootstrapCommit
    case beforePurgeCommit, afterPurgeCommit
    case afterGapCommit
    case afterDiscardNote
    case beforeAppend, afterAppend
  }

  /// What a link is about to do.
  public enum Turn: Hashable, Sendable {
    /// One step: a look at what is to be done, the opening of a store, at most one commit.
    case step
    /// Nothing, until it is woken or for so long.
    case rest(Duration?)
  }

  /// Milliseconds since 1970; that of ``live`` stands still a day before stamps end, in the year 10889.
  public var now: @Sendable () -> UInt64
  /// 64 random bits.
  public var random: @Sendable () -> UInt64
  /// Waits; throws when the task is cancelled.
  public var sleep: @Sendable (Duration) async throws -> Void
  /// Called at every ``Failpoint``; what it throws ends the pass there.
  public var reach: @Sendable (Failpoint) throws -> Void
  /// A link, named by its replica, calls this before each turn; a simulation lets one go on at a time.
  public var turn: @Sendable (_ replica: String, Turn) async -> Void = { _, _ in }
  /// For how many milliseconds a link goes on with steps in one turn; 0 for one step a turn.
  ///
  /// To give its queue up after each costs more than most steps do.
  public var turnLength: UInt64 = 0
  /// Passes the news that a store changed on to a link, named by its replica: at once; in a simulation
  /// late, twice or never.
  public var wake: @Sendable (_ replica: String, _ call: @escaping @Sendable () -> Void) -> Void = {
    $1()
  }

  /// Runs work beside what its caller goes on with, and gives what waits until it is done; by default in turn.
  public var beside: @Sendable (_ work: @escaping @Sendable () -> Void) -> @Sendable () -> Void = {
    $0()
    return {}
  }

  /// What went by the run, see <doc:0023-NewRecordsByTheRun>.
  enum Run: String, Sendable, CaseIterable { case captured, written }
  /// Called with how many records went by the run; a simulation counts them.
  var noteRun: @Sendable (Run, _ records: Int) -> Void = { _, _ in }

  public init(
    now: @escaping @Sendable () -> UInt64,
    random: @escaping @Sendable () -> UInt64,
    sleep: @escaping @Sendable (Duration) async throws -> Void,
    reach: @escaping @Sendable (Failpoint) throws -> Void = { _ in }
  ) {
    self.now = now
    self.random = random
    self.sleep = sleep
    self.reach = reach
  }

  /// A time as stamps can have it, whatever the machine's clock shows.
  static func milliseconds(at date: Date) -> UInt64 {
    let time = date.timeIntervalSince1970 * 1000
    return UInt64(min(max(0, time), Double(ClockReading.lastTime)))
  }

  /// The real clock and the system's random numbers.
  public static let live: SyncEnvironment = {
    var environment = SyncEnvironment(
      now: { Self.milliseconds(at: Date()) },
      random: {
        var generator = SystemRandomNumberGenerator()
        return generator.next()
      },
      sleep: { try await Task.sleep(for: $0) })
    environment.turnLength = 5
    environment.beside = { work in
      let group = DispatchGroup()
      DispatchQueue.global().async(group: group, execute: work)
      return { group.wait() }
    }
    return environment
  }()
}
