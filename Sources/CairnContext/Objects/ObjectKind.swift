import CairnModel

/// What the objects of an entity are made from in one context: worked out once, not for each object
/// that is fetched.
struct ObjectKind {
  let type: ManagedObject.Type
  // Unretained as in ManagedObject: whoever makes an object has its ID, which keeps the entity.
  let layout: Unmanaged<EntityLayout>
  /// What the class implements itself; see ``ClassTraits``.
  let flags: ObjectFlags
  /// ``ObjectClasses/loads`` when the class that the entity names was not found; nil when it was.
  let missedAt: UInt64?

  /// Whether a library that the program has loaded since may have the class.
  var mayBeOutdated: Bool { missedAt.map { $0 != ObjectClasses.loads } ?? false }

  /// Whether this is about that layout, and not one of the same number of another model.
  func isFor(_ layout: EntityLayout) -> Bool {
    self.layout.toOpaque() == Unmanaged.passUnretained(layout).toOpaque()
  }
}
