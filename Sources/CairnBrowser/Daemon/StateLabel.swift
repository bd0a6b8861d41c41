// How a link stands, in words that claim no more than is known.

import CairnControl

/// A word and how good or bad it is.
struct StateLabel: Sendable, Hashable {
  enum Tone: String, Sendable {
    case good, waiting, problem, note
  }

  let words: String
  let tone: String

  init(_ words: String, _ tone: Tone) {
    self.words = words
    self.tone = tone.rawValue
  }

  static let unknown = StateLabel("unknown", .note)

  /// The state of a link.
  ///
  /// "In sync" is said only of a link that answered now, that nothing is known to be wrong with, and whose
  /// local end is open.
  ///
  /// - Parameters:
  ///   - local: The local store's state.
  ///   - isCurrent: Whether the daemon answers now.
  init(
    _ replica: ReplicaStatus, local: StoreStatus.State?, isCurrent: Bool
  ) {
    guard isCurrent else {
      self = .unknown
      return
    }
    switch replica.state {
    case .inSync where replica.problem != nil: self.init("failing", .problem)
    case .inSync where local != .open: self.init("unknown, the local store is not open", .note)
    case .inSync where replica.isOneWay: self.init(replica.stateWords, .note)
    case .inSync where !replica.waits.isEmpty || (replica.lagTransactions ?? 0) > 0:
      self.init(ReplicaStatus.State.behind.words, .waiting)
    case .inSync: self.init(replica.state.words, .good)
    case .opening, .migrating, .firstSync, .behind, .paused:
      self.init(replica.state.words, .waiting)
    case .unavailable, .stopped: self.init(replica.state.words, .problem)
    }
  }

  /// The state of the local store.
  init(_ local: StoreStatus, isCurrent: Bool) {
    guard isCurrent else {
      self = .unknown
      return
    }
    switch local.state {
    case .open where local.problem != nil: self.init("failing", .problem)
    case .open: self.init("open", .good)
    case .opening, .migrating: self.init(local.state.rawValue, .waiting)
    case .failing, .unavailable: self.init(local.state.rawValue, .problem)
    }
  }

  /// The state of the daemon.
  init(_ state: DaemonStatus.State) {
    switch state {
    case .serving: self.init(state.rawValue, .good)
    case .starting, .draining: self.init(state.rawValue, .waiting)
    case .degraded, .stopped: self.init(state.rawValue, .problem)
    }
  }
}

extension ReplicaStatus {
  /// Whether it differs by nothing but what its direction leaves out.
  fileprivate var isOneWay: Bool {
    !waits.isEmpty && waits.allSatisfy { $0.kind == .leftOut } && (lagTransactions ?? 0) == 0
  }
}
