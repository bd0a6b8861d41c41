import CairnCoordinator
import CairnModel

/// What the objects of a context are made from: classes, homes of IDs, entities; worked out once for
/// each entity and not for each object.
struct ObjectFactory {
  private var kinds: [ObjectKind?] = []
  /// Homes of temporary IDs, by entity number.
  private var newHomes: [ObjectHome?] = []
  private var classGeneration = -1
  /// The class of the object that was made last, and what it implements.
  private var recentClass: (type: ManagedObject.Type, flags: ObjectFlags)?
  /// The entity that the last new object was asked for and that stands for itself.
  private var recentEntity: EntityDescription?
  /// For migrations, set before there are objects: these are plain ones, and nothing is validated.
  var carriesValuesOnly = false
  /// The object that exists and is being made, until ``ManagedObject/init(entity:insertInto:)``
  /// takes it.
  ///
  /// It cannot be a parameter. A program's class may have stored properties of its own, which that
  /// initialiser gives their values; so the library has to go through it, and Apple's declaration
  /// has room for an entity and a context only. ``ObjectLookup/unregistered(_:as:)`` alone sets it,
  /// right before the call, and checks right after that it was taken.
  private var birth: (id: ManagedObjectID, kind: ObjectKind)?

  // MARK: Objects that exist

  @inline(__always)
  mutating func begin(_ id: ManagedObjectID, as kind: ObjectKind) { birth = (id, kind) }

  /// What the object that is being initialised is made from; nil for a new one.
  @inline(__always)
  mutating func takeBirth() -> (id: ManagedObjectID, kind: ObjectKind)? { birth.take() }

  @inline(__always)
  func checkIsMade(of kind: ObjectKind) {
    if birth != nil {
      // An initialiser in the program's source; data has no part in it.
      fatalError(
        "\(kind.type).init(entity:insertInto:) must give super.init the entity and the context that "
          + "it was called with.")
    }
  }

  // MARK: Classes

  /// What objects of an entity are made from.
  mutating func kind(for entity: EntityDescription) -> ObjectKind {
    let generation = ObjectClasses.generation
    if classGeneration != generation {
      kinds = []
      classGeneration = generation
    }
    guard let layout = entity.layout else {
      // A coordinator prepares its model before a store can make IDs, and an entity keeps its layout.
      fatalError("The model of entity \(entity.name ?? "without name") is not in use.")
    }
    while kinds.count <= layout.number { kinds.append(nil) }
    if let known = kinds[layout.number], known.isFor(layout), !known.mayBeOutdated {
      return known
    }
    let loads = ObjectClasses.loads
    let type = carriesValuesOnly ? ManagedObject.self : ObjectClasses.type(for: entity)
    let isMissed =
      type == ManagedObject.self && !carriesValuesOnly
      && ObjectClasses.names(aClassIn: entity)
    let kind = ObjectKind(
      type: type, layout: UnretainedLayout(layout), flags: ObjectClasses.hooks(of: type).flags,
      missedAt: isMissed ? loads : nil)
    kinds[layout.number] = kind
    return kind
  }

  /// What the class of an object implements itself.
  @inline(__always)
  mutating func flags(of object: ManagedObject) -> ObjectFlags {
    let type = type(of: object)
    // Objects come in runs of one class.
    if let recentClass, recentClass.type == type { return recentClass.flags }
    let flags = ObjectClasses.hooks(of: type).flags
    recentClass = (type, flags)
    return flags
  }

  // MARK: New objects

  /// The home of temporary IDs of an entity's objects.
  mutating func home(ofNew layout: EntityLayout, _ entity: EntityDescription) -> ObjectHome {
    while newHomes.count <= layout.number { newHomes.append(nil) }
    // The number may have been that of another model's entity before.
    if let home = newHomes[layout.number], home.isOfNewObjects(of: entity) { return home }
    let home = ObjectHome(newObjectsOf: entity)
    newHomes[layout.number] = home
    return home
  }

  /// The entity of that name in the context's own model, where it has one.
  ///
  /// Programs ask a class for its entity (``ManagedObject/entity()``) while several copies of a model
  /// are in use, as in tests that make a stack each.
  mutating func entity(
    standingFor entity: EntityDescription, in context: ManagedObjectContext
  ) -> EntityDescription {
    if let recentEntity, recentEntity === entity { return entity }
    guard let model = context.persistentStoreCoordinator?.managedObjectModel else { return entity }
    if entity.managedObjectModel === model {
      // A model in use does not change. A parent may be given another coordinator.
      if entity.layout != nil, context.reading.source?.coordinator != nil { recentEntity = entity }
      return entity
    }
    guard let name = entity.name else { return entity }
    return model.entitiesByName[name] ?? entity
  }

  /// The context has got another coordinator or parent.
  mutating func forgetEntity() { recentEntity = nil }
}

/// What the objects of an entity are made from in one context: worked out once, not for each object
/// that is fetched.
struct ObjectKind {
  let type: ManagedObject.Type
  // The maker of an object holds its ID, which keeps the entity.
  let layout: UnretainedLayout
  /// What the class implements itself; see ``ClassHooks``.
  let flags: ObjectFlags
  /// ``ObjectClasses/loads`` when the class that the entity names was not found; nil when it was.
  let missedAt: UInt64?

  /// Whether a library that the program has loaded since may have the class.
  var mayBeOutdated: Bool { missedAt.map { $0 != ObjectClasses.loads } ?? false }

  /// Whether this is about that layout, and not one of the same number of another model.
  func isFor(_ layout: EntityLayout) -> Bool { self.layout.refers(to: layout) }
}
