import CairnModel
import Foundation

// What a record counts for where two stores are compared by all that they hold.

extension RecordState {
  /// The digest of the record's values and stamps, and of who belongs to it.
  ///
  /// Not of what may differ between equal stores: a delete that was overruled, and what writers had seen.
  ///
  /// - Parameter resolve: The record that stands for another now.
  func digest(
    with members: [String: [RecordID]], resolving resolve: (RecordID) throws -> RecordID
  ) rethrows -> DigestHash {
    var parts = DigestSum()
    try registers.visit { name, value, write in
      var part = DigestHash()
      part.add(name)
      if let target = value.reference {
        part.add(.reference(try resolve(target)))
      } else {
        part.add(value)
      }
      part.add(write.stamp)
      parts += DigestSum(part)
    }
    for (name, ids) in members {
      var part = DigestHash()
      part.add(name)
      for id in ids { part.add(id) }
      parts += DigestSum(part)
    }
    var hash = DigestHash()
    hash.add(id)
    hash.add(entity)
    if let survivor { hash.add(survivor) }
    hash.add(parts)
    return hash
  }
}

extension DigestHash {
  /// Adds a value, so that values that are stored as different bytes differ.
  mutating func add(_ value: WireValue) {
    switch value {
    case .null: add(0)
    case .boolean(let flag): add(flag ? 2 : 1)
    case .integer(let number):
      add(3)
      add(UInt64(bitPattern: number))
    case .float(let number):
      add(4)
      add(UInt64(number.bitPattern))
    case .double(let number):
      add(5)
      add(number.bitPattern)
    case .string(let text):
      add(7)
      add(text)
    case .date(let date):
      add(8)
      add(date.timeIntervalSinceReferenceDate.bitPattern)
    case .reference(let id):
      add(12)
      add(id)
    case .data(let data):
      add(9)
      add(data)
    case .decimal, .uuid, .url:
      add(6)
      add(value.canonicalBytes)
    }
  }

  mutating func add(_ data: Data) {
    data.withUnsafeBytes { bytes in
      var start = 0
      while start + 8 <= bytes.count {
        add(UInt64(bigEndian: bytes.number(at: start)))
        start += 8
      }
      var word = UInt64(bytes.count) << 56
      for index in start..<bytes.count {
        word ^= UInt64(bytes[index]) << UInt64(8 * (index - start))
      }
      add(word)
    }
  }
}
