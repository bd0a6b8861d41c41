import CairnModel

/// What the objects of an entity are made from in one context: worked out once, not for each object
/// that is fetched.
struct ObjectKind {
  let type: ManagedObject.Type
  // Unretained as in ManagedObject: whoever makes an object has its ID, which keeps the entity.
  let layout: Unmanaged<EntityLayout>
  /// What the class implements itself; see ``ClassTraits``.
  let flags: ObjectFlags

  /// Whether this is about that layout, and not one of the same number of another model.
  func isFor(_ layout: EntityLayout) -> Bool {
    self.layout.toOpaque() == Unmanaged.passUnretained(layout).toOpaque()
  }
}
