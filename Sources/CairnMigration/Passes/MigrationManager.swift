import CairnContext
import CairnCoordinator
import CairnModel
import CairnPredicates
import CairnStore
import Foundation

/// Brings the contents of one store into another of the next model version, object by object, as a
/// mapping model and its policies say.
///
/// The objects on both sides are plain managed objects, whatever classes the models name, and the
/// rules of the models are not checked: a policy that wants checks makes them in
/// ``EntityMigrationPolicy/performCustomValidation(forMapping:manager:)``.
///
/// Source: `NSMigrationManager`.
///
/// A manager and everything it hands out belong to the thread that migrates. It may be used again
/// after ``reset()``.
open class MigrationManager: NSObject, KeyValueReading, MessageAnswering {
  public let sourceModel: ManagedObjectModel
  public let destinationModel: ManagedObjectModel
  /// Whether a store type that can change its files in place does so for inferred mappings, with
  /// no object made and no policy called.
  ///
  /// Default true.
  open var usesStoreSpecificMigrationManager = true
  /// For the program's own use.
  open var userInfo: [AnyHashable: Any]?
  /// How much is done, 0…1.
  open private(set) var migrationProgress: Float = 0
  /// Cairn's own: called whenever ``migrationProgress`` changes, on the thread that migrates.
  package var progressReport: ((Float) -> Void)?

  /// How many objects are in memory at a time; tests have small batches.
  package final var batchSize = MigrationBatches.size

  private var mapping: MappingModel?
  private var current: EntityMapping?
  private var contexts: (source: ManagedObjectContext, destination: ManagedObjectContext)?
  private var associations = InstanceAssociations()
  private var batches: MigrationBatches?
  private var cancellation: (any Error)?

  /// A manager for migrations from one model version to another.
  ///
  /// This is the only designated initialiser. The framework makes managers through it, so that a
  /// subclass that adds another one overrides this too, or is made by the program alone.
  public init(sourceModel: ManagedObjectModel, destinationModel: ManagedObjectModel) {
    self.sourceModel = sourceModel
    self.destinationModel = destinationModel
    super.init()
  }

  /// The mapping that is worked off, an empty one before.
  open var mappingModel: MappingModel { mapping ?? MappingModel() }

  /// The entity mapping that is worked off; traps while no migration runs, as there is none.
  open var currentEntityMapping: EntityMapping {
    guard let current else {
      // Only a program that asks outside a policy's methods.
      fatalError("There is no current entity mapping: no migration is running.")
    }
    return current
  }

  /// The context of the source store; it has no store before and after the migration.
  open var sourceContext: ManagedObjectContext { openContexts().source }

  /// The context of the destination store; it has no store before and after the migration.
  open var destinationContext: ManagedObjectContext { openContexts().destination }

  private func openContexts() -> (source: ManagedObjectContext, destination: ManagedObjectContext) {
    if let contexts { return contexts }
    // Both are used together by the thread that migrates, so neither has a queue of its own.
    let made = (
      source: ManagedObjectContext(concurrencyType: .confinementConcurrencyType),
      destination: ManagedObjectContext(concurrencyType: .confinementConcurrencyType)
    )
    // Neither runs code of the program's classes, nor the model's rules (Versioning Guide,
    // "Three-Stage Migration").
    made.source.carriesValuesOnly = true
    made.destination.carriesValuesOnly = true
    contexts = made
    return made
  }

  /// Forgets everything of the migration before.
  open func reset() {
    contexts = nil
    associations = InstanceAssociations()
    batches = nil
    mapping = nil
    current = nil
    cancellation = nil
    migrationProgress = 0
  }

  /// Ends the running migration with an error, before its next object.
  open func cancelMigrationWithError(_ error: any Error) { cancellation = error }

  // MARK: Entities and instances

  /// The source entity of a mapping.
  open func sourceEntity(for mEntity: EntityMapping) -> EntityDescription? {
    mEntity.sourceEntityName.flatMap { sourceModel.entitiesByName[$0] }
  }

  /// The destination entity of a mapping.
  open func destinationEntity(for mEntity: EntityMapping) -> EntityDescription? {
    mEntity.destinationEntityName.flatMap { destinationModel.entitiesByName[$0] }
  }

  /// Records that an object came of another, so that relationships find it.
  open func associate(
    sourceInstance: ManagedObject, withDestinationInstance destinationInstance: ManagedObject,
    for entityMapping: EntityMapping
  ) {
    do {
      try batches?.identify(destinationInstance)
    } catch {
      // The store takes nothing: the next save says so, too.
      cancellation = cancellation ?? error
    }
    associations.associate(
      sourceInstance, with: destinationInstance, mapping: entityMapping.title)
  }

  /// What a mapping made of source objects, in their order; of all of them when nil.
  open func destinationInstances(
    forEntityMappingName mappingName: String, sourceInstances: [ManagedObject]?
  ) -> [ManagedObject] {
    associations.destinations(mapping: mappingName, of: sourceInstances, in: openContexts())
  }

  /// What destination objects were made of, in their order; of all of them when nil.
  open func sourceInstances(
    forEntityMappingName mappingName: String, destinationInstances: [ManagedObject]?
  ) -> [ManagedObject] {
    associations.sources(mapping: mappingName, of: destinationInstances, in: openContexts())
  }

  // MARK: What expressions may ask

  /// `$manager.sourceContext` and the like.
  open func value(forKey key: String) -> Any? {
    switch key {
    case "sourceContext": return sourceContext
    case "destinationContext": return destinationContext
    case "sourceModel": return sourceModel
    case "destinationModel": return destinationModel
    case "userInfo": return userInfo
    default: return nil
    }
  }

  /// `FUNCTION($manager, "selector:", …)`.
  ///
  /// - Throws: 134170 for a message it does not know.
  @_spi(Runtime)
  open func answer(to selector: String, arguments: [Any?]) throws -> Any? {
    func text(_ index: Int) -> String {
      arguments.count > index ? arguments[index] as? String ?? "" : ""
    }
    func objects(_ index: Int) -> [ManagedObject] {
      arguments.count > index ? arguments[index].flatMap(ManagedObjects.list) ?? [] : []
    }
    switch selector {
    case ManagerMessage.destinationInstancesByMapping:
      return destinationInstances(forEntityMappingName: text(0), sourceInstances: objects(1))
    case ManagerMessage.sourceInstancesByMapping:
      return sourceInstances(forEntityMappingName: text(0), destinationInstances: objects(1))
    case ManagerMessage.destinationInstancesByRelationship:
      return associations.destinations(of: objects(1), in: openContexts())
    case ManagerMessage.sourceFetchRequest:
      let request = FetchRequest<ManagedObject>(entityName: text(0))
      request.predicate = try ObjectPredicate.parse(text(1))
      request.includesSubentities = false
      return request
    default:
      throw CoreDataError(
        .entityMigrationPolicy, "A migration manager does not answer \"\(selector)\".")
    }
  }

  // MARK: Migrating

  /// Migrates with opened stores; saves the destination at the end at the latest.
  ///
  /// - Parameter mayDiscard: Whether the destination goes if the migration fails; otherwise it gets
  ///   all in one transaction.
  /// - Throws: What a policy threw, 134170 for a mapping that cannot be followed, what saving
  ///   throws, or the error of ``cancelMigrationWithError(_:)``.
  func run(
    _ mapping: MappingModel, from source: PersistentStoreCoordinator,
    to destination: PersistentStoreCoordinator, mayDiscard: Bool
  ) throws {
    mapping.deriveExpressions(from: sourceModel)
    self.mapping = mapping
    let contexts = openContexts()
    contexts.source.persistentStoreCoordinator = source
    try contexts.source.setQueryGenerationFrom(.current)
    contexts.destination.persistentStoreCoordinator = destination
    batches = MigrationBatches(
      of: batchSize, source: contexts.source, destination: contexts.destination,
      mayDiscard: mayDiscard)
    defer {
      current = nil
      self.contexts = nil
      associations = InstanceAssociations()
      batches = nil
    }
    try MigrationPasses(manager: self, mappings: mapping.entityMappings ?? []).run()
    contexts.destination.processPendingChanges()
    contexts.destination.settleReferences()
    try contexts.destination.save()
    advance(to: 1)
  }

  // MARK: Batches

  /// Whether what was made is saved batch by batch.
  var worksInBatches: Bool { batches?.isSaving ?? false }

  /// Ends a batch, or only one that has become large.
  func endBatch(onlyIfFull: Bool = false) throws {
    if onlyIfFull, batches?.isFull != true { return }
    try batches?.end(&associations)
  }

  /// How many pairs of a mapping are read from the stores, and the destination objects of the others.
  func made(by mapping: EntityMapping) -> (settled: Int, live: [ManagedObject]) {
    (
      associations.settledCount(mapping: mapping.title),
      associations.liveDestinations(mapping: mapping.title)
    )
  }

  /// Pairs of a mapping that are in the stores.
  func settled(
    _ places: Range<Int>, by mapping: EntityMapping
  ) throws -> (sources: [ManagedObject], destinations: [ManagedObject]) {
    try associations.settled(places, mapping: mapping.title, in: openContexts())
  }

  func begin(_ mapping: EntityMapping) { current = mapping }

  func advance(to fraction: Float) {
    migrationProgress = fraction
    progressReport?(fraction)
  }

  /// - Throws: The error the migration was cancelled with.
  func checkCancellation() throws {
    if let cancellation { throw cancellation }
  }
}

// Stores name it before there is a coordinator that could have been given it: see ``MigrationManagerClass``. The
// linker collects functions that run before main.
@section(".init_array") @used
private let standardManager: @convention(c) () -> Void = {
  MigrationManagerClass.set(MigrationManager.self)
}
