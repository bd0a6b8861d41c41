import CairnModel
import CairnPredicates
import CairnStore
import Foundation

/// One object of a managed object context: an identity, the committed row it was read from, and
/// what was changed since.
///
/// An object belongs to its context's queue: create, read and change it only inside the context's
/// `perform` or `performAndWait`, or on the main queue for a main-queue context. Only ``objectID``
/// may be handed around. Source: `NSManagedObject`.
///
/// A clean object shares its snapshot with the coordinator's row cache; the first change copies
/// the row into slots of the object's own. Both are read through one pointer.
// `@exclusivity(unchecked)` below: an object is used by one thread at a time, which its context's
// confinement sees to, and none of these properties is read or written inside a change of itself:
// each change is one assignment or one call of a method of the value, which calls no other code.
// Checking that while the program runs cost a tenth of a save.
open class ManagedObject: NSObject, KeyValueReading, ObjectIdentifying {
  /// The object's identity.
  ///
  /// Temporary until the object is saved or ``ManagedObjectContext/obtainPermanentIDs(for:)`` is
  /// called.
  @exclusivity(unchecked)
  public final internal(set) var objectID: ManagedObjectID
  // Kept alive by the object ID's entity.
  @usableFromInline final let unretainedLayout: UnretainedLayout
  /// The values now: the snapshot's slots or the object's own; nil for a fault.
  @exclusivity(unchecked)
  @usableFromInline final var slots: RowSlots?
  /// The committed values; nil for faults that were not read and for objects not yet saved.
  @exclusivity(unchecked)
  final var snapshot: RowSnapshot?
  /// The row that the object's own slots are in; nil while they are those of the snapshot.
  @exclusivity(unchecked)
  final var draft: RowSnapshot?
  /// Those of the first 64 slots that were set since the object was fetched or saved, as bits.
  @exclusivity(unchecked)
  @usableFromInline final var changedLowSlots: UInt64 = 0
  /// What most objects do without; nil until something of it is needed.
  @exclusivity(unchecked)
  final var extras: ObjectExtras?
  @exclusivity(unchecked)
  final var registry: ObjectRegistry?
  @exclusivity(unchecked)
  final var pendingIndex: Int32 = -1
  @exclusivity(unchecked)
  @usableFromInline final var flags: ObjectFlags = []

  // MARK: Making

  /// A new object of an entity, inserted into a context unless that is nil.
  ///
  /// Do not override this to set initial values; ``awakeFromInsert()`` is for that. Traps for an
  /// abstract entity and for one whose model is not in use by a coordinator.
  ///
  /// A subclass may override it, to give its own stored properties values. A subclass that adds a
  /// designated initializer has to, because contexts make their objects through it.
  public init(entity: EntityDescription, insertInto context: ManagedObjectContext?) {
    if let context, let (id, kind) = context.factory.takeBirth() {
      // The context is materialising an object that exists.
      objectID = id
      unretainedLayout = kind.layout
      registry = context.registry
      flags = kind.flags
      super.init()
      return
    }
    let entity = context.map { $0.factory.entity(standingFor: entity, in: $0) } ?? entity
    guard let layout = entity.layout ?? Self.preparedLayout(of: entity) else {
      // An entity outside a usable model: models from files are validated before they get here.
      fatalError(
        "Entity \(entity.name ?? "without name") belongs to no model that can be used; add it to "
          + "a valid model and give that to a coordinator before making objects.")
    }
    objectID = .temporary(
      home: context?.factory.home(ofNew: layout, entity) ?? ObjectHome(newObjectsOf: entity))
    unretainedLayout = UnretainedLayout(layout)
    super.init()
    flags = context?.factory.flags(of: self) ?? ObjectClasses.hooks(of: type(of: self)).flags
    adoptDefaults(of: layout)
    if let context { ObjectInsertion(context: context).insert(self) }
  }

  /// The same for a context that is there, so that it can be called on a class known only while
  /// the program runs.
  ///
  /// Required, unlike the designated initializer: a subclass gets it with that, and may still
  /// override the designated one as on Apple's platforms, without `required`. Disfavoured, so that
  /// `super.init(entity:insertInto:)` with a context that is there means the designated one.
  @_disfavoredOverload
  public required convenience init(
    entity: EntityDescription, insertInto context: ManagedObjectContext
  ) {
    self.init(entity: entity, insertInto: .some(context))
  }

  /// A new object of an entity in no context.
  public required convenience init(detachedFrom entity: EntityDescription) {
    self.init(entity: entity, insertInto: nil)
  }

  /// A new object of ``entity()`` in no context; without such an entity, of one that has no properties.
  ///
  /// Core Data's has no entity and cannot be used; this one can.
  public override convenience init() {
    self.init(entity: ObjectClasses.entity(ofLone: Self.self), insertInto: nil)
  }

  /// A new object of the class's entity, inserted into the context.
  ///
  /// That is ``entity()`` where the class overrides it, otherwise the one entity of the context's
  /// model that names the class; traps when there is none or more than one.
  // The second parameter, which no caller gives, lets a subclass declare `init(context:)` itself, as it
  // may on Apple's platforms, although this one is required.
  public required convenience init(context moc: ManagedObjectContext, _ nothing: Void = ()) {
    let entity = ObjectClasses.entity(namedBy: Self.self, orIn: moc.requiredModel)
    self.init(entity: entity, insertInto: .some(moc))
  }

  /// The same under its plain name, for `init(context:)` as a function.
  @_disfavoredOverload
  public convenience init(context moc: ManagedObjectContext) {
    self.init(context: moc, ())
  }

  // The hooks about turning into a fault are not called from here: when this runs, what a subclass
  // stores is destroyed already.
  deinit {
    if flags.contains(.isDraft) { Drafts.remove(self) }
    registry?.remove(self, id: objectID, givesUpRow: flags.contains(.retainsRow))
  }

  // MARK: Identity and state

  // Sets and dictionaries hash this once more.
  public final override var hash: Int { Int(bitPattern: ObjectIdentifier(self)) }
  public final override func isEqual(_ object: Any?) -> Bool {
    if let object = ObjectIdentity.instance(of: object, as: self) { return object === self }
    // An instance of another class is another object.
    return (object as? ManagedObject) === self
  }

  /// The entity of the object.
  public final var entity: EntityDescription { objectID.entity }
  /// The context the object belongs to; nil before insertion, after deletion, and when the context
  /// has gone.
  public final var managedObjectContext: ManagedObjectContext? { registry?.context }
  /// Whether the object was inserted and has not been saved.
  public final var isInserted: Bool { flags.contains(.inserted) }
  /// Whether the object was changed since it was fetched or saved.
  public final var isUpdated: Bool { flags.contains(.updated) }
  /// Whether the object will be deleted by the next save.
  public final var isDeleted: Bool {
    !flags.isDisjoint(with: [.deleted, .discarded, .deletedElsewhere])
  }
  /// Whether the object is inserted, updated or deleted.
  ///
  /// Assigning an equal value counts.
  public final var hasChanges: Bool { !flags.isDisjoint(with: .pending) }
  /// Whether the object's values have not been read yet.
  public final var isFault: Bool { slots == nil }
  /// 0 when the object has its values.
  public final var faultingState: Int { isFault ? 1 : 0 }
  /// Whether changes of properties that are not in the model leave the object unchanged.
  open class var contextShouldIgnoreUnmodeledPropertyChanges: Bool { true }

  // MARK: What a subclass implements itself

  /// The one entity whose objects have this class, among the models in use: in the one of them that
  /// was put to use last.
  ///
  /// When there is none, an entity without a name, which belongs to no model: nothing can be made or
  /// fetched with it. A subclass may override it; ``init(context:)`` and ``fetchRequest()`` ask it.
  open class func entity() -> EntityDescription { ObjectClasses.entity(of: self) }

  /// A request for the objects of ``entity()``, with results of any type.
  ///
  /// A class may have another one beside it, with a type of its own (`FetchRequest<Car>`), as Xcode
  /// generates them; that one is meant where nothing says which.
  @_disfavoredOverload
  open class func fetchRequest() -> FetchRequest<any FetchRequestResult> {
    let request = FetchRequest<any FetchRequestResult>()
    request.entity = entity()
    return request
  }

  /// Properties that the class implements and key-value access goes through, by key; see
  /// ``KeyAccessor``.
  ///
  /// Keys may be those of the model or others. Return a stored dictionary where speed matters.
  @_spi(Runtime) open class var keyAccessors: [String: KeyAccessor] { [:] }
  /// Rules of the class beyond the model's, by key; see ``KeyValidator``.
  @_spi(Runtime) open class var keyValidators: [String: KeyValidator] { [:] }

  // MARK: Access and change announcements

  /// Announces a read; fires the fault.
  ///
  /// Nil only fires it.
  open func willAccessValue(forKey key: String?) {
    if slots == nil { FaultFiring.fire(self, for: key.flatMap { entity.propertiesByName[$0] }) }
  }

  /// Ends a read.
  open func didAccessValue(forKey key: String?) {}

  /// Announces a change made through ``setPrimitiveValue(_:forKey:)``: the object counts as
  /// changed, and the inverse of a relationship follows when the change ends.
  ///
  /// Setters by key, generated accessors and mutable collections call it as well: a subclass
  /// overrides it to learn of their changes, and calls super.
  open func willChangeValue(forKey key: String) {
    if !isAnnouncing(key) { ChangeAnnouncement.begin(key, of: self) }
  }

  /// Ends a change.
  ///
  /// Called as ``willChangeValue(forKey:)`` is; the new value is there.
  open func didChangeValue(forKey key: String) {
    if !isAnnouncing(key) { ChangeAnnouncement.end(key, of: self) }
  }

  /// Announces a change of a to-many relationship made through its primitive value.
  open func willChangeValue(
    forKey inKey: String, withSetMutation inMutationKind: KeyValueSetMutationKind,
    using inObjects: Set<AnyHashable>
  ) {
    willChangeValue(forKey: inKey)
  }

  /// Ends a change of a to-many relationship.
  open func didChangeValue(
    forKey inKey: String, withSetMutation inMutationKind: KeyValueSetMutationKind,
    using inObjects: Set<AnyHashable>
  ) {
    didChangeValue(forKey: inKey)
  }

  // MARK: Life cycle, for subclasses

  /// Called once after the object was inserted, with its default values set.
  open func awakeFromInsert() {}
  /// Called each time the object's values were read.
  ///
  /// Values set here do not count as changes; do not touch relationships.
  open func awakeFromFetch() {}
  /// Called after undo, rollback, a refresh or a merge policy changed several values.
  open func awake(fromSnapshotEvents flags: SnapshotEventType) {}
  /// Called by `delete(_:)` before anything is changed; called again on a repeated delete.
  open func prepareForDeletion() {}
  /// Called during a save before validation, again whenever the object was changed meanwhile.
  open func willSave() {}
  /// Called after the stores committed.
  open func didSave() {}
  /// Called before the object loses its values.
  open func willTurnIntoFault() {}
  /// Called after the object lost its values; drop what was derived from them.
  open func didTurnIntoFault() {}

  // MARK: Values by key, for subclasses

  /// The value of a property.
  ///
  /// Numbers and booleans come as `NSNumber`, to-many relationships as `Set<ManagedObject>` or
  /// `NSOrderedSet`. Fires the fault.
  open func value(forKey key: String) -> Any? { KeyAccess(object: self).value(forKey: key) }

  /// Sets the value of a property.
  ///
  /// Traps for a value of the wrong class, with Core Data's text.
  open func setValue(_ value: Any?, forKey key: String) {
    KeyAccess(object: self).setValue(value, forKey: key)
  }

  /// The value at the end of a key path, such as `department.name` or `books.@sum.pages`.
  ///
  /// A step over the members of a relationship gives the collection of their values: a set for a
  /// set, an ordered set for an ordered one, without those that have none. The operators `@count`,
  /// `@sum`, `@avg`, `@min`, `@max`, `@unionOfObjects`, `@distinctUnionOfObjects`,
  /// `@unionOfArrays`, `@distinctUnionOfArrays` and `@distinctUnionOfSets` apply to the collection
  /// on their left. A step from nil is nil. Traps for a key that a step does not have, as
  /// ``value(forUndefinedKey:)`` does.
  open func value(forKeyPath keyPath: String) -> Any? {
    KeyPathAccess.value(of: self, keyPath[...])
  }

  /// Sets the value at the end of a key path, such as `department.name` or, for an element of a
  /// composite attribute, `address.city`.
  ///
  /// A step over a relationship to many sets the value of each member. Does nothing when a step on
  /// the way is nil.
  open func setValue(_ value: Any?, forKeyPath keyPath: String) {
    KeyPathAccess.set(value, keyPath, of: self)
  }

  /// Sets several properties; `NSNull` stands for nil.
  open func setValuesForKeys(_ keyedValues: [String: Any]) {
    for (key, value) in keyedValues.sorted(by: { $0.key < $1.key }) {
      setValue(AttributeCoding.unwrapped(value), forKey: key)
    }
  }

  /// The values of several properties by name; `NSNull` stands for nil.
  open func dictionaryWithValues(forKeys keys: [String]) -> [String: Any] {
    Dictionary(keys.map { ($0, value(forKey: $0) ?? NSNull()) }, uniquingKeysWith: { a, _ in a })
  }

  /// Called when nil is set, by key, for a property of ``keyAccessors`` that has no nil; traps
  /// unless overridden.
  open func setNilValueForKey(_ key: String) {
    // Core Data raises here; a class with such properties overrides this.
    fatalError(
      "[<\(type(of: self))> setNilValueForKey]: could not set nil as the value for the key \(key).")
  }

  /// The stored value of a property without announcements and without firing the fault.
  ///
  /// A to-many relationship comes as a mutable set, which may be cast to a Swift set, or a mutable
  /// ordered set; changes of it are not announced and have no inverses. Each call costs as much as
  /// the set has members.
  open func primitiveValue(forKey key: String) -> Any? {
    KeyAccess(object: self).primitiveValue(forKey: key)
  }

  /// Sets the stored value of a property without announcements; inverses are not maintained.
  open func setPrimitiveValue(_ value: Any?, forKey key: String) {
    KeyAccess(object: self).setPrimitiveValue(value, forKey: key)
  }

  /// Called for a key that is not in the model; traps unless overridden.
  open func value(forUndefinedKey key: String) -> Any? {
    if flags.remove(.probed) != nil { return nil }
    // Keys from outside are read with readValue(forKey:); overridable, as in Core Data.
    fatalError(
      "the entity \(entity.name ?? "?") is not key value coding-compliant for the key \"\(key)\".")
  }

  /// Called for a key that is not in the model; traps unless overridden.
  open func setValue(_ value: Any?, forUndefinedKey key: String) {
    // Keys from outside are looked up in the layout first; overridable, as in Core Data.
    fatalError(
      "the entity \(entity.name ?? "?") is not key value coding-compliant for the key \"\(key)\".")
  }

  // MARK: Validation, for subclasses

  /// Checks, and may replace, one value by the model's rules: its class, whether nil may be, predicates.
  ///
  /// Override to add rules of your own and call super first.
  ///
  /// - Throws: ``CoreDataError``.
  open func validateValue(_ value: inout Any?, forKey key: String) throws {
    try CoreDataError.bridging {
      try PropertyValidation(object: self).validate(value, forKey: key)
    }
    if let validator = type(of: self).keyValidators[key] { try validator.check(self, &value) }
  }

  /// Checks an object that is about to be inserted.
  ///
  /// Overrides call super first.
  open func validateForInsert() throws {
    try CoreDataError.bridging { try ObjectValidation.validateProperties(of: self) }
  }
  /// Checks an object that is about to be updated.
  ///
  /// Overrides call super first.
  open func validateForUpdate() throws {
    try CoreDataError.bridging { try ObjectValidation.validateProperties(of: self) }
  }
  /// Checks that no Deny rule forbids the deletion.
  ///
  /// Overrides call super first.
  open func validateForDelete() throws {
    try CoreDataError.bridging { try ObjectValidation.validateDeletion(of: self) }
  }

  /// Prints identity and, when they have been read, values.
  ///
  /// Never fires a fault.
  open override var description: String { ObjectDescription.text(of: self) }
}
