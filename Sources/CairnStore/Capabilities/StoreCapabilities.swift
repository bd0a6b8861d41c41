/// What a store can do beyond the rows and saves of every store, each by the object that does it: in most cases the
/// store itself; nil where it cannot.
///
/// ``PersistentStore/capabilities`` gives it. Cairn asks here and tests no store for what else it may conform to: a
/// store that has the methods and does not name them here cannot do it.
public struct StoreCapabilities: Sendable {
  /// It records its commits: persistent history and sync need it.
  public var history: (any HistoryKeeping)?
  /// It keeps ordered maps beside the rows, written in the same commit: sync needs it.
  public var sidecar: (any SidecarKeeping)?
  /// It executes batch requests.
  public var batches: (any BatchExecuting)?
  /// Reads can be pinned to one state of it: query generations and consistent exports need it.
  public var generations: (any GenerationKeeping)?
  /// A save never breaks a uniqueness constraint of the model.
  ///
  /// Cairn's stores all do, where Core Data has that for SQLite only; one that speaks to a service may not.
  public var keepsUniqueness = false
  /// It notices what others commit, which a look every few seconds finds without it.
  public var commits: (any CommitWatching)?
  /// For a while only one caller commits to it.
  public var exclusiveWrites: (any WriteHolding)?
  /// It reads the rows of a relationship's members along with their IDs.
  public var members: (any MemberReading)?
  /// It goes through all its rows without making objects of them.
  public var rows: (any RowScanning)?
  /// It says how it would run a fetch.
  ///
  /// Without it a fetch reads all rows of its entity, and does the rest in memory.
  public var explanations: (any FetchExplaining)?
  /// It keeps something for every object that a context holds.
  public var registrations: (any RegistrationObserving)?
  /// It says why it does not write any more.
  public var failures: (any FailureReporting)?
  /// It tells whether it is whole.
  public var integrity: (any IntegrityChecking)?
  /// It notices that its name leads to it no longer.
  public var place: (any PlaceChecking)?
  /// It gives back memory and room.
  public var resources: (any ResourceReleasing)?
  /// It tells its objects apart by numbers, which it can reserve.
  package var rowKeys: (any RowKeyReserving)?
  /// It is a store of a program's own, which speaks in objects: contexts hand themselves over to it.
  package var speaksInObjects = false
  /// It is asked for one object a call, each when it is needed, and gets every save, also one that changes
  /// nothing.
  package var worksObjectByObject = false
  /// It tells whether its writes get on.
  package var writer: (any WriterReporting)?

  /// A store that can do nothing more.
  public init() {}
}
