// The row that every contestant writes and reads: ten attributes, about 130 bytes.

import Foundation

/// One row of sample data; the same for every contestant and run.
struct Sample: Sendable {
  let number: Int64
  let group: Int64
  var count: Int64
  let ratio: Double
  let weight: Double
  let code: String
  let name: String
  var title: String
  let created: Double
  /// Nil in half of the rows.
  let payload: Data?

  init(_ index: Int) {
    number = Int64(index)
    group = Int64(index / 50)
    count = Int64(index &* 7 % 1000)
    ratio = Double(index) / 3
    weight = Double(index % 977) * 1.5
    code = String(format: "c%07d", index)
    name = String(format: "name-%07d", index)
    title = String(format: "A title of row %07d.", index)
    created = 700_000_000 + Double(index)
    payload = index % 2 == 0 ? Data(repeating: UInt8(truncatingIfNeeded: index), count: 32) : nil
  }

  static func rows(_ count: Int) -> [Sample] { (0..<count).map(Sample.init) }
}
