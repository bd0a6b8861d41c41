// The type of an attribute in the words of Core Data's Swift overlay.

extension AttributeDescription {
  /// The type of an attribute as Core Data's Swift overlay has it: ``CairnModel/AttributeType`` in a
  /// structure, for ``type`` and ``ExpressionDescription/resultType``.
  ///
  /// Source: `NSAttributeDescription.AttributeType`.
  public struct AttributeType: RawRepresentable, Hashable, Sendable {
    public var rawValue: CairnModel.AttributeType
    public init(rawValue: CairnModel.AttributeType) { self.rawValue = rawValue }

    public static let undefined = Self(rawValue: .undefined)
    public static let integer16 = Self(rawValue: .integer16)
    public static let integer32 = Self(rawValue: .integer32)
    public static let integer64 = Self(rawValue: .integer64)
    public static let decimal = Self(rawValue: .decimal)
    public static let double = Self(rawValue: .double)
    public static let float = Self(rawValue: .float)
    public static let string = Self(rawValue: .string)
    public static let boolean = Self(rawValue: .boolean)
    public static let date = Self(rawValue: .date)
    public static let binaryData = Self(rawValue: .binaryData)
    public static let uuid = Self(rawValue: .uuid)
    public static let uri = Self(rawValue: .uri)
    public static let transformable = Self(rawValue: .transformable)
    public static let objectID = Self(rawValue: .objectID)
    public static let composite = Self(rawValue: .composite)
  }
}

extension AttributeType {
  /// The types by their names in the model editor and its files, such as `Integer 16`.
  package static let byEditorName: [String: AttributeType] = [
    "Undefined": .undefined, "Integer 16": .integer16, "Integer 32": .integer32,
    "Integer 64": .integer64, "Decimal": .decimal, "Double": .double, "Float": .float,
    "String": .string, "Boolean": .boolean, "Date": .date, "Binary": .binaryData, "UUID": .uuid,
    "URI": .uri, "Transformable": .transformable, "ObjectID": .objectID, "Composite": .composite,
  ]
  private static let editorNames = Dictionary(
    byEditorName.map { ($1, $0) }, uniquingKeysWith: { first, _ in first })

  /// The type's name in the model editor and its files.
  package var editorName: String { Self.editorNames[self] ?? "Undefined" }
}
