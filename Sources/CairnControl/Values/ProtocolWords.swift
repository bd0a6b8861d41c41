// What the protocol carries, in the words that people read.

extension WrittenValue {
  /// The value, quoted where it is text; its size where it was left out.
  public var text: String {
    if let omitted { return "(\(Readable.bytes(omitted)))" }
    return value?.text ?? "no value"
  }
}

extension JournaledConflictEntry {
  /// What lost: a value, a link, a place, a delete.
  public var losingText: String { text(lost, isLosing: true) }
  /// What won.
  public var winningText: String { text(won, isLosing: false) }

  private func text(_ written: WrittenValue, isLosing: Bool) -> String {
    if property == nil, isLosing { return "deleted" }
    if rule == .deleteWon, !isLosing { return "deleted" }
    if isPlace { return "another place" }
    if member != nil { return written.value == nil ? "not linked" : "linked" }
    return written.text
  }
}

extension JournaledConflictEntry.Rule {
  /// Why it lost.
  public var words: String {
    switch self {
    case .lastWriter: "the later write won"
    case .deleteWon: "the delete won over the write"
    case .writeWon: "the write won over the delete"
    case .united: "two records of one uniqueness constraint became one"
    case .contradiction: "two values of one write: nothing tells which is right"
    case .discarded: "discarded in quarantine"
    case .reverted: "reverted by an operator"
    }
  }
}

extension ReplicaStatus.State {
  /// The state in words, such as `in sync`.
  public var words: String {
    switch self {
    case .opening: "opening"
    case .migrating: "migrating"
    case .unavailable: "unavailable"
    case .firstSync: "first sync"
    case .behind: "behind"
    case .inSync: "in sync"
    case .paused: "paused"
    case .stopped: "stopped"
    }
  }
}

extension StoreDescription {
  /// The state in the words of the status.
  public var stateWords: String {
    role == .replica ? ReplicaStatus.State(rawValue: state)?.words ?? state : state
  }
}

extension ReplicaStatus {
  /// The state in words; of a replica that is in sync as far as its direction goes, and not equal, it says
  /// so.
  public var stateWords: String {
    let isOneWay = state == .inSync && waits.contains { $0.kind == .leftOut }
    return isOneWay ? "in sync one way" : state.words
  }

  /// The lag in transactions and time; nil while it is unknown.
  public var lagWords: String? {
    guard let transactions = lagTransactions else { return nil }
    guard transactions > 0 else { return "0" }
    return "\(transactions) tx" + (lagSeconds.map { ", \(Readable.seconds($0))" } ?? "")
  }
}
