import Foundation

/// What happens to the other side of a relationship when an object is deleted.
///
/// Source: `NSDeleteRule`.
public enum DeleteRule: UInt, Sendable, Hashable {
  /// Members keep pointing at the deleted object; mending that is the programmer's business.
  case noAction = 0
  /// Members lose the deleted object from their inverse.
  case nullify = 1
  /// Members are deleted as well.
  case cascade = 2
  /// The save fails while there are members.
  case deny = 3
}

/// Apple's long spellings.
extension DeleteRule {
  public static let noActionDeleteRule = DeleteRule.noAction
  public static let nullifyDeleteRule = DeleteRule.nullify
  public static let cascadeDeleteRule = DeleteRule.cascade
  public static let denyDeleteRule = DeleteRule.deny
}

/// A relationship to objects of another entity, or of the same.
///
/// Source: `NSRelationshipDescription`.
open class RelationshipDescription: PropertyDescription, @unchecked Sendable {
  /// The entity of the members; objects of its subentities are accepted too.
  ///
  /// Belongs to the same model, which must be kept while its relationships are used.
  open unowned var destinationEntity: EntityDescription? { willSet { willChange() } }
  /// The relationship of the destination that leads back here; set it on both sides.
  open unowned var inverseRelationship: RelationshipDescription? {
    willSet { willChange() }
  }
  /// The largest number of members; 1 makes the relationship to-one, 0 means unlimited.
  open var maxCount: Int = 0 { willSet { willChange() } }
  /// The smallest number of members of a relationship that is not empty.
  open var minCount: Int = 0 { willSet { willChange() } }
  /// What happens to the members when an object is deleted.
  ///
  /// Default nullify.
  open var deleteRule: DeleteRule = .nullify { willSet { willChange() } }
  /// Whether the members of a to-many have an order.
  open var isOrdered: Bool = false { willSet { willChange() } }

  /// Whether there may be more than one member.
  public var isToMany: Bool { maxCount != 1 }

  /// Whether both sides are to-many, so that links are rows of their own in a SQL store.
  package var isManyToMany: Bool {
    isToMany && (inverseRelationship?.isToMany ?? false)
  }

  /// Names kept between reading a description and resolving them in the whole model.
  package var destinationEntityName: String?
  package var inverseRelationshipName: String?

  public override init() { super.init() }
  public required init?(coder: NSCoder) { super.init(coder: coder) }

  override func makeEmptyCopy() -> PropertyDescription { RelationshipDescription() }

  override func copyValues(to copy: PropertyDescription) {
    super.copyValues(to: copy)
    guard let copy = copy as? RelationshipDescription else { return }
    copy.destinationEntityName = destinationEntity?.name ?? destinationEntityName
    copy.inverseRelationshipName = inverseRelationship?.name ?? inverseRelationshipName
    copy.maxCount = maxCount
    copy.minCount = minCount
    copy.deleteRule = deleteRule
    copy.isOrdered = isOrdered
  }
}
