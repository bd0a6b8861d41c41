import CairnModel

/// The accessor of an attribute as Swift source.
///
/// Values are read from their slot; only what needs the attribute's description to be decoded
/// (transformable values, composites, values without a type) goes through its key.
struct AccessorText {
  let attribute: AttributeDescription
  /// Nil for a composite, which has a slot for each element.
  let slot: Int?

  /// How a stored value becomes a Swift one and back.
  private enum Form {
    /// A value that is never nil: stored case, how to read and write it, and what nil reads as.
    case scalar(type: String, stored: String, read: String, write: String, empty: String)
    /// An optional value.
    case optional(type: String, stored: String, read: String, write: String)
    /// By key.
    case keyed(type: String)
  }

  var lines: [String] {
    let head = ["", "  public var \(escaped(attribute.name)): "]
    switch form {
    case .scalar(let type, let stored, let read, let write, let empty):
      return accessor(
        head, type, read: guarded(stored, else: empty, read),
        write: "setStoredValue(.\(stored)(\(write)), at: \(slotText))")
    case .optional(let type, let stored, let read, let write):
      return accessor(
        head, type + "?", read: guarded(stored, else: "nil", read),
        write: "setStoredValue(newValue.map { .\(stored)(\(write)) } ?? .null, at: \(slotText))")
    case .keyed(let type):
      let value = "value(forKey: \(quoted(attribute.name)))"
      return accessor(
        head, type + "?", read: [type == "Any" ? value : "\(value) as? \(type)"],
        write: "setValue(newValue, forKey: \(quoted(attribute.name)))")
    }
  }

  private var slotText: String { slot.map(String.init) ?? "" }

  private func guarded(_ stored: String, else empty: String, _ read: String) -> [String] {
    [
      "guard case .\(stored)(let value) = storedValue(at: \(slotText)) else { return \(empty) }",
      "return \(read)",
    ]
  }

  private func accessor(
    _ head: [String], _ type: String, read: [String], write: String
  ) -> [String] {
    let first = [head[0], head[1] + "\(type) {"]
    // The store computes derived values.
    if attribute is DerivedAttributeDescription {
      return first + read.map { "    " + $0 } + ["  }"]
    }
    return first + ["    get {"] + read.map { "      " + $0 } + ["    }"]
      + ["    set { \(write) }", "  }"]
  }

  private var form: Form {
    let isScalar = attribute.usesScalarValueType
    func integer(_ type: String) -> Form {
      isScalar
        ? .scalar(
          type: type, stored: "integer",
          read: type == "Int64" ? "value" : "\(type)(truncatingIfNeeded: value)",
          write: type == "Int64" ? "newValue" : "Int64(newValue)", empty: "0")
        : .optional(
          type: "NSNumber", stored: "integer", read: "NSNumber(value: value)",
          write: "$0.int64Value")
    }
    func number(_ type: String, _ stored: String, _ property: String, _ empty: String) -> Form {
      isScalar
        ? .scalar(type: type, stored: stored, read: "value", write: "newValue", empty: empty)
        : .optional(
          type: "NSNumber", stored: stored, read: "NSNumber(value: value)", write: "$0.\(property)")
    }
    func plain(_ type: String, _ stored: String) -> Form {
      .optional(type: type, stored: stored, read: "value", write: "$0")
    }
    switch attribute.attributeType {
    case .integer16: return integer("Int16")
    case .integer32: return integer("Int32")
    case .integer64: return integer("Int64")
    case .double: return number("Double", "double", "doubleValue", "0")
    case .float: return number("Float", "float", "floatValue", "0")
    case .boolean: return number("Bool", "boolean", "boolValue", "false")
    case .decimal:
      return .optional(
        type: "NSDecimalNumber", stored: "decimal", read: "NSDecimalNumber(decimal: value)",
        write: "$0.decimalValue")
    case .string: return plain("String", "string")
    case .date:
      return isScalar
        ? .scalar(
          type: "TimeInterval", stored: "date", read: "value.timeIntervalSinceReferenceDate",
          write: "Date(timeIntervalSinceReferenceDate: newValue)", empty: "0")
        : plain("Date", "date")
    case .binaryData: return plain("Data", "data")
    case .uuid: return plain("UUID", "uuid")
    case .uri: return plain("URL", "url")
    case .objectID: return plain("ManagedObjectID", "object")
    case .composite: return .keyed(type: "[String: Any]")
    case .undefined: return .keyed(type: "Any")
    case .transformable:
      let name = attribute.attributeValueClassName ?? "Any"
      return .keyed(type: name.hasPrefix(".") ? String(name.dropFirst()) : name)
    }
  }

  /// Whether values can be hashed, as an identifier must be.
  var isHashable: Bool {
    switch form {
    case .scalar, .optional: return true
    case .keyed: return false
    }
  }
}
