// Decides from looks at the daemon's queues whether the watchdog is fed.

/// Whether every queue of the daemon gets on.
///
/// A queue gets on when nothing waits for it, or when it has given a sign since the look before: so one that
/// works for minutes is fed for, as is one that waits for a lock which another program holds. One that is
/// stuck gives none, whatever the other queues do.
///
/// A round begins with a look, right before a piece of work is asked of each queue, and ends when all of them
/// have got on since. systemd counts the time from the feed at the end of a round: a sign of an earlier moment,
/// when a queue that is stuck now still worked, would put its end off by as long as it is old.
struct WorkWatch: Sendable {
  enum Queue: Hashable, Sendable, Comparable, CustomStringConvertible {
    case control
    case reads
    case writes
    case link(String)

    var description: String {
      switch self {
      case .control: "calls"
      case .reads: "reads of the local store"
      case .writes: "writes to the local store"
      case .link(let name): "the link to \(name)"
      }
    }
  }

  /// A queue at one moment.
  struct Look: Sendable {
    /// Whether something waits for it or runs on it.
    var isPending: Bool
    /// Grows with each sign that it gets on.
    var signs: Int
    /// Whether the other store that it works with answers.
    ///
    /// A file on a disk or mount that hangs still hangs after a restart, and keeps up its own link alone.
    var isAnswered = true
  }

  private struct Seen {
    var signs: Int
    /// When it got on last, as far as was seen.
    var last: Duration
    var hasGotOn: Bool
    var isAnswered: Bool
  }
  private var queues: [Queue: Seen] = [:]
  /// Between two signs of life, for systemd.
  private let interval: Duration

  /// A link reads much at a time and may stand in line for a connection: it is stuck when it has been silent
  /// for so many intervals.
  private static let intervalsOfLinks = 10

  init(interval: Duration) { self.interval = interval }

  /// How long to rest between two rounds.
  ///
  /// A queue may be silent for the rest of the interval before systemd ends the daemon.
  var pause: Duration { interval / 6 }

  /// How long a round may take before it is said what it waits for.
  var patience: Duration { interval / 3 }

  /// Takes a look at all queues that there are.
  ///
  /// - Parameter now: The time since some fixed moment.
  mutating func take(_ looks: [Queue: Look], at now: Duration) {
    queues = looks.reduce(into: [:]) { next, entry in
      let (queue, look) = entry
      if var old = queues[queue], look.isPending, look.signs == old.signs {
        old.isAnswered = look.isAnswered
        next[queue] = old
      } else {
        next[queue] = Seen(
          signs: look.signs, last: now, hasGotOn: true, isAnswered: look.isAnswered)
      }
    }
  }

  /// The queues that keep the watchdog from being fed, in order.
  func stuck(at now: Duration) -> [Queue] {
    queues.filter { queue, seen in
      guard case .link = queue else { return !seen.hasGotOn }
      return seen.isAnswered && silence(of: seen, at: now) >= interval * Self.intervalsOfLinks
    }.keys.sorted()
  }

  /// The links that have been silent for so long that it is to be found out whether their replicas answer.
  func silentLinks(at now: Duration) -> [String] {
    queues.compactMap { queue, seen in
      guard case .link(let name) = queue, silence(of: seen, at: now) >= interval else { return nil }
      return name
    }.sorted()
  }

  private func silence(of seen: Seen, at now: Duration) -> Duration { now - seen.last }

  /// Begins a round: each queue has to get on after this look.
  mutating func begin(_ looks: [Queue: Look], at now: Duration) {
    take(looks, at: now)
    for queue in queues.keys { queues[queue]?.hasGotOn = false }
  }
}
