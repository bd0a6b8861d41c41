import Foundation

/// Which way changes flow between the local store and a replica.
public enum SyncDirection: String, Sendable, Hashable, CaseIterable {
  case both
  /// Only from the local store to the replica.
  case push
  /// Only from the replica to the local store.
  case pull

  var pushes: Bool { self != .pull }
  var pulls: Bool { self != .push }
}

/// How a group of stores is kept in step.
public struct SyncConfiguration: Sendable, Hashable {
  /// What wins between a delete and a write, unless an entity says otherwise.
  public var deleteConflicts = DeleteConflictPolicy.lastWriter
  /// By entity name; an entity's policy holds for its subentities too.
  public var deleteConflictsByEntity: [String: DeleteConflictPolicy] = [:]
  /// How far another store's clock may be ahead, in milliseconds.
  public var allowedClockSkew: UInt64 = 5 * 60 * 1000
  /// How many records or links one commit moves, unless a transaction is larger.
  public var batchSize = 1000
  /// How many bytes of strings and data one commit moves, unless a record or transaction is larger.
  public var batchBytes = 8 << 20
  /// How old history, deleted records, the conflict journal and what else is kept for slower replicas get
  /// before they go.
  ///
  /// A replica that is silent for longer is expired: nothing is kept for it, and it comes back by
  /// comparison.
  public var retention = Duration.seconds(30 * 86400)
  /// What this group is called in replicas that others use, too, such as the machine's name.
  public var name = ""
  /// How often a link looks for changes of stores that do not tell of commits; others are to be looked at
  /// so often by ``SyncEngine/lookAtStores()``.
  public var pollInterval = Duration.seconds(5)
  /// The longest that a link gathers commits of programs that write without pause before it runs a pass for
  /// them; a commit after a moment of rest is moved at once.
  public var gatheringLimit = Duration.milliseconds(100)
  /// How much a pass may delete without asking.
  public var deletionLimit = DeletionLimit()
  /// The first and the longest wait between attempts on a replica in trouble.
  public var backoff = Backoff()

  public init() {}

  var retentionMilliseconds: UInt64 { UInt64(max(0, retention / .milliseconds(1))) }

  /// The author that sync writes into history, for people who read it.
  ///
  /// Nothing is decided by it: a program may use the same name.
  public static let author = "cairn.sync"

  /// The author in history of what ``SyncEngine/restore(_:as:)`` writes, unless the caller gives another.
  public static let restoringAuthor = "cairn.restore"

  /// The author in history of what ``SyncEngine/revert(_:plan:as:)`` writes, unless the caller gives another.
  public static let revertingAuthor = "cairn.revert"

  /// The author names that tell what sync itself, or an operator by it, has written; a save from outside has
  /// none of them.
  public static let ownAuthors: Set<String> = [author, restoringAuthor, revertingAuthor]
}

/// Waits that double with each failure, up to a limit, and are spread so that many daemons do not
/// come back at once.
public struct Backoff: Sendable, Hashable {
  public var first = Duration.milliseconds(500)
  public var longest = Duration.seconds(60)
  public init() {}
  public init(first: Duration, longest: Duration) {
    self.first = first
    self.longest = longest
  }

  /// The wait before the next attempt: between half and all of `first` doubled per failure.
  ///
  /// - Parameter random: 64 random bits.
  public func delay(afterFailures failures: Int, random: UInt64) -> Duration {
    var full = first
    for _ in 1..<max(1, min(failures, 32)) {
      full = full * 2
      if full >= longest { break }
    }
    full = min(full, longest)
    return full / 2 + full / 2 * (Double(random >> 11) / Double(1 << 53))
  }
}
