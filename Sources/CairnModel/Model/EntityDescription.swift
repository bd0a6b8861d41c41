import CairnPredicates
import Foundation

/// An entity: a kind of object with attributes and relationships.
///
/// Source: `NSEntityDescription`.
///
/// May be changed until its model is used by a coordinator; then it is immutable and may be used
/// on any thread.
open class EntityDescription: ModelElement, @unchecked Sendable {
  /// The model that holds the entity; nil before it is part of one, and when the model has gone.
  public var managedObjectModel: ManagedObjectModel! { modelReference?.target }
  final var modelReference: LooseReference<ManagedObjectModel>?

  /// Whether the entity belongs to a model.
  package final func isOf(_ model: ManagedObjectModel) -> Bool {
    modelReference?.refers(to: model) ?? false
  }

  /// The entity's name, unique in its model.
  ///
  /// Configurations and fetch requests of the model stay those of the entity when it gets another one.
  open var name: String? {
    willSet { willChange() }
    didSet { managedObjectModel?.rename(self, from: oldValue) }
  }

  /// The class of the entity's objects.
  ///
  /// Setting nil brings back the default, `NSManagedObject`.
  open var managedObjectClassName: String! {
    get { explicitClassName ?? "NSManagedObject" }
    set {
      willChange()
      explicitClassName = newValue
    }
  }
  package private(set) var explicitClassName: String?

  /// Whether there are only objects of its subentities.
  ///
  /// Default false.
  open var isAbstract: Bool = false { willSet { willChange() } }
  /// Free-form annotations, empty at first.
  ///
  /// They are in no version hash and may be changed at any time.
  open var userInfo: [AnyHashable: Any]? {
    get { annotations.values }
    set { annotations.values = newValue }
  }
  private final let annotations = Annotations()
  open var versionHashModifier: String? { willSet { willChange() } }
  open var indexes: [FetchIndexDescription] = [] {
    willSet { willChange() }
    didSet { for index in indexes { index.entity = self } }
  }
  /// `class`, `category`, or nil for hand-written; only for code generators.
  package var codeGenerationType: String? { willSet { willChange() } }

  /// The name the entity had in an older version; defaults to its name.
  open var renamingIdentifier: String? {
    get { explicitRenamingIdentifier ?? name }
    set {
      willChange()
      explicitRenamingIdentifier = newValue
    }
  }
  package private(set) var explicitRenamingIdentifier: String?

  // MARK: Inheritance

  /// The entity this one inherits from.
  ///
  /// Belongs to the same model, which must be kept while its entities are used.
  public internal(set) unowned var superentity: EntityDescription?
  /// The entities that inherit directly from this one.
  ///
  /// Setting it links both directions.
  open var subentities: [EntityDescription] = [] {
    willSet {
      willChange()
      for entity in subentities { entity.superentity = nil }
    }
    didSet { for entity in subentities { entity.superentity = self } }
  }
  public var subentitiesByName: [String: EntityDescription] {
    Dictionary(subentities.map { ($0.name ?? "", $0) }, uniquingKeysWith: { first, _ in first })
  }

  /// The top of the inheritance tree; the entity itself when it has no superentity.
  package var rootEntity: EntityDescription {
    var entity = self
    while let parent = entity.superentity { entity = parent }
    return entity
  }

  /// The entity and all below it.
  package var selfAndDescendants: [EntityDescription] {
    [self] + subentities.flatMap(\.selfAndDescendants)
  }

  /// Whether the entity is `entity` or inherits from it.
  ///
  /// An entity of another copy of the model counts as the one it is equal to; one of another
  /// version that differs does not.
  open func isKindOf(entity: EntityDescription) -> Bool {
    var candidate: EntityDescription? = self
    while let current = candidate {
      if current === entity { return true }
      // Within one model names are unique, so only a copy comes to the longer comparison.
      if current.name == entity.name, current.isCopy(of: entity) { return true }
      candidate = current.superentity
    }
    return false
  }

  /// Whether both say the same, each in a model; without its model an entity has no relatives to
  /// compare.
  private func isCopy(of other: EntityDescription) -> Bool {
    guard let own = managedObjectModel, let foreign = other.managedObjectModel else { return false }
    return withExtendedLifetime((own, foreign)) { self == other }
  }

  // MARK: Properties

  /// The properties that the entity itself declares, in the order they were given.
  package internal(set) var declaredProperties: [PropertyDescription] = []

  /// All properties, inherited ones first.
  ///
  /// Setting it replaces the entity's own.
  open var properties: [PropertyDescription] {
    get { (superentity?.properties ?? []) + declaredProperties }
    set {
      willChange()
      let inherited = Set((superentity?.properties ?? []).map(ObjectIdentifier.init))
      declaredProperties = newValue.filter { !inherited.contains(ObjectIdentifier($0)) }
      for property in declaredProperties { property.entity = self }
    }
  }
  public var propertiesByName: [String: PropertyDescription] {
    Dictionary(properties.map { ($0.name, $0) }, uniquingKeysWith: { _, last in last })
  }
  public var attributesByName: [String: AttributeDescription] {
    propertiesByName.compactMapValues { $0 as? AttributeDescription }
  }
  public var relationshipsByName: [String: RelationshipDescription] {
    propertiesByName.compactMapValues { $0 as? RelationshipDescription }
  }

  /// All relationships, inherited ones included, that lead to `entity` or an ancestor of it.
  open func relationships(forDestination entity: EntityDescription) -> [RelationshipDescription] {
    properties.compactMap { $0 as? RelationshipDescription }.filter { relationship in
      relationship.destinationEntity.map { entity.isKindOf(entity: $0) } ?? false
    }
  }

  /// Sets of attributes whose values must differ between objects; each given as names or
  /// attribute descriptions, and returned as names.
  open var uniquenessConstraints: [[Any]] {
    get { constraintNames }
    set {
      willChange()
      constraintNames = newValue.map { constraint in
        constraint.compactMap { ($0 as? String) ?? ($0 as? PropertyDescription)?.name }
      }
    }
  }
  /// The uniqueness constraints as attribute names.
  package private(set) var constraintNames: [[String]] = []

  /// Deprecated by Core Data; setting has no effect, as on current systems.
  open var compoundIndexes: [[Any]] {
    get { [] }
    set {}
  }

  /// The version hash, kept once the model is in use.
  let hashCache = VersionHashCache()

  /// What Spotlight would show for an object; kept, and without behaviour here.
  open var coreSpotlightDisplayNameExpression = ObjectExpression(forConstantValue: nil) {
    willSet { willChange() }
  }

  public override init() { super.init() }

  deinit { reference?.clear() }

  /// What properties and indexes refer to the entity with; there once one of them does.
  final var looseReference: LooseReference<EntityDescription> {
    if let reference { return reference }
    let made = LooseReference<EntityDescription>()
    made.set(self)
    reference = made
    return made
  }
  private final var reference: LooseReference<EntityDescription>?

  /// An editable entity from an archive; it belongs to no model.
  public required init?(coder: NSCoder) {
    super.init(coder: coder)
    guard let entity = ElementCoding.entity(from: coder) else { return nil }
    entity.copyContents(to: self)
  }

  override func makeCopy() -> ModelElement { copyEntity() }

  /// An entity in one line, with its own properties.
  package convenience init(name: String, properties: [PropertyDescription] = []) {
    self.init()
    self.name = name
    self.properties = properties
  }

  package override func freeze() {
    super.freeze()
    for property in declaredProperties { property.freeze() }
    for index in indexes { index.freeze() }
  }

  /// The compiled form, available once the model is frozen.
  // Compiled into other modules from here: reading a stored property there is checked for exclusive
  // access in spite of the attribute below, which only its own module sees.
  @inlinable package final var layout: EntityLayout! { compiledLayout }
  // `@exclusivity(unchecked)`: set once, before the model is handed to a coordinator.
  @exclusivity(unchecked)
  @usableFromInline final var compiledLayout: EntityLayout?
}
