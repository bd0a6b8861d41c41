/// Types of the standard library, Foundation and Cairn, and the modules that declare them on Linux.
enum KnownTypes {
  static func type(named name: String) -> SymbolType? {
    if let letter = letters[name] { return .standard(letter, arguments: []) }
    if let other = otherNames[name] { return type(named: other) }
    for (module, kind, names) in modules where names.contains(name) {
      return .nominal(module: module, [.init(name: name, kind: kind)], arguments: [])
    }
    switch name {
    case "Any": return .any
    case "AnyObject": return .anyObject
    default: return nil
    }
  }

  private static let letters: [String: Character] = [
    "Bool": "b", "Character": "J", "Double": "d", "Float": "f", "Int": "i", "String": "S",
    "Substring": "s", "UInt": "u", "Set": "h", "Array": "a", "Dictionary": "D",
  ]

  private static let otherNames = [
    "TimeInterval": "Double", "Float64": "Double", "Float32": "Float", "NSRange": "_NSRange",
    "NSInteger": "Int", "NSManagedObject": "ManagedObject", "NSManagedObjectID": "ManagedObjectID",
    "NSManagedObjectContext": "ManagedObjectContext",
  ]

  /// Types by the module that declares them.
  private static let modules: [(module: String, kind: SymbolType.Kind, names: Set<String>)] = [
    (
      "Swift", .struct,
      [
        "Int8", "Int16", "Int32", "Int64", "UInt8", "UInt16", "UInt32", "UInt64", "AnyHashable",
        "Int128", "UInt128",
      ]
    ),
    (
      "FoundationEssentials", .struct,
      [
        "Date", "Data", "UUID", "URL", "Decimal", "Locale", "TimeZone", "Calendar",
        "DateComponents", "DateInterval", "URLComponents", "IndexPath",
      ]
    ),
    (
      "Foundation", .struct,
      [
        "IndexSet", "CGFloat", "CGPoint", "CGRect", "CGSize", "_NSRange", "PersonNameComponents",
        "CharacterSet", "Measurement", "URLRequest", "Notification",
      ]
    ),
    (
      "Foundation", .class,
      [
        "NSObject", "NSNumber", "NSDecimalNumber", "NSString", "NSMutableString", "NSDate",
        "NSData", "NSMutableData", "NSURL", "NSUUID", "NSArray", "NSMutableArray", "NSDictionary",
        "NSMutableDictionary", "NSSet", "NSMutableSet", "NSOrderedSet", "NSMutableOrderedSet",
        "NSCountedSet", "NSIndexSet", "NSMutableIndexSet", "NSValue", "NSNull", "NSError",
        "NSAttributedString", "NSMutableAttributedString", "NSTimeZone", "NSLocale", "NSCalendar",
        "NSDateComponents", "NSCharacterSet", "NSIndexPath", "NSPersonNameComponents", "Progress",
        "UnitLength", "UnitMass", "UnitDuration", "UnitTemperature", "Dimension", "Unit",
      ]
    ),
    (
      "Foundation", .protocol,
      ["NSCoding", "NSSecureCoding", "NSCopying", "NSObjectProtocol", "NSMutableCopying"]
    ),
    ("CairnContext", .class, ["ManagedObject", "ManagedObjectContext"]),
    ("CairnModel", .class, ["ManagedObjectID"]),
  ]
}
