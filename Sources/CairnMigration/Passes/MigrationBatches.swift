import CairnContext
import CairnCoordinator
import CairnModel
import CairnStore

/// Keeps what a migration has in memory at so many objects: what was made is saved from time to time,
/// and objects that neither a policy nor the manager uses go.
///
/// A policy does not notice. New objects have their permanent IDs as soon as they are associated, and
/// objects that it holds stay objects of their contexts.
struct MigrationBatches {
  /// How many objects a batch has by default.
  static let size = 1000

  /// How many objects a batch has.
  let size: Int
  let source: ManagedObjectContext
  let destination: ManagedObjectContext
  private var keys = RowKeysAhead()
  /// Whether the destination is written to before the migration is complete.
  private(set) var isSaving: Bool
  /// How many objects were left when the unused ones went last.
  private var left = (source: 0, destination: 0)

  /// - Parameter mayDiscard: Whether the destination store goes if the migration fails.
  init(
    of size: Int, source: ManagedObjectContext, destination: ManagedObjectContext,
    mayDiscard: Bool
  ) {
    self.size = size
    self.source = source
    self.destination = destination
    // A store that is one file as a whole is in memory in any case, and written as a whole each time.
    isSaving =
      mayDiscard
      && destination.persistentStoreCoordinator?.persistentStores.count == 1
      && destination.persistentStoreCoordinator?.persistentStores.first?.capabilities.rowKeys != nil
  }

  /// Gives a new destination object its permanent ID.
  mutating func identify(_ object: ManagedObject) throws {
    guard isSaving else { return }
    try keys.identify(object, in: destination)
  }

  /// Whether there is more to save than a batch should have.
  var isFull: Bool { isSaving && destination.pendingCount >= 4 * size }

  /// Saves what the destination context holds, and frees objects that no policy uses.
  mutating func end(_ associations: inout InstanceAssociations) throws {
    guard isSaving, destination.reportsConflicts else { return }
    guard try save() else { return }
    associations.settle()
    Self.letGo(in: source, size, &left.source)
    Self.letGo(in: destination, size, &left.destination)
  }

  /// False, and nothing was saved, when objects are not unique that must be in the end: a policy may
  /// see to that yet, so that from now on all is saved at the end.
  private mutating func save() throws -> Bool {
    destination.settleReferences()
    do {
      try destination.save()
      return true
    } catch let error as CoreDataError where error.code == .managedObjectConstraintMerge {
      isSaving = false
      return false
    }
  }

  /// Lets go of objects that refer to each other; all others go by themselves.
  ///
  /// They are looked for once there are twice as many as were in use before, so that a policy that
  /// holds all its objects does not have each of them looked at after each batch.
  private static func letGo(
    in context: ManagedObjectContext, _ size: Int, _ left: inout Int
  ) {
    guard context.registeredCount > 2 * max(left, size) else { return }
    context.turnUnchangedObjectsIntoFaults()
    left = context.registeredCount
  }
}

/// Keys of rows to come, asked of a store for many objects at a time.
private struct RowKeysAhead {
  private struct Reserve {
    var keys: Range<Int64>
    var count: Int
  }
  private var reserves: [ObjectIdentifier: Reserve] = [:]
  private static let (fewest, most) = (16, 1024)

  mutating func identify(_ object: ManagedObject, in context: ManagedObjectContext) throws {
    guard object.objectID.isTemporaryID, object.managedObjectContext === context,
      let coordinator = context.persistentStoreCoordinator
    else { return }
    let entity = object.entity
    let store = try coordinator.storeForInserting(entity)
    var reserve =
      reserves[ObjectIdentifier(entity)] ?? Reserve(keys: 0..<0, count: Self.fewest / 2)
    if reserve.keys.isEmpty {
      reserve.count = min(reserve.count * 2, Self.most)
      guard
        let first = try store.capabilities.rowKeys?.reserveRowKeys(
          for: [RowKeyRun(entity: entity, count: reserve.count)])?.first
      else { return }
      reserve.keys = first..<first + Int64(reserve.count)
    }
    context.give(rowKey: reserve.keys.lowerBound, in: store, to: object)
    reserve.keys = reserve.keys.dropFirst().startIndex..<reserve.keys.upperBound
    reserves[ObjectIdentifier(entity)] = reserve
  }
}
