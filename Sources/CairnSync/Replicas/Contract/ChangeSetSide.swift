import CairnStore

/// A replica that is given change sets instead of being written, during one pass: a log or a daemon.
///
/// It reads and takes sets in the names of the local store's model. Used on the queue of the link's context, one for
/// each pass.
protocol ChangeSetSide: ChangeSource, ChangeDestination, Sendable {
  /// Where it is, for people.
  var place: String { get }
  /// Makes sure that both sides are what they were.
  ///
  /// - Returns: The places of those that had gone back in time, or lost something, and have begun a new life.
  func identify() throws -> [String]
  /// Finds out what is new there, and how far others have come.
  func lookForNews() throws
  /// The identities under which records come from there, former ones, too.
  func senders() throws -> Set<StoreID>
  /// Has it try once more what waits there, and shows it that this side is still there.
  func retry() throws -> PassReport
  /// Looks once more whether it is still what the pass was about, and gives what has arrived there and is not visible.
  func settle() throws -> HeldRecords
  /// What has to happen where one side has missed what the other has forgotten: gives how much was deleted by that, by
  /// place.
  func comeBack(_ side: PassState.Side) throws -> [String: Int]
  /// How many records and links lie there that this side has not read, whatever the local store knows of them.
  func unread() throws -> Int
}
