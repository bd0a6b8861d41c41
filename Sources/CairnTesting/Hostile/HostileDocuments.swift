import Foundation

/// Damages files: any bytes, XML documents in their values and elements, binary property lists in
/// the order of their objects.
package enum HostileDocuments {
  /// Bytes changed, taken out, put in, or cut off.
  package static func damage(_ data: Data, using numbers: inout some RandomNumberGenerator) -> Data
  {
    var result = [UInt8](data)
    for _ in 0..<Int.random(in: 1...6, using: &numbers) where !result.isEmpty {
      let place = Int.random(in: result.indices, using: &numbers)
      switch Int.random(in: 0..<8, using: &numbers) {
      case 0: result.removeSubrange(place...)
      case 1: result.remove(at: place)
      case 2: result.insert(UInt8.random(in: 0...255, using: &numbers), at: place)
      case 3: result[place] ^= 1 << UInt8.random(in: 0..<8, using: &numbers)
      case 4: result[place] = [0, 1, 0x7F, 0x80, 0xFF].randomElement(using: &numbers) ?? 0
      default: result[place] = UInt8.random(in: 0...255, using: &numbers)
      }
    }
    return Data(result)
  }

  // MARK: XML

  private static let values: [String] = [
    "", " ", "0", "-1", "1", "YES", "NO", "maybe", "9223372036854775807", "9223372036854775808",
    "-9223372036854775808", "99999999999999999999999999", "1e308", "-1e400", "nan", "inf", "0.5",
    "2147483648", "Item", "Thing", "Box", "Tag", "Part", "name", "box", "tags", "parts", "self",
    "entity", "objectID", "hash", "a.b", ".", "a'b", "a&quot;b", "a;b", "&#233;", "\u{202E}", "💥",
    "&lt;a&gt;", "Z_PK", "Integer 16", "Integer 64", "Decimal", "Double", "Boolean", "Date",
    "Binary", "UUID", "URI", "Transformable", "ObjectID", "Composite", "Undefined", "String",
    "Cascade", "Deny", "No Action", "Nullify", "name == ", "tags.@count > 0 AND ANY",
    "count:(tags)",
    "now()", "SELF MATCHES '['", "(((((((((", "SUBQUERY(tags, $t, $t.name = 'x').@count",
    "NSManagedObject", "REPLACE_AT_RUNTIME.X", "x x x", "o1 o2 o3", "z1", "class", "category",
    "AAAA", "YnBsaXN0MDA=", String(repeating: "n", count: 5000),
  ]

  private static let names: [String] = [
    "name", "parentEntity", "attributeType", "toMany", "maxCount", "minCount", "ordered",
    "destinationEntity", "inverseName", "inverseEntity", "deletionRule", "optional", "transient",
    "derived", "derivationExpression", "composite", "defaultValueString", "minValueString",
    "maxValueString", "regularExpressionString", "defaultDateTimeInterval", "elementID",
    "versionHashModifier", "isAbstract", "customClassName", "valueTransformerName", "fetchLimit",
    "predicateString", "idrefs", "type", "id",
  ]

  /// A document with some values exchanged, some attributes renamed, some lines moved, repeated or
  /// left out; sometimes with damaged bytes.
  package static func damageXML(
    _ text: String, using numbers: inout some RandomNumberGenerator
  ) -> Data {
    if Int.random(in: 0..<6, using: &numbers) == 0 {
      return damage(Data(text.utf8), using: &numbers)
    }
    var lines = text.split(separator: "\n", omittingEmptySubsequences: false).map(String.init)
    for _ in 0..<Int.random(in: 1...4, using: &numbers) where lines.count > 3 {
      let place = Int.random(in: 1..<lines.count, using: &numbers)
      switch Int.random(in: 0..<12, using: &numbers) {
      case 0: lines.remove(at: place)
      case 1: lines.insert(lines[Int.random(in: 1..<lines.count, using: &numbers)], at: place)
      case 2: lines.swapAt(place, Int.random(in: 1..<lines.count, using: &numbers))
      case 3:
        lines[place] = lines[place].replacingOccurrences(
          of: "/>", with: " \(name(&numbers))=\"\(value(&numbers))\"/>")
      default:
        // Most lines have values; others are passed over.
        for _ in 0..<5 {
          let index = Int.random(in: 1..<lines.count, using: &numbers)
          if change(&lines[index], &numbers) { break }
        }
      }
    }
    return Data(lines.joined(separator: "\n").utf8)
  }

  private static func value(_ numbers: inout some RandomNumberGenerator) -> String {
    values.randomElement(using: &numbers) ?? ""
  }

  private static func name(_ numbers: inout some RandomNumberGenerator) -> String {
    names.randomElement(using: &numbers) ?? ""
  }

  /// Changes one `name="value"`, or the text of an element; false when a line has none.
  private static func change(
    _ line: inout String, _ numbers: inout some RandomNumberGenerator
  ) -> Bool {
    var parts = line.split(separator: "\"", omittingEmptySubsequences: false).map(String.init)
    guard parts.count >= 3 else {
      guard let open = line.firstIndex(of: ">"), let close = line.lastIndex(of: "<"), open < close
      else { return false }
      line.replaceSubrange(line.index(after: open)..<close, with: value(&numbers))
      return true
    }
    let index = Int.random(in: 0..<(parts.count / 2), using: &numbers) * 2
    if Int.random(in: 0..<6, using: &numbers) == 0, parts[index].hasSuffix("=") {
      let head = parts[index].lastIndex(of: " ").map { parts[index][...$0] } ?? ""
      parts[index] = "\(head)\(name(&numbers))="
    } else {
      parts[index + 1] = value(&numbers)
    }
    line = parts.joined(separator: "\"")
    return true
  }

  // MARK: Binary property lists

  /// A binary property list some of whose objects are where others should be, so that its whole
  /// form is sound and everything in it is of the wrong type, missing or goes round in circles.
  package static func damageList(
    _ data: Data, using numbers: inout some RandomNumberGenerator
  ) -> Data {
    var bytes = [UInt8](data)
    guard bytes.count > 40 else { return data }
    func number(_ at: Int, _ size: Int) -> Int {
      bytes[at..<(at + size)].reduce(0) { $0 << 8 | Int($1) }
    }
    let trailer = bytes.count - 32
    let size = Int(bytes[trailer + 6])
    let count = number(trailer + 8, 8)
    let table = number(trailer + 24, 8)
    for _ in 0..<Int.random(in: 1...8, using: &numbers) {
      let (to, from) = (
        Int.random(in: 0..<count, using: &numbers), Int.random(in: 0..<count, using: &numbers)
      )
      let (target, source) = (table + to * size, table + from * size)
      switch Int.random(in: 0..<4, using: &numbers) {
      case 0:
        // One object in place of another.
        for index in 0..<size { bytes[target + index] = bytes[source + index] }
      case 1:
        // A UID that leads elsewhere, a number that is another, a text with another letter.
        let offset = number(target, size)
        let kind = bytes[offset] >> 4
        guard [0x1, 0x2, 0x3, 0x5, 0x8].contains(kind) else { continue }
        bytes[offset + 1] = UInt8.random(in: 0...255, using: &numbers)
      case 2:
        // A member of a container that is another object.
        let offset = number(target, size)
        let length = Int(bytes[offset] & 0x0F)
        guard [0xA, 0xC, 0xD].contains(bytes[offset] >> 4), (1..<15).contains(length) else {
          continue
        }
        let width = Int(bytes[trailer + 7])
        let place = offset + 1 + Int.random(in: 0..<length, using: &numbers) * width
        for index in 0..<width {
          bytes[place + index] = UInt8(truncatingIfNeeded: from >> (8 * (width - 1 - index)))
        }
      default:
        for index in 0..<size { bytes.swapAt(target + index, source + index) }
      }
    }
    return Data(bytes)
  }
}
