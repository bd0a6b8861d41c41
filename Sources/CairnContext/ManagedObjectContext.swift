import CairnCoordinator
import CairnModel
import CairnStore
import Foundation
import Synchronization

/// A scratch pad: it holds at most one object for each ID, tracks every change, and writes nothing
/// until ``save()``.
///
/// A context and its objects belong to its queue: use them inside ``perform(_:)`` and its sisters,
/// or directly on the main queue for a main-queue context. Setting it up (coordinator, parent,
/// name, policy) is allowed anywhere before it is used. Source: `NSManagedObjectContext`.
///
/// The launch argument `-com.apple.CoreData.ConcurrencyDebug 1`, or the environment variable of that
/// name, makes contexts check this and stop the program where it is broken. The check is off by
/// default, as on Apple's platforms. Then a program that uses a context on another queue while
/// no other thread does gets what it expects; two threads that use one at the same time race, with
/// wrong values or a crash in that context. Stores, their row cache and other contexts guard
/// themselves, and a store takes each save whole or not at all.
// Unchecked: the context's state belongs to its queue, which `confinement` checks at every entry when
// asked to; `registry` and `confinement` guard themselves. The context itself must cross threads,
// because `perform` is called from everywhere.
open class ManagedObjectContext: NSObject, @unchecked Sendable {
  /// The kind of queue the context has.
  public let concurrencyType: ManagedObjectContextConcurrencyType

  // MARK: Parts

  /// The queue, and who may use it.
  let confinement: ContextConfinement
  /// Which object stands for which ID.
  let registry = ObjectRegistry()
  // `@exclusivity(unchecked)` as in ManagedObject, and for the same reason.
  /// What there is to be saved, and which objects the current event touched.
  @exclusivity(unchecked)
  final var pending = PendingChanges()
  /// What happened in the current event.
  @exclusivity(unchecked)
  final var event = EventState()
  /// Where rows are read.
  @exclusivity(unchecked)
  final var reading = ContextReading()
  /// What objects are made from.
  @exclusivity(unchecked)
  final var factory = ObjectFactory()
  /// The ordered sets of members that the program has.
  @exclusivity(unchecked)
  final var lateFollowing = LateFollowing()
  /// What the next save is to do beside the changes.
  final var nextSave = NextSave()
  /// Records events for undo.
  final var recorder: (any EventRecording)?
  /// The coordinator calls it after a commit; it merges the changes if the context is to.
  let commitListener: CommitListener

  /// A context with a queue of the given kind.
  public init(concurrencyType ct: ManagedObjectContextConcurrencyType) {
    concurrencyType = ct
    confinement = ContextConfinement(ct)
    commitListener = CommitListener(confinement)
    super.init()
    registry.context = self
    reference.set(self)
  }

  /// A context with a queue of the given kind.
  public convenience init(_ type: ConcurrencyType) {
    self.init(concurrencyType: type.rawValue)
  }

  /// A context of the thread that makes it.
  @available(*, deprecated, message: "Use init(concurrencyType:).")
  public override convenience init() {
    self.init(concurrencyType: .confinementConcurrencyType)
  }

  /// What ``encode(with:)`` wrote: the kind of queue, the name and the settings.
  ///
  /// Coordinator and parent are not archived; set one before use. Nil for a confinement context.
  public required init?(coder: NSCoder) {
    guard let kind = Self.concurrencyType(in: coder) else { return nil }
    concurrencyType = kind
    confinement = ContextConfinement(kind)
    commitListener = CommitListener(confinement)
    super.init()
    registry.context = self
    reference.set(self)
    takeSettings(from: coder)
  }

  deinit {
    reference.clear()
    let rows = registry.takeAbandonedRows(atLeast: 1)
    if !rows.isEmpty { reading.source?.releaseRows(rows) }
    let objects = registry.objects
    var held: [ManagedObjectID] = []
    for object in objects {
      if object.flags.contains(.retainsRow) { held.append(object.objectID) }
      object.flags.remove(.retainsRow)
      // Objects that refer to each other would never be freed.
      object.forgetToManyValues()
      object.forgetLooseValues()
      object.extras?.companions = []
    }
    if !held.isEmpty { reading.source?.releaseRows(held) }
    pending.removeAll()
  }

  // MARK: Setting up

  /// The coordinator whose stores the context works on; that of the root for a child.
  open var persistentStoreCoordinator: PersistentStoreCoordinator? {
    get { parent?.persistentStoreCoordinator ?? reading.source?.coordinator }
    set { ContextAttachment(context: self).attach(to: newValue) }
  }
  /// The context that this one reads from and saves into, instead of a coordinator.
  open var parent: ManagedObjectContext? {
    get { reading.source?.parent }
    set { ContextAttachment(context: self).attach(to: newValue) }
  }
  /// A name for people; recorded in history.
  open var name: String? { didSet { confinement.setName(name) } }
  /// Who saves; recorded in history.
  open var transactionAuthor: String?
  /// What happens when rows changed since they were read.
  ///
  /// Default: an error. A ``MergePolicy``; of type `Any` as at Apple. Anything else traps.
  open var mergePolicy: Any = MergePolicy.error {
    didSet {
      if mergePolicy is MergePolicy { return }
      // A value in the program's source: a context from an archive gets a policy made here.
      fatalError("mergePolicy must be a MergePolicy, not \(type(of: mergePolicy)).")
    }
  }
  final var policy: MergePolicy { mergePolicy as? MergePolicy ?? .error }
  /// Whether a conflict of a save is an error and nothing that a policy of the program decides.
  package final var reportsConflicts: Bool { policy.mergeType == .errorMergePolicyType }
  /// Seconds after which a cached row is read again; negative, the default, for never.
  open var stalenessInterval: TimeInterval = -1
  /// Whether delete rules are followed at the end of each event (the default), or at the save.
  open var propagatesDeletesAtEndOfEvent = true
  /// Whether the context keeps all its objects alive; by default it does not.
  open var retainsRegisteredObjects = false {
    didSet {
      registry.retained = retainsRegisteredObjects ? Set(registry.objects.map(ObjectRef.init)) : []
    }
  }
  /// Whether a fault whose row is gone becomes a deleted object.
  ///
  /// Default true; otherwise reading it traps.
  open var shouldDeleteInaccessibleFaults = true
  /// Whether saves of other contexts of the coordinator are merged by themselves, some time later
  /// on the context's queue; in a child those of its parent and of the parent's other children.
  ///
  /// Default false. May be set before there is a coordinator or a parent.
  open var automaticallyMergesChangesFromParent: Bool {
    get { commitListener.merging.isOn }
    set { ContextAttachment(context: self).setMergesAutomatically(newValue) }
  }
  /// For the program's own use.
  public let userInfo = NSMutableDictionary()

  // MARK: For the library's other modules

  /// What went wrong the last time a fault could not be read.
  package final var faultError: (any Error)? {
    get { nextSave.readFailure }
    set { nextSave.readFailure = newValue }
  }
  /// For migrations, set before there are objects: these are plain ones, and nothing is validated.
  package final var carriesValuesOnly: Bool {
    get { factory.carriesValuesOnly }
    set { factory.carriesValuesOnly = newValue }
  }
  /// For work that may come too late for the context.
  final var reference: ContextReference { commitListener.reference }

  // MARK: Queue

  /// Runs the block on the context's queue some time later, then processes pending changes.
  open func perform(_ block: @escaping () -> Void) {
    confinement.async {
      CurrentContext.$context.withValue(self) { block() }
      self.endEvent()
    }
  }

  /// Runs the block on the context's queue and waits.
  ///
  /// May be nested. A child needs its parent to read and to save; so while the caller waits, on the
  /// queue of the parent for a child or on any other for a context that waits for that one, it runs
  /// there what the other asks of the caller's contexts, instead of both waiting for ever.
  open func performAndWait(_ block: () -> Void) {
    confinement.sync { CurrentContext.$context.withValue(self) { block() } }
  }

  // MARK: Objects

  /// Adds a new object, or takes its deletion back.
  ///
  /// What its to-one relationships lead to has it again. Nothing is saved of an object that belongs to
  /// no context, although relationships may show it.
  open func insert(_ object: ManagedObject) { ObjectInsertion(context: self).insert(object) }
  /// Marks an object for deletion by the next save.
  open func delete(_ object: ManagedObject) { ObjectDeletion(context: self).delete(object) }
  /// The object with the ID if it is in the context; never reads.
  open func registeredObject(for objectID: ManagedObjectID) -> ManagedObject? {
    confinement.check()
    return registry.object(for: objectID)
  }
  /// The object with the ID, as a fault if it is not in the context.
  ///
  /// Never reads; whether there is such a row turns out when the fault is fired.
  open func object(with objectID: ManagedObjectID) -> ManagedObject {
    ObjectLookup(context: self).object(with: objectID)
  }
  /// The object with the ID, with its values.
  ///
  /// - Throws: ``CoreDataError`` 133000 when there is no such object.
  open func existingObject(with objectID: ManagedObjectID) throws -> ManagedObject {
    try CoreDataError.bridging {
      try FaultFiring.existingObject(with: objectID, in: self)
    }
  }
  /// With `mergeChanges`, reads the object again and puts its unsaved changes on top; without,
  /// turns it into a fault and drops them.
  open func refresh(_ object: ManagedObject, mergeChanges flag: Bool) {
    confinement.check()
    ObjectRefreshing(context: self).refresh(object, mergeChanges: flag)
  }
  /// Refreshes all objects: clean ones become faults, changed ones keep their changes.
  open func refreshAllObjects() {
    confinement.check()
    ObjectRefreshing(context: self).refreshAll()
    processPendingChanges()
  }
  /// The next save fails if the object's row has changed by then, even if it is not changed here.
  open func detectConflicts(for object: ManagedObject) {
    confinement.check()
    _ = object.firedSlots
    object.flags.insert(.locked)
    registry.retained.insert(ObjectRef(object))
  }
  /// Decides the store that a new object will be saved to.
  ///
  /// Traps for an object that is in another store already.
  open func assign(_ object: Any, to store: PersistentStore) {
    StoreAssignment(context: self).assign(object, to: store)
  }
  /// Gives new objects their permanent IDs before they are saved.
  open func obtainPermanentIDs(for objects: [ManagedObject]) throws {
    confinement.check()
    // Each gets one ID, however often it is named.
    var known: Set<ObjectRef> = []
    let objects = objects.filter { known.insert(ObjectRef($0)).inserted }
    try CoreDataError.bridging { try PermanentIDs(context: self).obtain(for: objects) }
  }
  /// Asked when a fault's row is gone: true makes it a deleted object with nil values.
  open func shouldHandleInaccessibleFault(
    _ fault: ManagedObject, for oid: ManagedObjectID,
    triggeredByProperty property: PropertyDescription?
  ) -> Bool { shouldDeleteInaccessibleFaults }

  /// Counts a change of an object that it did not announce itself.
  ///
  /// Core Data observes its objects with this method; here they tell the context themselves.
  open func observeValue(
    forKeyPath keyPath: String?, of object: Any?, change: [String: Any]?,
    context: UnsafeMutableRawPointer?
  ) {
    guard let object = object as? ManagedObject, object.registry === registry else { return }
    object.noteChange()
  }

  // MARK: Changes

  /// Records each event of the context, so that it can be undone.
  ///
  /// Nil by default. The undo manager belongs to the context's queue. Saving does not clear it;
  /// ``rollback()`` and ``reset()`` do.
  open var undoManager: UndoManager? { didSet { replaceUndoManager(oldValue) } }
  /// Takes back what was done last; does nothing without an undo manager.
  open func undo() {
    confinement.check()
    processPendingChanges()
    undoManager?.undo()
  }
  /// Does again what was undone last; does nothing without an undo manager.
  open func redo() {
    confinement.check()
    processPendingChanges()
    undoManager?.redo()
  }
  /// Whether there is anything to be saved.
  open var hasChanges: Bool { !pending.isEmpty }
  open var insertedObjects: Set<ManagedObject> { Set(pending.objects(.inserted)) }
  open var updatedObjects: Set<ManagedObject> { Set(pending.objects(.updated)) }
  /// The objects that the next save deletes, and those whose deletion elsewhere was merged, until
  /// that is processed.
  open var deletedObjects: Set<ManagedObject> {
    Set(pending.objects(.deleted)).union(event.mergedDeletions)
  }
  open var registeredObjects: Set<ManagedObject> { Set(registry.objects) }
  /// Ends the current event: follows delete rules and posts one objects-did-change notification.
  open func processPendingChanges() { ChangeProcessing(context: self).process() }
  /// Validates all changes and writes them: all of them to each store, or nothing.
  ///
  /// - Throws: ``CoreDataError``, among others 1560 with all validation errors and 133020 for
  ///   conflicts under the error policy. Everything stays pending then.
  open func save() throws {
    try CoreDataError.bridging { try SavePipeline(context: self).save() }
  }
  /// Goes back to the last saved state.
  open func rollback() { ChangeDiscarding(context: self).rollback() }
  /// Forgets all objects and changes.
  ///
  /// Objects still referenced are unusable.
  open func reset() { ChangeDiscarding(context: self).reset() }

  // MARK: Requests

  /// Runs a fetch request.
  public func fetch<T>(_ request: FetchRequest<T>) throws -> [T] {
    try CoreDataError.bridging { try FetchExecution(context: self).results(of: request) }
  }
  /// Runs a fetch request that does not say in its type what it returns.
  @_disfavoredOverload
  public func fetch(_ request: FetchRequest<any FetchRequestResult>) throws -> [Any] {
    let results: [any FetchRequestResult] = try CoreDataError.bridging {
      try FetchExecution(context: self).results(of: request)
    }
    return results
  }
  /// The number of results a fetch request would have.
  @_disfavoredOverload
  public func count(for request: FetchRequest<any FetchRequestResult>) throws -> Int {
    try CoreDataError.bridging { try FetchExecution(context: self).count(of: request) }
  }
  /// The number of results a fetch request would have.
  public func count<T>(for request: FetchRequest<T>) throws -> Int {
    try CoreDataError.bridging { try FetchExecution(context: self).count(of: request) }
  }
  /// Runs a fetch, batch or history request.
  ///
  /// - Throws: ``CoreDataError``, 134091 for a request that no store here understands.
  @discardableResult
  open func execute(_ request: PersistentStoreRequest) throws -> PersistentStoreResult {
    try CoreDataError.bridging { try RequestExecution(context: self).execute(request) }
  }

  // MARK: Merging

  /// Brings the context up to date with the save of another one, given its did-save or
  /// did-save-object-IDs notification.
  ///
  /// Call it on this context's queue.
  open func mergeChanges(fromContextDidSave notification: Notification) {
    confinement.check()
    ChangeMerging(context: self).merge(notification)
  }
  /// Brings contexts up to date with changes given as object IDs or URIs under `inserted`,
  /// `updated`, `deleted` (or the `…_objectIDs` keys).
  ///
  /// May be called anywhere.
  open class func mergeChanges(
    fromRemoteContextSave changeNotificationData: [AnyHashable: Any],
    into contexts: [ManagedObjectContext]
  ) {
    for context in contexts {
      let data = Transferred(value: changeNotificationData)
      context.confinement.sync(for: .merge) {
        ChangeMerging(context: context).merge(fromStores: data.value)
      }
    }
  }
}
