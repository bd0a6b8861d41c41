/// One run of a link as a pure state machine: what to do next, given what has been done.
///
/// Both sides show first that they are the stores that they were. Then both are captured, so that every decision is made on stamps. Then the local store
/// takes what the replica has, and the replica what the local store has, each in change sets, until
/// neither has more. What the replica was given may have brought about changes of its own there, which
/// are taken once more; should that give the local store something, another pass has to follow.
public struct PassState: Hashable, Sendable {
  /// Where changes go.
  public enum Side: String, Hashable, Sendable, CaseIterable {
    /// From the replica into the local store.
    case pull
    /// From the local store into the replica.
    case push
  }

  /// What the shell does next.
  public enum Step: Hashable, Sendable {
    /// Makes sure of the identity of both sides.
    case identify
    case captureLocal
    case captureReplica
    /// Tries what is quarantined once more, at the destination of the side.
    case retryHeld(Side)
    /// Moves one change set.
    case move(Side)
  }

  /// What came of a step.
  public enum Event: Hashable, Sendable {
    case identified
    case captured
    case retried
    /// A change set was applied; there may be more.
    case moved
    /// A change set had nothing for the destination, only its cursor moved; there may be more.
    case passedOver
    /// The destination has everything.
    case drained
  }

  private let sides: [Side]
  /// Whether the replica has been given something.
  private var hasPushed = false
  /// Whether the replica is asked for what that brought about.
  private var isReturning = false
  /// Whether another pass has to follow.
  public private(set) var isUnfinished = false
  /// Whether either side was given something, which may be what something waits for there: the next pass tries that.
  public private(set) var hasMoved = false
  /// Nil when the pass is complete.
  public private(set) var step: Step? = .identify

  public init(direction: SyncDirection) {
    var sides: [Side] = []
    if direction.pulls { sides.append(.pull) }
    if direction.pushes { sides.append(.push) }
    self.sides = sides
  }

  /// Takes the outcome of the current step.
  ///
  /// Events that do not belong to it change nothing.
  public mutating func take(_ event: Event) {
    if case .move = step, event == .moved { hasMoved = true }
    switch (step, event) {
    case (.identify, .identified): step = .captureLocal
    case (.captureLocal, .captured): step = .captureReplica
    case (.captureReplica, .captured): step = sides.first.map(Step.retryHeld)
    case (.retryHeld(let side), .retried): step = .move(side)
    case (.move, .moved) where isReturning: isUnfinished = true
    case (.move(.push), .moved): hasPushed = true
    case (.move(.push), .drained) where hasPushed && sides.contains(.pull):
      isReturning = true
      step = .move(.pull)
    case (.move, .drained) where isReturning: step = nil
    case (.move(let side), .drained): step = next(after: side).map(Step.retryHeld)
    case (.move, .moved), (.move, .passedOver), (nil, _), (.identify, _), (.captureLocal, _),
      (.captureReplica, _), (.retryHeld, _), (.move, _):
      break
    }
  }

  private func next(after side: Side) -> Side? {
    guard let index = sides.firstIndex(of: side), index + 1 < sides.count else { return nil }
    return sides[index + 1]
  }
}
