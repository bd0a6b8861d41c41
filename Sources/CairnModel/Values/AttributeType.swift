/// The declared type of an attribute, with Core Data's raw values.
///
/// The raw value takes part in version hashes and in stored models, so it never changes.
/// Source: Core Data's `NSAttributeType`.
public enum AttributeType: UInt, Sendable, Hashable {
  /// No type; legal only for transient attributes.
  case undefined = 0
  case integer16 = 100
  case integer32 = 200
  case integer64 = 300
  case decimal = 400
  case double = 500
  case float = 600
  case string = 700
  case boolean = 800
  case date = 900
  case binaryData = 1000
  case uuid = 1100
  case uri = 1200
  /// Any object, stored as data through a value transformer.
  case transformable = 1800
  /// An object ID; only as the result type of an expression description.
  case objectID = 2000
  /// A group of named elements; see ``CompositeAttributeDescription``.
  case composite = 2100

  /// Whether values are integers.
  package var isInteger: Bool {
    self == .integer16 || self == .integer32 || self == .integer64
  }
}

/// Apple's long spellings, so that `attribute.attributeType = .stringAttributeType` compiles.
extension AttributeType {
  public static let undefinedAttributeType = AttributeType.undefined
  public static let integer16AttributeType = AttributeType.integer16
  public static let integer32AttributeType = AttributeType.integer32
  public static let integer64AttributeType = AttributeType.integer64
  public static let decimalAttributeType = AttributeType.decimal
  public static let doubleAttributeType = AttributeType.double
  public static let floatAttributeType = AttributeType.float
  public static let stringAttributeType = AttributeType.string
  public static let booleanAttributeType = AttributeType.boolean
  public static let dateAttributeType = AttributeType.date
  public static let binaryDataAttributeType = AttributeType.binaryData
  public static let UUIDAttributeType = AttributeType.uuid
  public static let URIAttributeType = AttributeType.uri
  public static let transformableAttributeType = AttributeType.transformable
  public static let objectIDAttributeType = AttributeType.objectID
  public static let compositeAttributeType = AttributeType.composite
}
