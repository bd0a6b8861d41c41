import CairnPredicates
import Foundation

/// An attribute: a named value of one type.
///
/// Source: `NSAttributeDescription`.
open class AttributeDescription: PropertyDescription, @unchecked Sendable {
  /// The attribute's type.
  ///
  /// Default undefined, which only transient attributes may keep.
  open var attributeType: CairnModel.AttributeType = .undefined { willSet { willChange() } }
  /// The same as ``attributeType``, in the words of Core Data's Swift overlay.
  public var type: AttributeDescription.AttributeType {
    get { AttributeType(rawValue: attributeType) }
    set { attributeType = newValue.rawValue }
  }
  /// The value of the attribute in a new object.
  open var defaultValue: Any? { willSet { willChange() } }
  /// The registered name of the transformer of a transformable attribute.
  ///
  /// Stored data that the transformer cannot decode, or whose transformer is not registered, reads as
  /// nil. Setting nil over it changes nothing, so that a program that writes back what it has read
  /// loses no data; register the transformer, or delete the object, to clear such a value.
  open var valueTransformerName: String? { willSet { willChange() } }
  /// Whether large data may be kept in files beside the store.
  open var allowsExternalBinaryDataStorage: Bool = false { willSet { willChange() } }
  /// Whether the value is recorded in history when the object is deleted.
  open var preservesValueInHistoryOnDeletion: Bool = false { willSet { willChange() } }
  /// Kept for compatibility; has no behaviour here.
  open var allowsCloudEncryption: Bool = false { willSet { willChange() } }
  /// Whether generated code uses a scalar (`Int64`) instead of an object; only for generators.
  package var usesScalarValueType: Bool = false { willSet { willChange() } }
  /// The element group of a composite attribute read from a model file, by name.
  package var compositeName: String? { willSet { willChange() } }

  /// The class of the attribute's values, by its Foundation name.
  open var attributeValueClassName: String? {
    get { explicitValueClassName ?? attributeType.valueClassName }
    set {
      willChange()
      explicitValueClassName = newValue
    }
  }
  private var explicitValueClassName: String?

  public override init() { super.init() }
  public required init?(coder: NSCoder) { super.init(coder: coder) }

  /// An attribute in one line.
  package convenience init(
    name: String, type: CairnModel.AttributeType, isOptional: Bool = true,
    defaultValue: Any? = nil
  ) {
    self.init()
    self.name = name
    self.attributeType = type
    self.isOptional = isOptional
    self.defaultValue = defaultValue
  }

  override func makeEmptyCopy() -> PropertyDescription { AttributeDescription() }

  override func copyValues(to copy: PropertyDescription) {
    super.copyValues(to: copy)
    guard let copy = copy as? AttributeDescription else { return }
    copy.attributeType = attributeType
    copy.defaultValue = defaultValue
    copy.valueTransformerName = valueTransformerName
    copy.allowsExternalBinaryDataStorage = allowsExternalBinaryDataStorage
    copy.preservesValueInHistoryOnDeletion = preservesValueInHistoryOnDeletion
    copy.allowsCloudEncryption = allowsCloudEncryption
    copy.usesScalarValueType = usesScalarValueType
    copy.compositeName = compositeName
    copy.explicitValueClassName = explicitValueClassName
  }
}

extension AttributeType {
  /// The class that Core Data names for values of this type.
  package var valueClassName: String? {
    switch self {
    case .undefined, .transformable, .objectID, .composite: return nil
    case .integer16, .integer32, .integer64, .double, .float, .boolean: return "NSNumber"
    case .decimal: return "NSDecimalNumber"
    case .string: return "NSString"
    case .date: return "NSDate"
    case .binaryData: return "NSData"
    case .uuid: return "NSUUID"
    case .uri: return "NSURL"
    }
  }
}

/// An attribute whose value the store computes from others.
///
/// Source: `NSDerivedAttributeDescription`.
open class DerivedAttributeDescription: AttributeDescription, @unchecked Sendable {
  /// What the value is computed from, such as `pages.@count`.
  open var derivationExpression: ObjectExpression? { willSet { willChange() } }
  /// Kept from compiled models: limits the members an aggregate counts.
  package var filteringPredicate: ObjectPredicate? { willSet { willChange() } }

  public override init() { super.init() }
  public required init?(coder: NSCoder) { super.init(coder: coder) }

  override func makeEmptyCopy() -> PropertyDescription { DerivedAttributeDescription() }

  override func copyValues(to copy: PropertyDescription) {
    super.copyValues(to: copy)
    guard let copy = copy as? DerivedAttributeDescription else { return }
    copy.derivationExpression = derivationExpression
    copy.filteringPredicate = filteringPredicate
  }
}

/// An attribute made of named elements.
///
/// Source: `NSCompositeAttributeDescription`.
open class CompositeAttributeDescription: AttributeDescription, @unchecked Sendable {
  /// The elements, attributes themselves; may be composite again.
  open var elements: [AttributeDescription] = [] { willSet { willChange() } }

  public override init() {
    super.init()
    attributeType = .composite
  }
  public required init?(coder: NSCoder) { super.init(coder: coder) }

  package override func freeze() {
    super.freeze()
    for element in elements { element.freeze() }
  }

  override func makeEmptyCopy() -> PropertyDescription { CompositeAttributeDescription() }

  override func copyValues(to copy: PropertyDescription) {
    super.copyValues(to: copy)
    guard let copy = copy as? CompositeAttributeDescription else { return }
    copy.elements = elements.compactMap { $0.copyProperty() as? AttributeDescription }
  }
}
