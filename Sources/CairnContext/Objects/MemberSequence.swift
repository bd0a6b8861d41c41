/// The members of an ordered relationship in their order, each once.
///
/// A list in pieces: putting a member in or taking one out moves the members of one piece, and to
/// find where one stands the pieces are counted, not the members. A list whose middle no change has
/// touched is one piece of any length, so that reading it costs nothing more.
struct MemberSequence {
  private struct Piece {
    /// Stays the same while pieces before it come and go.
    let number: Int
    var members: [ManagedObject]
  }

  /// None of them is empty.
  private var pieces: [Piece] = []
  private(set) var count = 0
  private var nextNumber = 0
  /// The number of each member's piece; only when positions are asked for again and again.
  private var numbers: [ObjectRef: Int]?
  private var searches = 0
  /// A new piece has so many members; when there are twice as many it becomes two.
  private let pieceLength: Int

  /// So often a position is searched for before it is worth while to write down all pieces.
  private static let searchesWithoutNumbers = 8

  init(_ members: [ManagedObject] = [], pieceLength: Int = 512) {
    self.pieceLength = pieceLength
    count = members.count
    if !members.isEmpty { pieces = [makePiece(members)] }
  }

  // MARK: Reading

  /// All members, in order.
  var members: [ManagedObject] {
    if pieces.count < 2 { return pieces.first?.members ?? [] }
    var result: [ManagedObject] = []
    result.reserveCapacity(count)
    for piece in pieces { result += piece.members }
    return result
  }

  subscript(position: Int) -> ManagedObject {
    check(position)
    let (piece, offset) = place(at: position)
    return pieces[piece].members[offset]
  }

  private func check(_ position: Int) {
    // Positions come from this sequence itself or from the program's source: Foundation raises for
    // an index beyond an ordered set, and no stored order is one.
    precondition((0..<count).contains(position), "position \(position) is out of range")
  }

  /// Where a member stands; nil when it is none.
  mutating func position(of member: ManagedObject) -> Int? {
    if pieces.last?.members.last === member { return count - 1 }
    if pieces.first?.members.first === member { return 0 }
    if numbers == nil, count > pieceLength {
      searches += 1
      if searches >= Self.searchesWithoutNumbers { writeNumbers() }
    }
    let number = numbers?[ObjectRef(member)]
    if numbers != nil, number == nil { return nil }
    var before = 0
    for index in pieces.indices {
      if number == nil || number == pieces[index].number {
        let offset = pieces[index].members.firstIndex { $0 === member }
        if let offset { return before + offset }
      }
      before += pieces[index].members.count
    }
    return nil
  }

  /// The piece and the place in it of a position that is not the end.
  private func place(at position: Int) -> (piece: Int, offset: Int) {
    if position == count - 1, let last = pieces.last {
      return (pieces.count - 1, last.members.count - 1)
    }
    var (piece, offset) = (0, position)
    while offset >= pieces[piece].members.count {
      offset -= pieces[piece].members.count
      piece += 1
    }
    return (piece, offset)
  }

  // MARK: Changing

  /// The member is none yet.
  mutating func append(_ member: ManagedObject) {
    if let last = pieces.indices.last, last == 0 || pieces[last].members.count < pieceLength {
      pieces[last].members.append(member)
      numbers?[ObjectRef(member)] = pieces[last].number
    } else {
      pieces.append(makePiece([member]))
    }
    count += 1
  }

  /// The member is none yet.
  mutating func insert(_ member: ManagedObject, at position: Int) {
    if position == count { return append(member) }
    check(position)
    cutLongPiece()
    let (piece, offset) = place(at: position)
    pieces[piece].members.insert(member, at: offset)
    numbers?[ObjectRef(member)] = pieces[piece].number
    count += 1
    guard pieces[piece].members.count > 2 * pieceLength else { return }
    let second = makePiece(Array(pieces[piece].members[pieceLength...]))
    pieces[piece].members.removeSubrange(pieceLength...)
    pieces.insert(second, at: piece + 1)
  }

  mutating func remove(at position: Int) {
    check(position)
    if position < count - 1 { cutLongPiece() }
    let (piece, offset) = place(at: position)
    let member = pieces[piece].members.remove(at: offset)
    numbers?[ObjectRef(member)] = nil
    count -= 1
    if pieces[piece].members.isEmpty { pieces.remove(at: piece) }
    // Many short pieces cost as much as many members.
    if pieces.count > 8, count < pieces.count * pieceLength / 4 { cut() }
  }

  // MARK: Pieces

  private mutating func makePiece(_ members: [ManagedObject]) -> Piece {
    let number = nextNumber
    nextNumber += 1
    if numbers != nil { for member in members { numbers?[ObjectRef(member)] = number } }
    return Piece(number: number, members: members)
  }

  /// Only a list of one piece has one that is too long.
  private mutating func cutLongPiece() {
    if pieces.count == 1, count > 2 * pieceLength { cut() }
  }

  private mutating func cut() {
    let all = members
    pieces = []
    for start in stride(from: 0, to: all.count, by: pieceLength) {
      pieces.append(makePiece(Array(all[start..<min(start + pieceLength, all.count)])))
    }
  }

  private mutating func writeNumbers() {
    var numbers: [ObjectRef: Int] = [:]
    numbers.reserveCapacity(count)
    self.numbers = nil
    cutLongPiece()
    for piece in pieces {
      for member in piece.members { numbers[ObjectRef(member)] = piece.number }
    }
    self.numbers = numbers
  }
}
