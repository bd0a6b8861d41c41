import CairnCoordinator
import CairnModel
import CairnStore
import Foundation

/// A save from end to end: `willSave` until nothing changes any more, validation, IDs, one request
/// for each store with the merge policy deciding conflicts, and what follows the commit.
///
/// Until a store has committed nothing of the context changes, so a failed save can be repeated.
struct SavePipeline {
  let context: ManagedObjectContext

  /// So many rounds of `willSave` changing objects are taken for an endless loop.
  private static let maximumRounds = 1000
  /// So often a store is asked again after its conflicts were resolved.
  private static let maximumAttempts = 20

  func save() throws {
    context.confinement.check()
    context.event.announcedSets = AnnouncedSets()
    defer { context.event.announcedSets = nil }
    context.processPendingChanges()
    guard context.hasChanges || !context.nextSave.sidecar.isEmpty else { return try saveMetadata() }
    guard context.reading.source != nil else {
      throw CoreDataError(
        .persistentStoreSave,
        "This context has no persistent store coordinator. Cannot perform a save operation.")
    }
    if let error = context.nextSave.readFailure {
      let cause = error as? CoreDataError
      throw CoreDataError(
        .persistentStoreOperation,
        "Objects could not be read since the last save or rollback, so their values are not known. "
          + "Roll back or reset the context and try again."
          + (cause.map { " The reason was: \($0.message)" } ?? ""),
        userInfo: (cause?.userInfo ?? [:]).filter { $0.key == NSFilePathErrorKey },
        underlyingError: error)
    }
    context.nextSave.isRunning = true
    defer { context.nextSave.isRunning = false }
    ContextNotifications(context: context).postWillSave()
    try sendWillSave()
    if !context.factory.carriesValuesOnly { try ObjectValidation.validate(context.pending) }
    if let parent = context.parent {
      try ParentSaving(context: context, parent: parent).save()
      return
    }
    guard let coordinator = context.persistentStoreCoordinator else { return }
    try saveToStores(of: coordinator)
  }

  /// A save without changes still writes metadata that was set.
  private func saveMetadata() throws {
    guard context.parent == nil, let coordinator = context.persistentStoreCoordinator else {
      return
    }
    for store in coordinator.persistentStores where Self.waitsForMetadata(store) {
      var completion = SaveCompletion(context: context)
      _ = try save(to: store, of: coordinator, completion: &completion)
    }
  }

  private static func takesEverySave(_ store: PersistentStore) -> Bool {
    store.capabilities.worksObjectByObject
  }

  private static func waitsForMetadata(_ store: PersistentStore) -> Bool {
    store.hasUnsavedMetadata && !store.isReadOnly
  }

  // MARK: Before

  private func sendWillSave() throws {
    if !context.propagatesDeletesAtEndOfEvent {
      DeletePropagation(context: context).run()
      context.processPendingChanges()
    }
    // Plain managed objects have nothing to do before a save.
    let isAnybodyListening = context.pending.traits.contains(.listeners)
    var objects = isAnybodyListening ? Array(context.pending.objects) : []
    for _ in 0..<Self.maximumRounds {
      for object in objects { object.willSave() }
      objects = ChangeProcessing(context: context).process()
      if !context.propagatesDeletesAtEndOfEvent { DeletePropagation(context: context).run() }
      if objects.isEmpty { return }
    }
    throw CoreDataError(
      .persistentStoreSave,
      "Failed to process pending changes before save. The context is still dirty after "
        + "\(Self.maximumRounds) attempts. Typically this recursive dirtying is caused by a bad "
        + "validation method, -willSave, or notification handler.")
  }

  // MARK: Stores

  private func saveToStores(of coordinator: PersistentStoreCoordinator) throws {
    if context.pending.traits.contains(.inserted) {
      try PermanentIDs(context: context).obtain(for: context.pending.objects(.inserted))
    }
    var completion = SaveCompletion(context: context)
    var saved: [PersistentStore] = []
    let stores = try targets(in: coordinator)
    // What can be refused without asking a store is refused before the first one has committed.
    if stores.count > 1 {
      for store in stores {
        var unit = SaveUnit(store: store, isFinal: false)
        try unit.collect(from: context, isOnly: false)
      }
    }
    for store in stores {
      do {
        let receipt = try save(to: store, of: coordinator, completion: &completion)
        if receipt { saved.append(store) }
      } catch {
        if saved.isEmpty { throw error }
        completion.finish()
        throw CoreDataError(
          .persistentStoreIncompleteSave,
          "\(saved.count) store(s) were saved, then \(store.url?.path ?? store.type) failed; what "
            + "belongs to it is still unsaved.",
          userInfo: ["NSAffectedStoresErrorKey": [store]], underlyingError: error)
      }
    }
    completion.finish()
    // What undo brings back may refer to them.
    if !context.recordsUndo { context.registry.forgetTemporaryIDs() }
  }

  /// The stores that the changes concern, in the coordinator's order.
  private func targets(in coordinator: PersistentStoreCoordinator) throws -> [PersistentStore] {
    let open = coordinator.persistentStores
    // What is not in it is noticed when the request is made.
    if open.count == 1, !context.pending.isEmpty { return open }
    var concerned: [StoreIdentity] = []
    for object in context.pending.objects {
      let identity = object.objectID.storeIdentity
      // Changes come in runs of one store.
      if let identity, concerned.last === identity { continue }
      guard let identity, open.contains(where: { $0.identity === identity }) else {
        throw SaveUnit.homeless(object)
      }
      concerned.removeAll { $0 === identity }
      concerned.append(identity)
    }
    for object in context.registry.retained where object.object.flags.contains(.locked) {
      if let identity = object.object.objectID.storeIdentity { concerned.append(identity) }
    }
    concerned += context.nextSave.sidecar.stores.map(\.identity)
    return open.filter { store in
      Self.waitsForMetadata(store) || concerned.contains { $0 === store.identity }
    }
  }

  /// What came of handing the changes to a store once.
  private enum Attempt {
    case saved
    /// There was nothing to write.
    case empty
    /// Objects whose rows turned out to be gone.
    case lost([ManagedObject])
    /// One-to-one relationships to look at before the store is asked.
    case doubts(PartnerCheck)
    /// Rows that have changed, and what the row cache had for them.
    case conflicts([RowConflict], cached: [RowSnapshot?])
    case violations([ConstraintViolation])
  }

  /// - Returns: Whether something was written.
  private func save(
    to store: PersistentStore, of coordinator: PersistentStoreCoordinator,
    completion: inout SaveCompletion
  ) throws -> Bool {
    var checksPartners = true
    for _ in 0..<Self.maximumAttempts {
      let attempt = try attempt(
        store, of: coordinator, checksPartners: checksPartners, completion: &completion)
      switch attempt {
      case .saved: return true
      case .empty: return false
      case .lost(let objects): resolving(objects)
      case .doubts(let partners):
        try resolving { partners.resolve() }
        checksPartners = false
      case .conflicts(let conflicts, let cached):
        checksPartners = true
        try resolving {
          try ConflictResolution(context: context).resolve(conflicts, cached: cached)
        }
      case .violations(let violations):
        checksPartners = true
        try resolving { try ConstraintResolution(context: context).resolve(violations) }
      }
    }
    throw CoreDataError(
      .managedObjectMerge,
      "The save met new conflicts \(Self.maximumAttempts) times in a row; try again later.")
  }

  /// Hands the changes to the store; nothing is resolved here, where the unit has the objects' values.
  private func attempt(
    _ store: PersistentStore, of coordinator: PersistentStoreCoordinator, checksPartners: Bool,
    completion: inout SaveCompletion
  ) throws -> Attempt {
    // The coordinator tells stores of the program's own which rows are held.
    let holdsInsertions = !coordinator.hasMembers
    var unit = SaveUnit(store: store, isFinal: true)
    try unit.collect(from: context, isOnly: coordinator.persistentStores.count == 1)
    if !unit.lost.isEmpty { return .lost(unit.lost) }
    if checksPartners, unit.partners.hasDoubts { return .doubts(unit.partners) }
    // A store of the program's own gets changes that come to nothing, too.
    if unit.request.isEmpty, !Self.takesEverySave(store), !Self.waitsForMetadata(store) {
      completion.add(unit, receipt: nil)
      unit.beWritten()
      return .empty
    }
    var cached: [RowSnapshot?] = []
    let request = unit.request
    let outcome = try ObjectHandOver.serving(context, by: coordinator) {
      try coordinator.save(
        request, in: store, by: context.commitListener, holdsInsertions: holdsInsertions
      ) { conflicts in
        cached = conflicts.map { coordinator.cachedSnapshot(for: $0.objectID) }
      }
    }
    switch outcome {
    case .saved(let receipt):
      completion.add(unit, receipt: receipt, areInsertionsHeld: holdsInsertions)
      unit.beWritten()
      return .saved
    case .conflicts(let conflicts): return .conflicts(conflicts, cached: cached)
    case .constraintViolations(let violations): return .violations(violations)
    case .sidecarChanged(let key):
      throw CoreDataError(
        .persistentStoreSaveConflicts,
        "The entry that the save requires in the sidecar map \(key.map) has changed.",
        userInfo: ["CairnSidecarKey": key])
    case .rowKeysTaken:
      // A context reserves its keys and claims none.
      throw CoreDataError(
        .persistentStoreSave, "The keys of new rows have been taken by another program.")
    }
  }

  /// Takes away what objects without a row were related to, so that nothing is saved with a key
  /// that leads nowhere.
  private func resolving(_ lost: [ManagedObject]) {
    context.resolvingConflicts {
      context.changingMany { lost.forEach(unrelate) }
      context.processPendingChanges()
    }
  }

  private func unrelate(_ object: ManagedObject) {
    for (index, value) in object.toManyValues.enumerated() {
      guard let value, let inverse = object.layout.toManys[index].inverseRelationship else {
        continue
      }
      for member in value.added.map(\.object) {
        InverseMaintenance.detach(object, from: member, inverse: inverse)
      }
      value.drop { _ in true }
    }
    for slot in object.layout.toOneSlots {
      if let inverse = object.layout.slots[slot].relationship?.inverseRelationship,
        let other = InverseMaintenance.target(of: object, at: slot)
      {
        InverseMaintenance.detach(object, from: other, inverse: inverse)
      }
      object.writeSilently(.null, at: slot)
    }
  }

  /// What a merge policy changes is nothing that the user did and could take back.
  private func resolving(_ body: () throws -> Void) throws {
    try context.resolvingConflicts {
      try body()
      // Resolving may have deleted objects.
      context.processPendingChanges()
    }
    if context.factory.carriesValuesOnly { return }
    // What another context has related to a deleted object may deny its deletion.
    try ObjectValidation.validate(context.pending.objects(.deleted))
  }
}
