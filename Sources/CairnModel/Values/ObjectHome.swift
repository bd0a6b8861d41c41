/// What the IDs of one entity's objects in one store have in common.
///
/// Made once and held by all of them, so that an ID is two words and costs one reference.
public final class ObjectHome: Sendable {
  /// What the numbers of IDs with this home are.
  @usableFromInline enum Kind: Sendable {
    /// Primary keys of rows.
    case rows
    /// Numbers of objects that are not saved yet, unique within the process.
    case temporary
    /// Nothing: this is the home of one object alone, which a store's reference text names.
    case reference(String)
  }

  @usableFromInline let entity: EntityDescription
  @usableFromInline let store: StoreIdentity?
  @usableFromInline let kind: Kind

  private init(_ entity: EntityDescription, _ store: StoreIdentity?, _ kind: Kind) {
    self.entity = entity
    self.store = store
    self.kind = kind
  }

  /// The home of rows of an entity in a store.
  package convenience init(rowsOf entity: EntityDescription, in store: StoreIdentity?) {
    self.init(entity, store, .rows)
  }

  /// The home of objects of an entity that are not saved yet.
  package convenience init(newObjectsOf entity: EntityDescription) {
    self.init(entity, nil, .temporary)
  }

  /// The home of an object whose key may be any.
  convenience init(of key: ObjectKey, _ entity: EntityDescription, _ store: StoreIdentity?) {
    switch key {
    case .row: self.init(entity, store, .rows)
    case .temporary: self.init(entity, store, .temporary)
    case .reference(let text): self.init(entity, store, .reference(text))
    }
  }

  /// Whether it is the home of objects of an entity that are not saved yet.
  package func isOfNewObjects(of entity: EntityDescription) -> Bool {
    guard case .temporary = kind else { return false }
    return self.entity === entity
  }

  /// Whether it is the home of rows of an entity in a store.
  package func isOfRows(_ entity: EntityDescription, in store: StoreIdentity?) -> Bool {
    guard case .rows = kind else { return false }
    return self.entity === entity && self.store === store
  }
}
