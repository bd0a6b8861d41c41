// Values survive the wire.

import CairnControl
import CairnModel
import CairnRecords
import Foundation
import Testing

@Suite struct RecordCodingTests {
  private static func attribute(_ type: AttributeType) -> AttributeDescription {
    AttributeDescription(name: "value", type: type)
  }

  @Test(arguments: [
    (AttributeType.integer64, AttributeValue.integer(.max)), (.integer16, .integer(-32768)),
    (.boolean, .boolean(true)), (.double, .double(0.1)), (.double, .double(-.infinity)),
    (.float, .float(1.5)), (.string, .string("a\u{0}\"\\ü")), (.uuid, .uuid(UUID())),
    (.date, .date(Date(timeIntervalSinceReferenceDate: 700_000_000.123456))),
    (.date, .date(Date(timeIntervalSinceReferenceDate: 3e14))),
    (.date, .date(Date(timeIntervalSinceReferenceDate: -1e300))),
    (.date, .date(Date(timeIntervalSinceReferenceDate: .infinity))),
    (.binaryData, .data(Data([0, 255, 1]))),
    (.decimal, .decimal(Decimal(string: "12345678901234567890.123") ?? 0)),
    (.string, .null),
  ])
  func everyValueComesBack(type: AttributeType, value: AttributeValue) throws {
    let attribute = Self.attribute(type)
    let back = try RecordCoding.value(RecordCoding.json(value), for: attribute)
    #expect(back.isSameStoredValue(as: value))
  }

  @Test(arguments: [
    (AttributeType.integer16, JSONValue.integer(40000)), (.integer64, .string("twelve")),
    (.boolean, .string("yes")), (.date, .string("yesterday")), (.decimal, .string("1,5")),
    (.date, .integer(1_795_942_744)), (.date, .string("NaN")),
    (.uuid, .string("no")), (.binaryData, .string("***")), (.string, .integer(1)),
  ])
  func aWrongValueIsRefused(type: AttributeType, json: JSONValue) {
    #expect(throws: RecordCodingError.self) {
      try RecordCoding.value(json, for: Self.attribute(type))
    }
  }
}
