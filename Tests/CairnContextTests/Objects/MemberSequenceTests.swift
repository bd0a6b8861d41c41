// The list behind an ordered relationship, against a plain array.
import CairnModel
import Testing

@testable import CairnContext

/// Chapter 8.4 of the specification asks for an order; this is what keeps it.
@Suite struct MemberSequenceTests {
  /// One change of both, and the words for it.
  private func change(
    _ sequence: inout MemberSequence, _ list: inout [ManagedObject], rest: inout [ManagedObject],
    growing: Bool, _ random: inout SeededGenerator
  ) -> String {
    func place(_ count: Int) -> Int {
      [0, count, Int.random(in: 0...count, using: &random)].randomElement(using: &random) ?? 0
    }
    if Int.random(in: 0..<10, using: &random) < (growing ? 7 : 3), let new = rest.popLast() {
      let position = place(list.count)
      list.insert(new, at: position)
      if position == sequence.count, Bool.random(using: &random) {
        sequence.append(new)
      } else {
        sequence.insert(new, at: position)
      }
      return "insert at \(position)"
    }
    if list.isEmpty { return "nothing" }
    let position = min(place(list.count), list.count - 1)
    let gone = list.remove(at: position)
    rest.insert(gone, at: 0)
    sequence.remove(at: position)
    return "remove at \(position)"
  }

  @Test(arguments: [1, 2, 5, 40], RandomisedTests.seeds)
  func aListInPiecesIsTheSameAsAPlainOne(pieceLength: Int, seed: UInt64) throws {
    print("seed \(seed)")
    var random = SeededGenerator(seed: seed)
    try WorkshopStack().use { context in
      var rest = (0..<400).map { _ in context.make("Piece") }
      var list = Array(rest.suffix(Int.random(in: 0...150, using: &random)))
      rest.removeLast(list.count)
      var sequence = MemberSequence(list, pieceLength: pieceLength)
      for step in 0..<1500 {
        let what = change(
          &sequence, &list, rest: &rest, growing: (step / 300).isMultiple(of: 2), &random)
        let hint: Comment = "seed \(seed), step \(step), \(what)"
        try #require(sequence.count == list.count, hint)
        if let place = list.indices.randomElement(using: &random) {
          try #require(sequence[place] === list[place], hint)
          try #require(sequence.position(of: list[place]) == place, hint)
        }
        if let stranger = rest.first { try #require(sequence.position(of: stranger) == nil, hint) }
        if step % 10 == 0 {
          try #require(sequence.members == list, hint)
        }
      }
    }
  }

  @Test func aCopyStaysAsItWas() throws {
    try WorkshopStack().use { context in
      let list = (0..<40).map { _ in context.make("Piece") }
      var sequence = MemberSequence(list, pieceLength: 4)
      sequence.remove(at: 3)
      let before = sequence
      for _ in 0..<30 { sequence.remove(at: 1) }
      #expect(before.count == 39 && before.members == Array(list[..<3] + list[4...]))
      #expect(sequence.members == [list[0]] + list.suffix(8))
    }
  }
}
