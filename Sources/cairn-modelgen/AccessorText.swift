import CairnModel

/// The accessor of an attribute as Swift source.
struct AccessorText {
  private let attribute: AttributeDescription

  init(_ attribute: AttributeDescription) { self.attribute = attribute }

  /// The Swift type, and for scalars the `NSNumber` property that gives it and its zero.
  private var type: (name: String, scalar: (number: String, zero: String)?) {
    let isScalar = attribute.usesScalarValueType
    func number(_ type: String, _ property: String, _ zero: String) -> (
      String, (number: String, zero: String)?
    ) { isScalar ? (type, (property, zero)) : ("NSNumber", nil) }
    switch attribute.attributeType {
    case .integer16: return number("Int16", "int16Value", "0")
    case .integer32: return number("Int32", "int32Value", "0")
    case .integer64: return number("Int64", "int64Value", "0")
    case .double: return number("Double", "doubleValue", "0")
    case .float: return number("Float", "floatValue", "0")
    case .boolean: return number("Bool", "boolValue", "false")
    case .decimal: return ("NSDecimalNumber", nil)
    case .string: return ("String", nil)
    case .date: return ("Date", nil)
    case .binaryData: return ("Data", nil)
    case .uuid: return ("UUID", nil)
    case .uri: return ("URL", nil)
    case .composite: return ("[String: Any]", nil)
    case .objectID: return ("ManagedObjectID", nil)
    case .undefined: return ("Any", nil)
    case .transformable:
      let name = attribute.attributeValueClassName ?? "Any"
      return (name.hasPrefix(".") ? String(name.dropFirst()) : name, nil)
    }
  }

  var lines: [String] {
    let key = quoted(attribute.name)
    let (name, scalar) = type
    let readOnly = attribute is DerivedAttributeDescription
    let head = "  public var \(escaped(attribute.name)): \(name)\(scalar == nil ? "?" : "") {"
    let read: String
    let write: String
    if let scalar {
      read = "(value(forKey: \(key)) as? NSNumber)?.\(scalar.number) ?? \(scalar.zero)"
      write = "setValue(NSNumber(value: newValue), forKey: \(key))"
    } else {
      read = name == "Any" ? "value(forKey: \(key))" : "value(forKey: \(key)) as? \(name)"
      write = "setValue(newValue, forKey: \(key))"
    }
    if readOnly { return ["", head, "    \(read)", "  }"] }
    return ["", head, "    get { \(read) }", "    set { \(write) }", "  }"]
  }
}
