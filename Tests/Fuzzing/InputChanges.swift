import CairnTesting
import Foundation

/// Changes inputs at random: bits, numbers at their limits, pieces that go, come twice or from another input.
struct InputChanges {
  private var numbers: SeededNumbers

  init(seed: UInt64) { numbers = SeededNumbers(seed: seed) }

  private static let bytes: [UInt8] = [0, 1, 0x7F, 0x80, 0xFF, 0x22, 0x27, 0x28, 0x5C, 0x7B, 0x3C]

  mutating func next(of inputs: [Data]) -> Data {
    var input = [UInt8](inputs.randomElement(using: &numbers) ?? Data())
    for _ in 0..<Int.random(in: 1...8, using: &numbers) { change(&input, inputs) }
    return Data(input)
  }

  private mutating func change(_ input: inout [UInt8], _ inputs: [Data]) {
    guard !input.isEmpty else {
      input.append(UInt8.random(in: 0...255, using: &numbers))
      return
    }
    let place = Int.random(in: input.indices, using: &numbers)
    let length = min(Int.random(in: 1...32, using: &numbers), input.count - place)
    switch Int.random(in: 0..<9, using: &numbers) {
    case 0: input[place] ^= 1 << UInt8.random(in: 0..<8, using: &numbers)
    case 1: input[place] = Self.bytes.randomElement(using: &numbers) ?? 0
    case 2: input[place] = UInt8.random(in: 0...255, using: &numbers)
    case 3: input.removeSubrange(place..<place + length)
    case 4: input.insert(contentsOf: input[place..<place + length], at: place)
    case 5: input.removeSubrange(place...)
    case 6:
      for index in place..<place + length {
        input[index] = UInt8.random(in: 0...255, using: &numbers)
      }
    case 7:
      // Many times the same: what is nested, counted or doubled.
      let piece = Array(input[place..<place + length])
      let times = Int.random(in: 2...200, using: &numbers)
      if input.count + piece.count * times < 1 << 18 {
        input.insert(
          contentsOf: repeatElement(piece, count: times).joined(), at: place)
      }
    default:
      guard let other = inputs.randomElement(using: &numbers), !other.isEmpty else { return }
      let start = Int.random(in: 0..<other.count, using: &numbers)
      let end = min(other.count, start + Int.random(in: 1...256, using: &numbers))
      input.insert(
        contentsOf: other[other.startIndex + start..<other.startIndex + end], at: place)
    }
  }
}
