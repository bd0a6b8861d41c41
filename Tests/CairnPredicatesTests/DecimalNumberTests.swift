import Foundation
import Testing

@testable import CairnPredicates

/// Decimals as programs get them; Foundation's own cannot be hashed on Linux.
@Suite struct DecimalNumberTests {
  private func number(_ text: String) throws -> NSDecimalNumber {
    let decimal = try #require(Decimal(string: text))
    return try #require(PredicateValue.decimal(decimal).anyValue as? NSDecimalNumber)
  }

  @Test("Equal decimals hash alike, and like the plain numbers that they equal")
  func hashes() throws {
    #expect(try number("1.50").hash == number("1.5").hash)
    #expect(try number("1.5").hash == NSNumber(value: 1.5).hash)
    #expect(try number("9007199254740993").hash == NSNumber(value: 9_007_199_254_740_993).hash)
    #expect(try number("-0").hash == NSNumber(value: 0).hash)
    let none = PredicateValue.decimal(.nan).anyValue as? NSObject
    #expect(none?.hash == NSNumber(value: Double.nan).hash)
    for text in ["1e127", "-1e-120", "123456789012345678901234567890.5"] {
      #expect(try number(text).hash == number(text).hash, "\(text)")
    }
  }

  @Test("Decimals are members of sets and keys of dictionaries")
  func members() throws {
    let decimals = try ["0.1", "0.10", "2", "2.5"].map(number)
    #expect(NSSet(array: decimals).count == 3)
    #expect(Set(decimals).count == 3)
    #expect(PredicateValue(Set(decimals)).anyValue as? NSSet == NSSet(array: decimals))
    let named: [Decimal: String] = [2.5: "price"]
    let dictionary = try #require(PredicateValue(named).anyValue as? [AnyHashable: Any])
    #expect(dictionary[try number("2.5")] as? String == "price")
  }

  @Test("A decimal equals and hashes as the double nearest to it")
  func nearestDoubles() throws {
    for cents in 1..<2000 {
      let text = "\(cents / 100).\(cents % 100 < 10 ? "0" : "")\(cents % 100)"
      let decimal = PredicateValue.decimal(try #require(Decimal(string: text)))
      let double = PredicateValue.double(try #require(Double(text)))
      #expect(NumberOrder.compare(decimal, double) == .orderedSame, "\(text)")
      #expect(decimal.hashValue == double.hashValue, "\(text)")
    }
    for text in [
      "-2.01", "0", "1e22", "1e23", "-7e-23", "1e127", "9007199254740993", "0.30000000000000004",
      "123456789012345678901234567890.5", "-1e-120",
    ] {
      #expect(try number(text).doubleValue == Double(text), "\(text)")
    }
  }

  @Test("Decimals are Swift's too")
  func bridging() throws {
    let value: Any = try number("12.345")
    #expect(value as? Decimal == Decimal(string: "12.345"))
    #expect((value as? NSNumber)?.doubleValue == 12.345)
    #expect(value as? NSDecimalNumber == NSDecimalNumber(string: "12.345"))
  }
}
