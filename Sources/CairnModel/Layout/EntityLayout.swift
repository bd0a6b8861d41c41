import Foundation

/// The compiled form of an entity: which slot of a row holds which property.
///
/// Slots hold everything that is one value: attributes (transient and derived ones included, one
/// slot per leaf of a composite) and to-one relationships. To-many relationships have indexes of
/// their own. Inherited properties come first and keep their numbers in every subentity, so that an
/// accessor compiled for a superclass works for all objects; within an entity own properties are
/// sorted by name.
// Unchecked: immutable after initialisation; it references model elements, which are frozen.
public final class EntityLayout: @unchecked Sendable {
  /// What a slot holds.
  public enum Content: Sendable {
    case attribute(AttributeDescription)
    case toOne(RelationshipDescription)
  }

  /// One slot of a row.
  public struct Slot: Sendable {
    /// The property's name; for a leaf of a composite the path, such as `address.city`.
    public let name: String
    public let content: Content
    public let isTransient: Bool
    /// Whether the property, or a composite that it is part of, must have a value.
    let isRequired: Bool
    /// Of a leaf of a composite, the slots of the innermost optional composite around it.
    package fileprivate(set) var group: Range<Int>?

    /// The attribute, also of a composite, or the relationship.
    package var property: PropertyDescription {
      switch content {
      case .attribute(let attribute): return attribute
      case .toOne(let relationship): return relationship
      }
    }
    public var attribute: AttributeDescription? {
      if case .attribute(let attribute) = content { return attribute }
      return nil
    }
    public var relationship: RelationshipDescription? {
      if case .toOne(let relationship) = content { return relationship }
      return nil
    }
  }

  public unowned let entity: EntityDescription
  /// The entity's number in SQL stores, from 1, depth first.
  public let number: Int
  /// The number of the entity at the top of the inheritance tree; row keys are unique below it.
  public let rootNumber: Int
  public let slots: [Slot]
  /// The number of ``slots``: what generated accessors check a slot number against.
  @usableFromInline package let slotCount: Int
  /// For each slot whether it holds a to-one relationship; cheaper to ask than ``slots``.
  public let isToOneSlot: [Bool]
  /// Those of the first 64 slots that hold attributes, as bits.
  @usableFromInline package let attributeMask: UInt64
  /// The slots that hold to-one relationships.
  public let toOneSlots: [Int]
  /// The slots for which the model has a rule that a value can break.
  package let ruledSlots: [Int]
  /// The indexes of to-many relationships for which the model has a rule.
  package let ruledToManys: [Int]
  /// Whether a relationship of the entity forbids deletion.
  package let deniesDeletion: Bool
  /// Whether the model has any rule that an object can break.
  package let hasRules: Bool
  /// The slots of the leaves of each composite attribute, by the attribute's name.
  package let composites: [String: [Int]]
  /// The composite attributes that must have a value.
  package let ruledComposites: [CompositeAttributeDescription]
  /// To-many relationships, inherited ones first.
  public let toManys: [RelationshipDescription]
  /// Fetched properties by name.
  public let fetchedProperties: [String: FetchedPropertyDescription]
  /// Slot number by property name (composite leaves by path).
  public let slotByName: [String: Int]
  /// Index in ``toManys`` by relationship name.
  public let toManyByName: [String: Int]
  /// The persistent slots of which history keeps the values of deleted objects, a composite with all
  /// its leaves.
  ///
  /// The leaves come last: files from before they were kept have the others where they are.
  package let slotsKeptOnDeletion: [Int]
  /// Slots that stores keep.
  public let persistentSlots: [Int]
  /// The values of a new object.
  public let defaultValues: [AttributeValue]
  /// The required transient attributes with a default, which stores do not keep: an object has the
  /// default again whenever it has taken a row.
  package let transientDefaults: [TransientDefault]

  /// What a required transient attribute is after its object has taken a row.
  package struct TransientDefault {
    package let slot: Int
    /// `.null` for an attribute of undefined type, whose value no slot holds.
    package let value: AttributeValue
    package let attribute: AttributeDescription
  }

  init(entity: EntityDescription, number: Int) {
    self.entity = entity
    self.number = number
    var slots: [Slot] = []
    var toManys: [RelationshipDescription] = []
    var fetched: [String: FetchedPropertyDescription] = [:]
    var composites: [String: [Int]] = [:]
    var ruledComposites: [CompositeAttributeDescription] = []
    var kept: (plain: [Int], leaves: [Int]) = ([], [])
    var chain: [EntityDescription] = []
    var next: EntityDescription? = entity
    while let current = next {
      chain.insert(current, at: 0)
      next = current.superentity
    }
    for ancestor in chain {
      for property in ancestor.declaredProperties.sorted(by: { $0.name < $1.name }) {
        if let composite = property as? CompositeAttributeDescription {
          let first = slots.count
          Self.appendLeaves(
            of: composite, path: composite.name, isTransient: composite.isTransient,
            isRequired: !composite.isOptional, to: &slots)
          composites[composite.name] = Array(first..<slots.count)
          kept.leaves += (first..<slots.count).filter {
            composite.preservesValueInHistoryOnDeletion
              || slots[$0].attribute?.preservesValueInHistoryOnDeletion ?? false
          }
          if !composite.isOptional || !composite.validationPredicates.isEmpty {
            ruledComposites.append(composite)
          }
        } else if let attribute = property as? AttributeDescription {
          if attribute.preservesValueInHistoryOnDeletion { kept.plain.append(slots.count) }
          slots.append(
            Slot(
              name: attribute.name, content: .attribute(attribute),
              isTransient: attribute.isTransient, isRequired: !attribute.isOptional))
        } else if let relationship = property as? RelationshipDescription {
          if relationship.isToMany {
            toManys.append(relationship)
          } else {
            slots.append(
              Slot(
                name: relationship.name, content: .toOne(relationship),
                isTransient: relationship.isTransient, isRequired: !relationship.isOptional))
          }
        } else if let property = property as? FetchedPropertyDescription {
          fetched[property.name] = property
        }
      }
    }
    self.slots = slots
    slotCount = slots.count
    isToOneSlot = slots.map { $0.relationship != nil }
    attributeMask = slots.indices.prefix(64).reduce(0) { mask, slot in
      slots[slot].relationship == nil ? mask | 1 << UInt64(slot) : mask
    }
    toOneSlots = slots.indices.filter { slots[$0].relationship != nil }
    ruledSlots = slots.indices.filter { slot in
      let property: PropertyDescription
      switch slots[slot].content {
      case .attribute(let attribute): property = attribute
      case .toOne(let relationship): property = relationship
      }
      // A transformer may refuse a value.
      return !property.isOptional || !property.validationPredicates.isEmpty
        || slots[slot].attribute?.attributeType == .transformable
    }
    ruledToManys = toManys.indices.filter { index in
      let relationship = toManys[index]
      return relationship.minCount != 0 || relationship.maxCount != 0
        || !relationship.validationPredicates.isEmpty
    }
    deniesDeletion =
      toManys.contains { $0.deleteRule == .deny }
      || slots.contains { $0.relationship?.deleteRule == .deny }
    // Numbers are given depth first, so an ancestor has its layout before its descendants.
    rootNumber = entity.superentity?.layout?.rootNumber ?? number
    self.toManys = toManys
    self.composites = composites
    slotsKeptOnDeletion = (kept.plain + kept.leaves).filter { !slots[$0].isTransient }
    self.ruledComposites = ruledComposites
    hasRules =
      deniesDeletion || !ruledSlots.isEmpty || !ruledToManys.isEmpty || !ruledComposites.isEmpty
    fetchedProperties = fetched
    slotByName = Dictionary(
      slots.enumerated().map { ($1.name, $0) }, uniquingKeysWith: { first, _ in first })
    toManyByName = Dictionary(
      toManys.enumerated().map { ($1.name, $0) }, uniquingKeysWith: { first, _ in first })
    persistentSlots = slots.indices.filter { !slots[$0].isTransient }
    let defaults: [AttributeValue] = slots.map { slot in
      guard let attribute = slot.attribute else { return .null }
      return (try? AttributeCoding.encode(attribute.defaultValue, for: attribute)) ?? .null
    }
    defaultValues = defaults
    transientDefaults = slots.indices.compactMap { slot in
      guard slots[slot].isTransient, slots[slot].isRequired, let attribute = slots[slot].attribute,
        !defaults[slot].isNull
          || attribute.attributeType == .undefined && attribute.defaultValue != nil
      else { return nil }
      return TransientDefault(slot: slot, value: defaults[slot], attribute: attribute)
    }
  }

  /// Whether the slot must have a value: a mandatory leaf needs none in an optional composite that has
  /// no value.
  ///
  /// - Parameter isNull: Whether a slot of the row has no value.
  package func needsValue(_ slot: Int, isNull: (Int) -> Bool) -> Bool {
    if slots[slot].property.isOptional { return false }
    guard let group = slots[slot].group else { return true }
    return !group.allSatisfy(isNull)
  }

  private static func appendLeaves(
    of composite: CompositeAttributeDescription, path: String, isTransient: Bool,
    isRequired: Bool, to slots: inout [Slot]
  ) {
    let first = slots.count
    for element in composite.elements.sorted(by: { $0.name < $1.name }) {
      let elementPath = path + "." + element.name
      if let nested = element as? CompositeAttributeDescription {
        appendLeaves(
          of: nested, path: elementPath, isTransient: isTransient,
          isRequired: isRequired || !nested.isOptional, to: &slots)
      } else {
        slots.append(
          Slot(
            name: elementPath, content: .attribute(element), isTransient: isTransient,
            isRequired: isRequired || !element.isOptional))
      }
    }
    if !composite.isOptional { return }
    let group = first..<slots.count
    for slot in group where slots[slot].group == nil { slots[slot].group = group }
  }
}
