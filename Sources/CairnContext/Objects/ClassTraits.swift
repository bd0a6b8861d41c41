import CairnModel

/// What a class of objects implements itself, so that objects of a class that does not are spared
/// the calls: two announcements a change, one call before and after each save, one a property
/// when they are validated.
///
/// Swift cannot be asked whether a class overrides a method, but it shows: a class has a table of
/// its methods, which begins with those of its superclass in their order, and an entry differs
/// where the class has a method of its own. Which entries are of interest is found out with
/// classes made for it. Where tables turn out to be built in another way, every subclass counts as
/// one that implements everything, which is right and slower.
enum ClassTraits {
  static func flags(of type: ManagedObject.Type) -> ObjectFlags {
    if type == ManagedObject.self { return [] }
    var flags: ObjectFlags = []
    if differs(type, at: places.changes, expected: 4) { flags.insert(.hearsOfChanges) }
    if differs(type, at: places.saves, expected: 2) { flags.insert(.hearsOfSaves) }
    if differs(type, at: places.rules, expected: 8) { flags.insert(.hasOwnRules) }
    if differs(type, at: places.awaking, expected: 1) { flags.insert(.awakesItself) }
    if differs(type, at: places.deletions, expected: 1) { flags.insert(.hearsOfDeletion) }
    return flags
  }

  /// Whether a class overrides ``ManagedObject/entity()``.
  static func namesItsEntity(_ type: ManagedObject.Type) -> Bool {
    type != ManagedObject.self && differs(type, at: places.entities, expected: 1)
  }

  /// Whether a class overrides ``ManagedObject/awakeFromInsert()``.
  static func awakesNewObjects(_ type: ManagedObject.Type) -> Bool {
    type != ManagedObject.self && differs(type, at: places.inserting, expected: 1)
  }

  private static func differs(
    _ type: ManagedObject.Type, at places: [Int], expected: Int
  ) -> Bool {
    if places.count != expected { return true }
    let (table, plain) = (MethodTable(of: type), MethodTable(of: FirstPlain.self))
    return places.contains { table[$0] != plain[$0] }
  }

  // MARK: Tables

  /// Where the entries of the methods stand, in words from the beginning of a class.
  private static let places = (
    changes: places(of: Announcing.self), saves: places(of: Saving.self),
    rules: places(of: Ruling.self), awaking: places(of: Awaking.self),
    deletions: places(of: Deleting.self), entities: places(of: Naming.self),
    inserting: places(of: Inserting.self)
  )

  /// Where a class differs from ones that override nothing.
  private static func places(of type: ManagedObject.Type) -> [Int] {
    let (table, first) = (MethodTable(of: type), MethodTable(of: FirstPlain.self))
    let (second, base) = (MethodTable(of: SecondPlain.self), MethodTable(of: ManagedObject.self))
    // What differs between these is not a method: each class has makers of its own, and a name.
    return MethodTable.places.filter {
      table[$0] != first[$0] && first[$0] == second[$0] && first[$0] == base[$0]
    }
  }
}

extension EntityDescription {
  /// Whether objects of the entity are of a class that has a say in what is written: such rows are to
  /// be written through objects.
  package var hasObjectHooks: Bool {
    let type = ObjectClasses.type(for: self)
    return !ClassTraits.flags(of: type).isEmpty || ClassTraits.awakesNewObjects(type)
  }
}

// None of these is ever made. They must not do what `ManagedObject` does: the compiler may give two
// methods that do the same one place.

private func neverMade() -> Never { fatalError("Only the class is looked at.") }

private final class FirstPlain: ManagedObject {}
private final class SecondPlain: ManagedObject {}

private final class Announcing: ManagedObject {
  override func willChangeValue(forKey key: String) { neverMade() }
  override func didChangeValue(forKey key: String) { neverMade() }
  override func willChangeValue(
    forKey inKey: String, withSetMutation inMutationKind: KeyValueSetMutationKind,
    using inObjects: Set<AnyHashable>
  ) { neverMade() }
  override func didChangeValue(
    forKey inKey: String, withSetMutation inMutationKind: KeyValueSetMutationKind,
    using inObjects: Set<AnyHashable>
  ) { neverMade() }
}

private final class Saving: ManagedObject {
  override func willSave() { neverMade() }
  override func didSave() { neverMade() }
}

private final class Awaking: ManagedObject {
  override func awakeFromFetch() { neverMade() }
}

private final class Inserting: ManagedObject {
  override func awakeFromInsert() { neverMade() }
}

private final class Deleting: ManagedObject {
  override func prepareForDeletion() { neverMade() }
}

private final class Naming: ManagedObject {
  override class func entity() -> EntityDescription { neverMade() }
}

private final class Ruling: ManagedObject {
  override class var keyAccessors: [String: KeyAccessor] { neverMade() }
  override class var keyValidators: [String: KeyValidator] { neverMade() }
  override func value(forKey key: String) -> Any? { neverMade() }
  override func setValue(_ value: Any?, forKey key: String) { neverMade() }
  override func validateValue(_ value: inout Any?, forKey key: String) throws { neverMade() }
  override func validateForInsert() throws { neverMade() }
  override func validateForUpdate() throws { neverMade() }
  override func validateForDelete() throws { neverMade() }
}
