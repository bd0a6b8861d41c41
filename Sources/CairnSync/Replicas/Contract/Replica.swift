import CairnContext
import CairnCoordinator
import CairnStore

/// A replica that is open, of whatever kind: what a link needs of the other side.
///
/// There are three kinds. A **store** we write ourselves: its rows, stamps and cursors. To a **log** we append change
/// sets, and read those of its other writers; nothing there applies anything. A **daemon** applies for itself, and
/// answers with what it has taken. See <doc:AddingAKindOfReplica> and <doc:0033-OneContractForReplicas>.
protocol Replica: Sendable {
  /// Who it is over restarts; nil for one that cannot tell.
  var identifier: String? { get }
  /// What a link writes itself, with the rows that comparisons and operators read; nil for a replica that is
  /// given change sets.
  var opened: OpenReplica? { get }
  /// Whether it tells of changes by itself, so that the link need not look every
  /// ``SyncConfiguration/pollInterval``.
  var tellsOfChanges: Bool { get }
  /// A pass on it; every pass finds out anew what is there.
  func pass(_ setting: PassSetting) -> any ReplicaPass
  func close() throws
}

/// How replicas of one type are reached.
///
/// An engine is given the kinds that are no stores; a type that none of them has is a store's.
protocol ReplicaKind: Sendable {
  /// The type by which a ``ReplicaConfiguration`` names it.
  var type: String { get }
  /// Reaches the replica, or makes it where there is nothing yet.
  ///
  /// - Throws: ``SyncError``, with who has to do something.
  func connect(_ connection: ReplicaConnection) async throws -> any Replica
}

/// What is known when a replica is reached.
struct ReplicaConnection: Sendable {
  let configuration: ReplicaConfiguration
  let local: StoreAccess
  let coordinator: PersistentStoreCoordinator
  /// Sees the commits of stores with a coordinator of their own.
  let observer: any CoordinatorObserver
  /// The other stores of the group.
  let neighbours: [ReplicaInspection.Neighbour]
  /// Who the replica was when it was open before, also before a restart; nil for one that never was.
  let expectedIdentifier: String?
  /// How far a migration is.
  let progress: @Sendable (Double) -> Void
  /// A hint that something has changed there; more or fewer of them than changes do no harm.
  let hint: @Sendable () -> Void
}

/// What a link wants of one pass.
struct PassSetting {
  let local: StoreAccess
  let context: ManagedObjectContext
  var direction = SyncDirection.both
  /// Nil for a pass that deletes whatever there is to delete.
  var deletions: DeletionGuard?
  /// Called between the commits of long work; what it throws ends the pass there.
  var checkGoingOn: @Sendable () throws -> Void = {}
  /// How many records the next set has; nil for the configured number.
  var batchSize: @Sendable () -> Int? = { nil }
  /// What of their records the two exchange, in the names of the local store; nil for all.
  var filter: EntityFilter?
}

/// One pass of a link over a replica, in the steps that ``PassState`` asks for.
///
/// Every step is one commit at most on either side, so a pass can end after any of them.
protocol ReplicaPass: Sendable {
  var direction: SyncDirection { get }
  /// A step begins: what was read in the step before may have changed since.
  func beginStep()
  /// Makes sure that both sides are what they were, before anything is exchanged; what has gone back in time begins
  /// a new life.
  func identify() throws -> PassReport
  /// Gives stamps to what programs have written to the local store.
  func captureLocal() throws -> PassReport
  /// Finds out what is new in the replica.
  func lookForNews() throws -> PassReport
  /// Tries once more what has arrived at the destination of a side and waits there.
  func retryHeld(_ side: PassState.Side) throws -> PassReport
  /// Moves one change set.
  func exchange(_ side: PassState.Side) throws -> PassReport
  /// What has arrived on either side and is not visible there, once the pass is complete.
  ///
  /// Looks once more whether both are still what they were: what the pass has exchanged with something else must not
  /// be called in step.
  func settle() throws -> HeldRecords
  /// How many records the direction leaves where they are, for a pass of one direction.
  ///
  /// - Parameter leftOut: What was found the last time.
  func countLeftOut(_ leftOut: inout LeftOut) throws -> Int
}

extension ReplicaPass {
  func perform(_ step: PassState.Step) throws -> PassReport {
    beginStep()
    switch step {
    case .identify: return try identify()
    case .captureLocal: return try captureLocal()
    case .captureReplica: return try lookForNews()
    case .retryHeld(let side): return try retryHeld(side)
    case .move(let side): return try exchange(side)
    }
  }
}
