import CairnModel
import CairnStore

/// The one object for an ID, made when there is none yet.
struct ObjectLookup {
  let context: ManagedObjectContext

  func object(with asked: ManagedObjectID) -> ManagedObject {
    context.confinement.check()
    if let object = context.registry.object(for: asked) { return object }
    // Under this very ID it was looked for already.
    if !asked.isTemporaryID, let source = context.reading.source, source.spells(asked) {
      return materialise(asked)
    }
    let id = local(context.currentID(asked))
    return registered(id) ?? materialise(id)
  }

  /// The object for an ID if there is one, under whatever ID it is registered.
  func registered(_ id: ManagedObjectID) -> ManagedObject? {
    if let object = context.registry.object(for: id) { return object }
    guard context.reading.source?.parent != nil else {
      let now = context.registry.current(id)
      return now === id ? nil : context.registry.object(for: now)
    }
    return registeredInChild(id)
  }

  /// In a child an object keeps its temporary ID when it is saved, until the permanent one comes
  /// along here.
  private func registeredInChild(_ id: ManagedObjectID) -> ManagedObject? {
    if id.isTemporaryID {
      let now = context.currentID(id)
      return now === id ? nil : context.registry.object(for: now)
    }
    guard let old = context.reading.source?.temporaryID(of: id),
      let object = context.registry.object(for: old)
    else { return nil }
    context.registry.replaceTemporaryID(of: object, by: id)
    return object
  }

  /// A new object for an ID that is not registered, as a fault.
  func materialise(_ id: ManagedObjectID) -> ManagedObject {
    materialise(
      id, as: context.factory.kind(for: id.entity), isKept: context.retainsRegisteredObjects)
  }

  /// The same for an entity whose kind is known.
  ///
  /// - Parameter isKept: The context's ``ManagedObjectContext/retainsRegisteredObjects``.
  func materialise(
    _ id: ManagedObjectID, as kind: ObjectKind, isKept: Bool
  ) -> ManagedObject {
    let object = context.registry.add(unregistered(id, as: kind), as: id)
    if isKept { context.registry.retained.insert(ObjectRef(object)) }
    return object
  }

  /// The same for the caller to register.
  @inline(__always)
  func unregistered(_ id: ManagedObjectID, as kind: ObjectKind) -> ManagedObject {
    context.factory.begin(id, as: kind)
    let object = kind.type.init(entity: id.entity, insertInto: context)
    context.factory.checkIsMade(of: kind)
    return object
  }

  /// The object for a row: registered already, or a fault that has the row at hand.
  func object(for row: RowSnapshot) -> (object: ManagedObject, isNew: Bool) {
    let id = row.objectID
    if let object = registered(id) { return (object, false) }
    let object = materialise(id)
    object.snapshot = row
    return (object, true)
  }

  /// The ID as this context's coordinator spells it, when it comes from another coordinator on
  /// the same store.
  func local(_ id: ManagedObjectID) -> ManagedObjectID {
    guard !id.isTemporaryID, let coordinator = context.persistentStoreCoordinator,
      !coordinator.spells(id)
    else { return id }
    return coordinator.managedObjectID(forURIRepresentation: id.uriRepresentation()) ?? id
  }
}

extension ManagedObjectContext {
  /// The ID that an object has now: the permanent one, once it was saved here or further up.
  final func currentID(_ id: ManagedObjectID) -> ManagedObjectID {
    guard id.isTemporaryID else { return id }
    let known = registry.current(id)
    return known === id ? reading.source?.permanentID(of: id) ?? id : known
  }

  /// The value with a reference spelled as it is now.
  final func currentValue(_ value: AttributeValue) -> AttributeValue {
    guard case .object(let id) = value, id.isTemporaryID else { return value }
    return .object(currentID(id))
  }
}
