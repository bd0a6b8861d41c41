import Foundation

/// What stands in the change order at a number that something has left: how far a reader has to go to
/// have all of a transaction.
struct MovedMark: Hashable, Sendable {
  /// The greatest number that something went to.
  var target: UInt64
  /// The number of the last transaction that is torn apart by it: who is past that has had it whole.
  var debt: UInt64

  init(target: UInt64, debt: UInt64) {
    self.target = target
    self.debt = debt
  }

  // Bytes: target 8 · debt 8 (none from versions that marked every number: its own)
  init(at number: UInt64, _ data: Data) throws {
    var reader = ByteReader(data)
    target = try reader.sequence()
    debt = reader.isAtEnd ? number : try reader.sequence()
  }

  var encoded: Data { SyncKey.number(target) + SyncKey.number(debt) }
}

/// Which marks the moves of one commit leave.
///
/// What is alone at its number leaves none: its transactions are whole wherever it goes. What leaves others
/// behind does, and from then on wherever it goes, so that who has not had the transaction they shared
/// follows it.
struct ChangeMoves {
  /// A number as it was before the commit.
  struct Place {
    /// How much stood there, what leaves it included.
    let members: Int
    /// The debt of the mark there; nil without one.
    let debt: UInt64?
  }

  private(set) var marks: [UInt64: MovedMark] = [:]

  /// - Parameters:
  ///   - moves: Where those that leave a number go.
  ///   - placed: The numbers at which the commit leaves something.
  ///   - stored: The numbers among those that are left that stood before the commit.
  init(_ moves: [UInt64: [UInt64]], placed: Set<UInt64>, stored: [UInt64: Place]) {
    var debts: [UInt64: UInt64] = [:]
    for (old, targets) in moves.sorted(by: { $0.key < $1.key }) {
      let place = stored[old]
      let staysSomething = place.map { $0.members != targets.count } ?? placed.contains(old)
      let isTorn = staysSomething || Set(targets).count > 1
      guard let debt = isTorn ? old : debts[old] ?? place?.debt else { continue }
      marks[old] = MovedMark(target: targets.max() ?? old, debt: debt)
      for target in targets { debts[target] = max(debts[target] ?? 0, debt) }
    }
    for (number, debt) in debts where marks[number] == nil {
      marks[number] = MovedMark(target: number, debt: debt)
    }
  }
}
