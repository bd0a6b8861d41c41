/// Where change sets come from: a store that we read, the streams of a log, a daemon that we ask.
///
/// A source has streams, each with places of its own in their order: a store and a daemon have one, under their own
/// identity, a log one for each writer. So how far a destination has been served is a vector: a ``SyncCursor`` for
/// each stream, kept by the
/// destination with its data.
protocol ChangeSource {
  /// The streams there are to read, in the order in which they are read.
  func streams() throws -> [StoreID]
  /// The cursor with which a first read of a stream begins now: where it ends, for a source that gives parts of
  /// transactions until then, and what the source has forgotten; an empty one where change sets are whole from the
  /// first.
  func firstRead(of stream: StoreID) throws -> SyncCursor
  /// A destination comes for more, and has everything up to a place, and no more than that: what only slower ones need
  /// may go.
  func acknowledge(_ reader: StoreID, at position: UInt64, of stream: StoreID) throws
  /// The change set that follows a place, in the names of the local store or, where it has names of its own, of the
  /// source; nil where there is none.
  func changes(
    after cursor: SyncCursor, of stream: StoreID, for reader: StoreID
  ) throws -> SourceChanges?
  /// Whether something is gone that a destination which has come to a place has yet to learn of.
  func hasForgotten(after cursor: SyncCursor, of stream: StoreID) throws -> Bool
  /// What it has of records now, by their IDs, where what it sends comes in parts.
  func states(of ids: Set<RecordID>, for reader: StoreID) throws -> ChangeSet
  /// What it says, as a reader of the destination, that it was served from there; nil where it does not say.
  func claim(on destination: StoreID) throws -> ReaderClaim?
  /// Begins to read what follows a set that is being applied.
  ///
  /// - Returns: Waits until it has been read.
  func readAhead(after changes: SourceChanges, of stream: StoreID, for reader: StoreID)
    -> @Sendable () -> Void
}

/// What a destination has to be still to take a set, which leaves out what came from it: a store that was restored from
/// a backup since the set was read lacks that, and would pass it over for good.
struct ExpectedDestination {
  /// Whom the set was made for.
  let id: StoreID
  /// What the source was served from there.
  let claim: ReaderClaim?
}

/// A change set with the place that a destination has come to once it is applied.
struct SourceChanges: Sendable {
  let set: ChangeSet
  let end: SyncCursor
}

extension ChangeSource {
  func readAhead(after changes: SourceChanges, of stream: StoreID, for reader: StoreID)
    -> @Sendable () -> Void
  { {} }
}

/// Who takes change sets: a store that we write, a log that keeps them, a daemon that applies for itself.
protocol ChangeDestination {
  /// Under what identity it is served.
  func reader() throws -> StoreID
  /// How far it has been served from a stream, as it says itself.
  func cursor(for stream: StoreID) throws -> SyncCursor
  /// Whether a first read may come in parts of transactions: only where the source can be asked about what is yet to
  /// come.
  var takesParts: Bool { get }
  /// Takes a change set: all of it or nothing, and lasting when this returns.
  ///
  /// - Parameters:
  ///   - changes: In its own names, with the cursor that it has from then on.
  ///   - expected: Not taken by another, or one that has gone back in time.
  ///   - asking: Asks the source for what it has of records; nil where the set is no part.
  func take(
    _ changes: SourceChanges, of stream: StoreID, by expected: ExpectedDestination,
    asking: ((Set<RecordID>) throws -> [RecordState])?
  ) throws -> Acknowledgement
}

/// What a destination answers: what came of a change set, and how far it has come, which nothing but its own word
/// tells.
struct Acknowledgement: Sendable {
  var outcome: ChangeImporter.Outcome
  /// The last number of the stream that it has.
  var position: UInt64
}
