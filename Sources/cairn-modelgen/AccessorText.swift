import CairnModel

/// The accessor of an attribute as Swift source.
///
/// Values are read from their slot; only what needs the attribute's description to be decoded
/// (transformable values, composites, values without a type) goes through its key.
struct AccessorText {
  let attribute: AttributeDescription
  /// Nil for a composite, which has a slot for each element.
  let slot: Int?
  let names: FrameworkNames

  /// How a stored value becomes a Swift one and back: what the value is read with, the expression
  /// it is read by, the stored case and the expression that it is made of.
  private enum Form {
    /// A value that is never nil.
    case scalar(type: String, read: String, stored: String, write: String)
    /// An optional value.
    case optional(type: String, read: String, stored: String, write: String)
    /// By key.
    case keyed(type: String)
  }

  var lines: [String] {
    let head = ["", "  public var \(escaped(attribute.name)): "]
    switch form {
    case .scalar(let type, let read, let stored, let write):
      return accessor(
        head, type, read: read,
        write: "setStoredValue(.\(stored)(\(write)), at: \(slotText))")
    case .optional(let type, let read, let stored, let write):
      return accessor(
        head, type + "?", read: read,
        write: "setStoredValue(newValue.map { .\(stored)(\(write)) } ?? .null, at: \(slotText))")
    case .keyed(let type):
      let value = "value(forKey: \(quoted(attribute.name)))"
      return accessor(
        head, type + "?", read: type == "Any" ? value : "\(value) as? \(type)",
        write: "setValue(newValue, forKey: \(quoted(attribute.name)))")
    }
  }

  private var slotText: String { slot.map(String.init) ?? "" }

  private func accessor(
    _ head: [String], _ type: String, read: String, write: String
  ) -> [String] {
    let first = [head[0], head[1] + "\(type) {"]
    // The store computes derived values.
    if attribute is DerivedAttributeDescription {
      return first + ["    \(read)", "  }"]
    }
    return first + ["    get { \(read) }", "    set { \(write) }", "  }"]
  }

  private var form: Form {
    let isScalar = attribute.usesScalarValueType
    func integer(_ type: String) -> Form {
      let read = "storedInteger(at: \(slotText))"
      if !isScalar { return object(read, "integer", "$0.int64Value") }
      return type == "Int64"
        ? .scalar(type: type, read: "\(read) ?? 0", stored: "integer", write: "newValue")
        : .scalar(
          type: type, read: "\(type)(truncatingIfNeeded: \(read) ?? 0)", stored: "integer",
          write: "Int64(newValue)")
    }
    func number(_ type: String, _ read: String, _ stored: String, _ empty: String) -> Form {
      let read = "\(read)(at: \(slotText))"
      return isScalar
        ? .scalar(type: type, read: "\(read) ?? \(empty)", stored: stored, write: "newValue")
        : object(read, stored, "$0.\(stored == "boolean" ? "bool" : stored)Value")
    }
    func object(_ read: String, _ stored: String, _ write: String) -> Form {
      .optional(
        type: "NSNumber", read: "\(read).map { NSNumber(value: $0) }", stored: stored, write: write)
    }
    func plain(_ type: String, _ read: String, _ stored: String) -> Form {
      .optional(type: type, read: "\(read)(at: \(slotText))", stored: stored, write: "$0")
    }
    switch attribute.attributeType {
    case .integer16: return integer("Int16")
    case .integer32: return integer("Int32")
    case .integer64: return integer("Int64")
    case .double: return number("Double", "storedDouble", "double", "0")
    case .float: return number("Float", "storedFloat", "float", "0")
    case .boolean: return number("Bool", "storedBoolean", "boolean", "false")
    case .decimal:
      return .optional(
        type: "NSDecimalNumber", read: "storedDecimal(at: \(slotText))", stored: "decimal",
        write: "$0.decimalValue")
    case .string: return plain("String", "storedString", "string")
    case .date:
      return isScalar
        ? .scalar(
          type: "TimeInterval",
          read: "storedDate(at: \(slotText))?.timeIntervalSinceReferenceDate ?? 0", stored: "date",
          write: "Date(timeIntervalSinceReferenceDate: newValue)")
        : plain("Date", "storedDate", "date")
    case .binaryData: return plain("Data", "storedData", "data")
    case .uuid: return plain("UUID", "storedUUID", "uuid")
    case .uri: return plain("URL", "storedURL", "url")
    case .objectID: return plain(names.managedObjectID, "storedObjectID", "object")
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
