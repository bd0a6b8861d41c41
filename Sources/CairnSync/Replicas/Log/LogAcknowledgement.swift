/// How much of what a writer has appended another one has seen: what its own entries say, and no more.
///
/// That an entry lies in the log acknowledges it for the log alone. What a store forgets has to be known to all who
/// may write against it: they say with each entry what they had read by then.
struct LogAcknowledgement: Hashable, Sendable {
  /// One entry of the writer's own.
  struct Own: Hashable, Sendable {
    let number: UInt64
    let place: UInt64
    let seen: [StoreID: UInt64]
  }

  /// The writer's stream, and that of the other.
  let own: StoreID
  let theirs: StoreID
  /// By stream, the last entry that the other had read.
  let seen: [StoreID: UInt64]

  /// Whether the other has seen all that the writer had when it appended an entry: the entry itself, and what the
  /// writer had read of others by then, which it does not append again.
  func covers(_ entry: Own) -> Bool {
    guard seen[own, default: 0] >= entry.number else { return false }
    return entry.seen.allSatisfy { stream, number in
      stream == theirs || stream == own || seen[stream, default: 0] >= number
    }
  }

  /// The last place of the writer's change order of which the other has seen all.
  ///
  /// - Parameter entry: Gives entries of the writer's own by their numbers; nil where there are no more.
  func place(_ entry: (UInt64) throws -> Own?) rethrows -> UInt64 {
    var number = seen[own, default: 0]
    while number > 0, let own = try entry(number) {
      if covers(own) { return own.place }
      number -= 1
    }
    return 0
  }
}
