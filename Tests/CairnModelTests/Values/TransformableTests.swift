import Foundation
import Testing

@testable import CairnModel

/// A class that secure archives may not hold; at the top, where archives find names of classes.
final class TransformableStranger: NSObject, NSCoding {
  override init() {}
  init?(coder: NSCoder) {}
  func encode(with coder: NSCoder) {}
}

/// A class of the program that refuses data without its field; at the top as well.
final class TransformableColor: NSObject, NSSecureCoding {
  static let supportsSecureCoding = true
  let name: String?

  init(name: String?) { self.name = name }

  init?(coder: NSCoder) {
    guard let name = coder.decodeObject(of: NSString.self, forKey: "name") else { return nil }
    self.name = "\(name)"
  }

  func encode(with coder: NSCoder) { coder.encode(name, forKey: "name") }

  override func isEqual(_ other: Any?) -> Bool {
    (other as? Self).map { $0.name == name } ?? false
  }

  override var hash: Int { name.hashValue }
}

/// Values that are kept as data.
@Suite struct TransformableTests {
  /// Text backwards, so that a missed or doubled transformation shows.
  private final class Reversing: ValueTransformer, @unchecked Sendable {
    override func transformedValue(_ value: Any?) -> Any? {
      (value as? String).map { Data($0.reversed().map(String.init).joined().utf8) }
    }
    override func reverseTransformedValue(_ value: Any?) -> Any? {
      (value as? Data).map { String(String(decoding: $0, as: UTF8.self).reversed()) }
    }
  }

  private func attribute(_ transformer: String?) -> AttributeDescription {
    let attribute = AttributeDescription(name: "value", type: .transformable)
    attribute.valueTransformerName = transformer
    return attribute
  }

  @Test(
    "Without a transformer, and under each of its names, values become secure archives",
    arguments: [
      nil, "", "NSSecureUnarchiveFromData", "NSSecureUnarchiveFromDataTransformerName",
      "NSKeyedUnarchiveFromData", "NSKeyedUnarchiveFromDataTransformerName",
    ])
  func secureArchives(name: String?) throws {
    let attribute = attribute(name)
    let stored = try AttributeCoding.encode(["a", "b"] as NSArray, for: attribute)
    guard case .data(let data) = stored else {
      Issue.record("the stored form is \(stored)")
      return
    }
    #expect(data.starts(with: Data("bplist00".utf8)))
    let value = AttributeCoding.decode(stored, for: attribute)
    #expect((value as? NSArray)?.compactMap { $0 as? String } == ["a", "b"])
  }

  @Test("A registered transformer makes data of values and values of data")
  func registered() throws {
    let name = ValueTransformerName("TransformableTests.registered")
    ValueTransformer.setValueTransformer(Reversing(), forName: name)
    defer { ValueTransformer.setValueTransformer(nil, forName: name) }
    #expect(ValueTransformer.valueTransformerNames().contains(name))
    let attribute = attribute(name.rawValue)
    let stored = try AttributeCoding.encode("abc", for: attribute)
    #expect(stored == .data(Data("cba".utf8)))
    #expect(AttributeCoding.decode(stored, for: attribute) as? String == "abc")
  }

  @Test("A transformer that is not registered is refused with its name")
  func unknown() throws {
    let error = try #require(throws: AttributeCodingError.self) {
      try AttributeCoding.encode("abc", for: attribute("Nowhere"))
    }
    #expect(error.description.contains("Nowhere"))
    #expect(AttributeCoding.decode(.data(Data()), for: attribute("Nowhere")) == nil)
  }

  @Test(
    "Under the name of the insecure transformer only secure archives are read and written",
    arguments: ["NSKeyedUnarchiveFromData", "NSSecureUnarchiveFromData"])
  func insecureArchives(name: String) throws {
    #expect(throws: AttributeCodingError.self) {
      try AttributeCoding.encode(TransformableStranger(), for: attribute(name))
    }
    let insecure = try NSKeyedArchiver.archivedData(
      withRootObject: TransformableStranger(), requiringSecureCoding: false)
    #expect(AttributeCoding.decode(.data(insecure), for: attribute(name)) == nil)
    let old = try NSKeyedArchiver.archivedData(
      withRootObject: ["a": 1] as NSDictionary, requiringSecureCoding: false)
    let value = AttributeCoding.decode(.data(old), for: attribute(name)) as? NSDictionary
    #expect(value?["a"] as? Int == 1)
  }

  /// Objects of a class, written as Foundation would; `make` gets the root to fill.
  private func archive(
    _ make: (inout KeyedArchiveBuilder, KeyedArchiveBuilder.Reference) -> Void
  ) -> Data {
    var builder = KeyedArchiveBuilder()
    let root = builder.reserve()
    make(&builder, root)
    return builder.data(root: root)
  }

  @Test("Archives that Foundation would trap on have no value")
  func hostileArchives() throws {
    let archives = [
      // A class that exists and is not allowed, by itself and inside of a list.
      archive { $0.fill($1, "NSAttributedString", [("NSString", .string("a"))]) },
      archive {
        let inner = $0.add("NSDateComponents", [])
        $0.fill($1, "NSArray", [("NS.objects", .array([.uid(inner.uid)]))])
      },
      archive { $0.fill($1, "NoSuchClass", []) },
      // Lists that hold themselves, at once and by way of another.
      archive { $0.fill($1, "NSArray", [("NS.objects", .array([.uid($1.uid)]))]) },
      archive {
        let inner = $0.add("NSSet", [("NS.objects", .array([.uid($1.uid)]))])
        $0.fill($1, "NSArray", [("NS.objects", .array([.uid(inner.uid)]))])
      },
      // Fields of the wrong class.
      archive { $0.fill($1, "NSUUID", [("NS.uuidbytes", .data(Data([1])))]) },
      archive { $0.fill($1, "NSMutableString", []) },
      archive {
        let list = $0.add(list: [])
        $0.fill($1, "NSURL", [("NS.base", .uid(0)), ("NS.relative", .uid(list.uid))])
      },
      // Dictionaries of which an object fails, or is none.
      archive {
        let (key, none) = ($0.add(text: "k"), $0.add("NSData", []))
        $0.fill(
          $1, "NSDictionary",
          [
            ("NS.keys", .array([.uid(key.uid), .uid(none.uid)])),
            ("NS.objects", .array([.uid(none.uid), .uid(key.uid)])),
          ])
      },
      archive {
        let key = $0.add(text: "k")
        $0.fill(
          $1, "NSMutableDictionary",
          [("NS.keys", .array([.uid(key.uid)])), ("NS.objects", .array([.uid(0)]))])
      },
      // A list in a list, of which a few that hold the next one twice stand for any number.
      archive {
        let list = PropertyListValue.array([.array([])])
        $0.fill($1, "NSArray", [("NS.objects", .array([])), ("other", list)])
      },
      // Classes that trap when they are asked whether they support secure coding, and a name with a module.
      archive { $0.fill($1, "NSOrthography", []) },
      archive { $0.fill($1, "NSTextCheckingResult", []) },
      archive { $0.fill($1, "Foundation.NSDate", [("NS.time", .real(1))]) },
      // Of a class of Foundation whose fields the gate does not check.
      archive { $0.fill($1, "NSError", [("NSDomain", .uid(0))]) },
      // Of no number: the description of that date ends the process.
      archive { $0.fill($1, "NSDate", [("NS.time", .real(.nan))]) },
      archive {
        let text = $0.add(text: "")
        $0.fill($1, "NSURL", [("NS.base", .uid(0)), ("NS.relative", .uid(text.uid))])
      },
      // Deeper than a stack.
      archive {
        var inner = $0.add(text: "x")
        for _ in 0..<50_000 { inner = $0.add(list: [inner]) }
        $0.fill($1, "NSArray", [("NS.objects", .array([.uid(inner.uid)]))])
      },
    ]
    for (index, data) in archives.enumerated() {
      #expect(AttributeCoding.decode(.data(data), for: attribute(nil)) == nil, "\(index)")
    }
  }

  /// Lets ``TransformableColor`` in.
  private final class Colors: SecureUnarchiveFromDataTransformer, @unchecked Sendable {
    override class var allowedTopLevelClasses: [AnyClass] {
      super.allowedTopLevelClasses + [TransformableColor.self]
    }
  }

  @Test("An object of the program's that refuses its data leaves no value, however deep it is")
  func refusingObjects() throws {
    for (name, comesBack) in [("red", true), (nil, false)] {
      let color = TransformableColor(name: name)
      let values: [NSObject] = [
        color, ["c": color, "n": 1] as NSDictionary, [["c": ["c": color]]] as NSArray,
        NSMutableDictionary(dictionary: ["a": color, "b": color]), NSSet(object: color),
      ]
      for value in values {
        let data = try #require(Colors().reverseTransformedValue(value) as? Data)
        let read = Colors().transformedValue(data) as? NSObject
        #expect(read == (comesBack ? value : nil), "\(name ?? "none") in \(type(of: value))")
      }
    }
  }

  @Test("Decimal numbers come back from archives, in sets too")
  func decimals() throws {
    let price = NSDecimalNumber(string: "-1234567890123456789.05")
    let values: [NSObject] = [
      price, [price, 1] as NSArray, ["p": ["q": price]] as NSDictionary,
      NSMutableDictionary(dictionary: ["p": NSMutableArray(array: [price])]),
    ]
    for value in values {
      let stored = try AttributeCoding.encode(value, for: attribute(nil))
      let read = AttributeCoding.decode(stored, for: attribute(nil)) as? NSObject
      #expect(read == value, "\(type(of: value))")
    }
    // As Apple's archives have them; Foundation's own decimals cannot be members of a set here.
    let set = archive {
      let member = $0.add(value: price)
      $0.fill($1, "NSSet", [("NS.objects", .array([.uid(member.uid)]))])
    }
    let read = AttributeCoding.decode(.data(set), for: attribute(nil)) as? NSSet
    #expect(read?.allObjects as? [NSDecimalNumber] == [price])
  }

  /// Lets everything in.
  private final class Anything: SecureUnarchiveFromDataTransformer, @unchecked Sendable {
    override class var allowedTopLevelClasses: [AnyClass] { [NSObject.self] }
  }

  @Test("However wide the list of classes, of Foundation's only those are read that cannot trap")
  func wideLists() throws {
    let archives = [
      // Each would end the process.
      archive { $0.fill($1, "NSError", [("NSDomain", .real(1))]) },
      archive { $0.fill($1, "NSDateInterval", [("NS.startDate", .uid(0))]) },
      archive {
        let text = $0.add(text: "a")
        $0.fill(
          $1, "NSOrderedSet", [("NS.object.0", .uid(text.uid)), ("NS.object.1", .real(1))])
      },
    ]
    for (index, data) in archives.enumerated() {
      #expect(Anything().transformedValue(data) == nil, "\(index)")
    }
    let values: [NSObject] = [
      NSOrderedSet(array: ["a", 1]), ["c": TransformableColor(name: "red")] as NSDictionary,
    ]
    for value in values {
      let data = try #require(Anything().reverseTransformedValue(value) as? Data)
      #expect(Anything().transformedValue(data) as? NSObject == value)
    }
  }

  @Test("What Foundation's archiver does not survive, or what would not come back, is refused")
  func unarchivableValues() throws {
    var deep: NSArray = ["a"]
    for _ in 0..<SecureArchiving.maximumDepth { deep = [deep] }
    let values: [Any] = [
      NSError(domain: "d", code: 1), [NSError(domain: "d", code: 1)],
      try NSRegularExpression(pattern: "a"), Date(timeIntervalSinceReferenceDate: .nan), deep,
    ]
    let entity = EntityDescription(name: "Shelf", properties: [attribute(nil)])
    let attribute = try #require(entity.attributesByName["value"])
    for (index, value) in values.enumerated() {
      let error = #expect(throws: AttributeCodingError.self, "\(index)") {
        try AttributeCoding.encode(value, for: attribute)
      }
      #expect(error?.description.contains("Shelf.value") == true, "\(index)")
    }
  }

  @Test("Any number of nulls comes back")
  func manyNulls() throws {
    let value = NSArray(array: (0..<500).map { _ in NSNull() } + [["a": NSNull()]])
    let stored = try AttributeCoding.encode(value, for: attribute(nil))
    let read = try #require(AttributeCoding.decode(stored, for: attribute(nil)) as? NSArray)
    #expect(read.count == 501)
  }

  @Test("Values of every allowed class come back from their archives")
  func allowedClasses() throws {
    let shared: NSArray = ["a", 1]
    let values: [NSObject] = [
      ["k": [1, 2.5], "n": NSNull()] as NSDictionary, NSSet(array: ["a", "b"]),
      NSString(string: "text"), NSNumber(value: 7), NSDate(timeIntervalSinceReferenceDate: 5),
      Data([1, 2]) as NSData, UUID() as NSUUID, [shared, shared, [] as NSArray] as NSArray,
      URL(fileURLWithPath: "/a b") as NSURL, NSMutableArray(array: [NSMutableString(string: "m")]),
      NSMutableDictionary(dictionary: ["a": NSMutableData(data: Data([3]))]),
    ]
    for value in values {
      let stored = try AttributeCoding.encode(value, for: attribute(nil))
      let read = AttributeCoding.decode(stored, for: attribute(nil)) as? NSObject
      #expect(read == value, "\(type(of: value))")
    }
  }

  @Test(
    "Archives that are not keyed are refused with what to do",
    arguments: ["NSUnarchiveFromData", "NSUnarchiveFromDataTransformerName"])
  func unkeyedArchives(name: String) throws {
    let error = try #require(throws: AttributeCodingError.self) {
      try AttributeCoding.encode("abc", for: attribute(name))
    }
    #expect(error.description.contains("name NSSecureUnarchiveFromData in the model"))
  }

  @Test("Transformers are found by their names, Foundation's own without being registered")
  func found() throws {
    let names = [
      ValueTransformerName.secureUnarchiveFromDataTransformerName,
      .keyedUnarchiveFromDataTransformerName,
    ]
    for name in names {
      #expect(ValueTransformer(forName: name) is SecureUnarchiveFromDataTransformer)
      #expect(ValueTransformer.valueTransformerNames().contains(name))
    }
    #expect(ValueTransformer(forName: .unarchiveFromDataTransformerName) == nil)
    let own = ValueTransformerName("TransformableTests.found")
    #expect(ValueTransformer(forName: own) == nil)
    let reversing = Reversing()
    ValueTransformer.setValueTransformer(reversing, forName: own)
    defer { ValueTransformer.setValueTransformer(nil, forName: own) }
    #expect(ValueTransformer(forName: own) === reversing)
  }

  @Test("A value that the transformer refuses is refused")
  func refused() {
    let name = ValueTransformerName("TransformableTests.refused")
    ValueTransformer.setValueTransformer(Reversing(), forName: name)
    defer { ValueTransformer.setValueTransformer(nil, forName: name) }
    #expect(throws: AttributeCodingError.self) {
      try AttributeCoding.encode(3, for: attribute(name.rawValue))
    }
  }

  @Test("The name of a nested class, which Foundation does not look up, leaves nothing in the log")
  func nestedClassName() async {
    let result = await #expect(
      processExitsWith: .success, observing: [\.standardErrorContent]
    ) {
      let attribute = AttributeDescription(name: "value", type: .transformable)
      attribute.attributeValueClassName = "Program.Shelf.Labels"
      _ = try AttributeCoding.encode(["a"] as NSArray, for: attribute)
    }
    let text = String(decoding: result?.standardErrorContent ?? [], as: UTF8.self)
    #expect(!text.contains("NSClassFromString"), "\(text)")
  }

  @Test("Data that is no archive has no value")
  func brokenArchive() {
    #expect(AttributeCoding.decode(.data(Data([1, 2, 3])), for: attribute(nil)) == nil)
  }
}
