import CairnPredicates
import Foundation

/// How an element of a fetch index is organised.
///
/// Source: `NSFetchIndexElementType`.
public enum FetchIndexElementType: UInt, Sendable {
  case binary = 0
  case rTree = 1
}

/// One property of a fetch index.
///
/// Source: `NSFetchIndexElementDescription`.
open class FetchIndexElementDescription: ModelElement, @unchecked Sendable {
  /// The indexed property, nil when only its name is known yet.
  public package(set) var property: PropertyDescription?
  /// The indexed property's name; `self` stands for the object ID and `entity` for the entity.
  public let propertyName: String?
  open var collationType: FetchIndexElementType { willSet { willChange() } }
  open var isAscending: Bool = true { willSet { willChange() } }
  public internal(set) weak var indexDescription: FetchIndexDescription?

  public init(property: PropertyDescription, collationType: FetchIndexElementType) {
    self.property = property
    self.propertyName = property.name
    self.collationType = collationType
    super.init()
  }

  package init(propertyName: String, collationType: FetchIndexElementType, isAscending: Bool) {
    self.propertyName = propertyName
    self.collationType = collationType
    super.init()
    self.isAscending = isAscending
  }

  /// An editable element from an archive; it knows its property by name.
  public required init?(coder: NSCoder) {
    guard let element = ElementCoding.element(from: coder) else { return nil }
    property = element.property
    propertyName = element.propertyName
    collationType = element.collationType
    super.init(coder: coder)
    isAscending = element.isAscending
  }

  override func makeCopy() -> ModelElement { copyElement() }
}

/// A named index on properties of an entity.
///
/// Source: `NSFetchIndexDescription`.
open class FetchIndexDescription: ModelElement, @unchecked Sendable {
  open var name: String { willSet { willChange() } }
  open var elements: [FetchIndexElementDescription] {
    willSet { willChange() }
    didSet { for element in elements { element.indexDescription = self } }
  }
  public internal(set) var entity: EntityDescription? {
    get { entityReference?.target }
    set { entityReference = newValue?.looseReference }
  }
  private final var entityReference: LooseReference<EntityDescription>?
  /// Limits the index to some rows.
  open var partialIndexPredicate: ObjectPredicate? { willSet { willChange() } }

  public init(name: String, elements: [FetchIndexElementDescription]?) {
    self.name = name
    self.elements = elements ?? []
    super.init()
    for element in self.elements { element.indexDescription = self }
  }

  /// An editable index from an archive; it belongs to no entity.
  public required init?(coder: NSCoder) {
    guard let index = ElementCoding.index(from: coder) else { return nil }
    name = index.name
    elements = index.elements
    super.init(coder: coder)
    for element in elements { element.indexDescription = self }
    partialIndexPredicate = index.partialIndexPredicate
  }

  override func makeCopy() -> ModelElement { copyIndex() }

  package override func freeze() {
    super.freeze()
    for element in elements { element.freeze() }
  }
}
