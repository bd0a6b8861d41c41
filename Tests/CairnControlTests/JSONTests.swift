// JSON as the control protocol reads and writes it.
import CairnControl
import Testing

@Suite struct JSONTests {
  @Test(arguments: [
    "null", "true", "[]", "{}", "0", "-1", "9223372036854775807", "1.5", "\"a\\nb\"",
    "{\"a\":[1,{\"b\":null}]}", "\"\u{1F600}\"",
  ])
  func whatIsPrintedIsWhatWasRead(_ text: String) throws {
    #expect(try JSONParser.parse(text).text == text)
  }

  @Test(arguments: [
    "", "{", "[1,]", "{\"a\":1,}", "01", "1.", "+1", "nul", "\"\u{1}\"", "\"\\ud800\"",
    "\"\\ud800\\u0041\"", "1e999", "{\"a\":1,\"a\":2}", "1 2", "{a:1}", "\"\\x\"", "[1 2]", "NaN",
  ])
  func whatIsNotJSONIsRefused(_ text: String) {
    #expect(throws: JSONProblem.self) { try JSONParser.parse(text) }
  }

  @Test func bytesThatAreNotUTF8AreRefused() {
    #expect(throws: JSONProblem.self) { try JSONParser.parse([0x22, 0xFF, 0x22]) }
  }

  @Test func depthIsLimitedBeforeTheStackIs() throws {
    let deep = String(repeating: "[", count: 100_000)
    #expect(throws: JSONProblem.self) { try JSONParser.parse(deep) }
    let allowed = String(repeating: "[", count: 64) + String(repeating: "]", count: 64)
    _ = try JSONParser.parse(allowed)
  }

  @Test func sizeIsLimited() {
    let limits = JSONLimits(byteCount: 10)
    #expect(throws: JSONProblem.self) { try JSONParser.parse("\"12345678901\"", limits: limits) }
  }

  @Test func wholeNumbersBeyondTwoToThe53TravelAsText() throws {
    #expect(JSONValue.exact(Int64.max) == .string("9223372036854775807"))
    #expect(JSONValue.exact(Int64(1) << 53) == .integer(1 << 53))
    struct Holder: Codable, Equatable { var value: Int64 }
    let holder = Holder(value: .min)
    let wire = try JSONValueEncoder.encode(holder)
    #expect(wire["value"] == .string("-9223372036854775808"))
    #expect(try JSONValueDecoder.decode(Holder.self, from: wire) == holder)
  }

  @Test(arguments: [
    Double.nan, .infinity, -.infinity, -0.0, .leastNonzeroMagnitude, 1.7976931348623157e308, 0.1,
  ])
  func floatingPointNumbersComeBackBitForBit(_ value: Double) throws {
    let wire = try JSONParser.parse(JSONValue.exact(value).text)
    let back = try #require(wire.exactDouble)
    #expect(value.isNaN ? back.isNaN : back.bitPattern == value.bitPattern)
  }

  @Test(arguments: [
    "0", "-0", "0.0", "-0.0", "0.1", "-0.1", "1.50", "100.0", "9007199254740992",
    "9007199254740993", "-9223372036854775808", "9223372036854775808", "0.3333333333333333",
    "123456789012345.6", "9.007199254740993", "900719925474099.3", "0.00000000000001", "1e3",
    "2E-3",
    "0.1e1", "123456789.123456789", "0.000000000000000000000001",
  ])
  func aNumberIsTheOneNearestToItsText(_ text: String) throws {
    let whole = text == "-0" || text.contains(where: { ".eE".contains($0) }) ? nil : Int64(text)
    let number = try JSONParser.parse(text)
    if let whole {
      #expect(number == .integer(whole))
    } else {
      let double = try #require(Double(text))
      guard case .number(let value) = number else {
        Issue.record("\(number) is no floating-point number")
        return
      }
      #expect(value.bitPattern == double.bitPattern)
    }
  }

  @Test func aMessageCarriesRowsInManyForms() throws {
    let rows: JSONValue = [["a": 1], [:], ["b": ["c": nil]]]
    let wire: JSONValue = ["entity": "A", "rows": rows, "lines": [1, 2, 3]]
    let parameters = try JSONValueDecoder.decode(ImportRecords.Parameters.self, from: wire)
    #expect(parameters.rows == [["a": 1], [:], ["b": ["c": nil]]])
    #expect(try JSONValueEncoder.encode(parameters) == wire)
    let wrong: JSONValue = ["entity": "A", "rows": [["a": 1], 2], "lines": [1, 2]]
    let error = try #require(throws: DecodingError.self) {
      try JSONValueDecoder.decode(ImportRecords.Parameters.self, from: wrong)
    }
    #expect(JSONValueDecoder.memberName(of: error) == "rows[1]")
  }

  @Test func aWrongMemberIsNamed() throws {
    let wire: JSONValue = ["entity": "A", "rows": [["x": 1]], "lines": ["one"]]
    let error = try #require(throws: DecodingError.self) {
      try JSONValueDecoder.decode(ImportRecords.Parameters.self, from: wire)
    }
    #expect(JSONValueDecoder.memberName(of: error) == "lines[0]")
  }
}
