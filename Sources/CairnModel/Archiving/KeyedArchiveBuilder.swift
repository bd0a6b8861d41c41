import CairnPredicates
import Foundation

/// Builds a keyed archive as `NSKeyedArchiver` would write it.
struct KeyedArchiveBuilder {
  /// A reference to an object of the archive.
  struct Reference {
    let uid: Int
    static let null = Reference(uid: 0)
  }

  private var objects: [PropertyListValue] = [.string("$null")]
  private var classes: [String: Reference] = [:]
  private var strings: [String: Reference] = [:]

  /// An object whose fields follow later; objects that refer to each other need one.
  mutating func reserve() -> Reference {
    objects.append(.string("$null"))
    return Reference(uid: objects.count - 1)
  }

  /// Gives a reserved object its class, the class's ancestors up to `NSObject`, and its fields.
  mutating func fill(
    _ reference: Reference, _ className: String, inheriting ancestors: [String] = [],
    _ fields: [(String, PropertyListValue)]
  ) {
    let type = self.reference(toClass: className, ancestors)
    objects[reference.uid] = .dictionary(fields + [("$class", .uid(type.uid))])
  }

  mutating func add(
    _ className: String, inheriting ancestors: [String] = [],
    _ fields: [(String, PropertyListValue)]
  ) -> Reference {
    let reference = reserve()
    fill(reference, className, inheriting: ancestors, fields)
    return reference
  }

  private mutating func reference(toClass name: String, _ ancestors: [String]) -> Reference {
    if let known = classes[name] { return known }
    let lineage = ([name] + ancestors + ["NSObject"]).map(PropertyListValue.string)
    objects.append(
      .dictionary([("$classname", .string(name)), ("$classes", .array(lineage))]))
    let reference = Reference(uid: objects.count - 1)
    classes[name] = reference
    return reference
  }

  mutating func add(text: String?) -> Reference {
    guard let text else { return .null }
    if let known = strings[text] { return known }
    objects.append(.string(text))
    let reference = Reference(uid: objects.count - 1)
    strings[text] = reference
    return reference
  }

  mutating func add(plain value: PropertyListValue) -> Reference {
    objects.append(value)
    return Reference(uid: objects.count - 1)
  }

  mutating func add(list members: [Reference], className: String = "NSArray") -> Reference {
    let ancestors = className == "NSMutableArray" ? ["NSArray"] : []
    return add(
      className, inheriting: ancestors, [("NS.objects", .array(members.map { .uid($0.uid) }))])
  }

  mutating func add(
    dictionary pairs: [(Reference, Reference)], className: String = "NSMutableDictionary"
  ) -> Reference {
    let ancestors = className == "NSMutableDictionary" ? ["NSDictionary"] : []
    return add(
      className, inheriting: ancestors,
      [
        ("NS.keys", .array(pairs.map { .uid($0.0.uid) })),
        ("NS.objects", .array(pairs.map { .uid($0.1.uid) })),
      ])
  }

  /// The archive's bytes.
  func data(root: Reference) -> Data {
    BinaryPropertyListWriter.write(
      .dictionary([
        ("$version", .integer(100_000)), ("$archiver", .string("NSKeyedArchiver")),
        ("$top", .dictionary([("root", .uid(root.uid))])), ("$objects", .array(objects)),
      ]))
  }

  // MARK: Foundation values

  /// A Foundation value; `null` for what archives of models cannot hold.
  mutating func add(value: Any?) -> Reference {
    guard let value = AttributeCoding.unwrapped(value) else { return .null }
    switch PredicateValue(value) {
    case .null, .objectID, .object: return .null
    case .boolean(let flag): return add(plain: .bool(flag))
    case .integer(let number): return add(plain: .integer(number))
    case .double(let number): return add(plain: .real(number))
    case .string(let text): return add(text: text)
    case .data(let data): return add(plain: .data(data))
    case .date(let date):
      return add("NSDate", [("NS.time", .real(date.timeIntervalSinceReferenceDate))])
    case .uuid(let uuid):
      let bytes = withUnsafeBytes(of: uuid.uuid) { Data($0) }
      return add("NSUUID", [("NS.uuidbytes", .data(bytes))])
    case .url(let url):
      let text = add(text: url.absoluteString)
      return add("NSURL", [("NS.base", .uid(0)), ("NS.relative", .uid(text.uid))])
    case .decimal(let decimal): return add(decimal: decimal)
    case .array(let members):
      let references = members.map { add(value: $0.anyValue) }
      return add(list: references)
    case .set(let members):
      let references = members.map { add(value: $0.anyValue) }
      return add(list: references, className: "NSSet")
    case .dictionary(let members):
      let pairs = members.map { (add(value: $0.key.anyValue), add(value: $0.value.anyValue)) }
      return add(dictionary: pairs, className: "NSDictionary")
    }
  }

  private mutating func add(decimal: Decimal) -> Reference {
    let archived = ArchivedDecimal(decimal)
    return add(
      "NSDecimalNumber", inheriting: ["NSNumber", "NSValue"],
      [
        ("NS.mantissa", .data(archived.mantissa)),
        ("NS.mantissa.bo", .integer(Int64(archived.byteOrder))),
        ("NS.exponent", .integer(Int64(archived.exponent))),
        ("NS.length", .integer(Int64(archived.length))),
        ("NS.negative", .bool(archived.isNegative)), ("NS.compact", .bool(true)),
      ])
  }
}
