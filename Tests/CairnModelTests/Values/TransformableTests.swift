import Foundation
import Testing

@testable import CairnModel

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
    arguments: [nil, "", "NSSecureUnarchiveFromData", "NSSecureUnarchiveFromDataTransformerName"])
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

  @Test("A value that the transformer refuses is refused")
  func refused() {
    let name = ValueTransformerName("TransformableTests.refused")
    ValueTransformer.setValueTransformer(Reversing(), forName: name)
    defer { ValueTransformer.setValueTransformer(nil, forName: name) }
    #expect(throws: AttributeCodingError.self) {
      try AttributeCoding.encode(3, for: attribute(name.rawValue))
    }
  }

  @Test("Data that is no archive has no value")
  func brokenArchive() {
    #expect(AttributeCoding.decode(.data(Data([1, 2, 3])), for: attribute(nil)) == nil)
  }
}
