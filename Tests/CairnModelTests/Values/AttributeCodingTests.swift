import CairnModel
import Foundation
import Testing

/// What attributes take.
@Suite struct AttributeCodingTests {
  private let price = AttributeDescription(name: "price", type: .decimal)

  @Test("A number of another kind becomes the decimal that it shows")
  func decimals() throws {
    let numbers: [(Any, String)] = [
      (3.133, "3.133"), (Float(0.1), "0.1"), (Int64.max, "9223372036854775807"),
      (UInt64.max, "18446744073709551615"), (NSNumber(value: 0.1 + 0.2), "0.30000000000000004"),
      (NSDecimalNumber(string: "12.50"), "12.5"), (true, "1"),
    ]
    for (number, text) in numbers {
      let expected = try #require(Decimal(string: text))
      #expect(try AttributeCoding.encode(number, for: price) == .decimal(expected))
    }
  }

  @Test("A number that no decimal stands for is refused", arguments: [Double.infinity, -1e300])
  func unacceptable(number: Double) {
    #expect(throws: AttributeCodingError.self) {
      try AttributeCoding.encode(number, for: price)
    }
  }
}
