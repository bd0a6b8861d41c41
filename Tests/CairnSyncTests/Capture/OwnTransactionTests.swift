import CairnStore
import Foundation
import Testing

@testable import CairnSync

/// A capture passes over what sync itself wrote, and for few such transactions it commits nothing.
struct OwnTransactionTests {
  private let fleet = Fleet(seed: 131)

  /// Writes into one store so often, with a pass to the other after each.
  private func send(_ count: Int, from a: Fleet.Site, to b: Fleet.Site) throws {
    for number in 0..<count {
      try a.write { _ = try a.insert("Item", ["key": "k\(number)", "value": "v"], in: $0) }
      _ = try fleet.settle([(a, b)])
    }
  }

  private func newest(_ site: Fleet.Site) throws -> Int64 {
    try site.access.history().lastTransactionNumber()
  }

  @Test func aPassAfterOneThatOnlySyncWroteInCommitsNothing() throws {
    let (a, b) = (try fleet.add("a"), try fleet.add("b"))
    try send(2, from: a, to: b)
    let (inA, inB) = (try newest(a), try newest(b))
    for _ in 0..<3 { _ = try fleet.pass(a, b) }
    #expect(try newest(a) == inA && newest(b) == inB)
    #expect(try b.access.ledger().head.captured < inB)
  }

  @Test func manyOfThemArePassedOverTogether() throws {
    let (a, b) = (try fleet.add("a"), try fleet.add("b"))
    try send(40, from: a, to: b)
    let left = try b.access.ownTransactions(after: 0).count
    #expect(left <= HistoryCapture.ownTransactions && left > 0)
    #expect(
      try newest(b) - b.access.ledger().head.captured <= Int64(HistoryCapture.ownTransactions))
  }

  @Test func aProgramThatPurgesThemLeavesNoGap() throws {
    let (a, b) = (try fleet.add("a"), try fleet.add("b"))
    try send(3, from: a, to: b)
    #expect(try b.access.ledger().head.captured < newest(b))
    _ = try b.access.history().purgeHistory(before: .max, date: nil)
    _ = try fleet.settle([(a, b)])
    #expect(try b.access.ledger().head.gap == .none)
    try b.write { try b.find("Item", "k1", in: $0)?.setValue("w", forKey: "value") }
    _ = try fleet.settle([(a, b)])
    #expect(try a.picture() == b.picture() && a.picture().contains("item k1 w nil ^- []"))
  }

  @Test func whatAProgramWritesBetweenThemIsTaken() throws {
    let (a, b) = (try fleet.add("a"), try fleet.add("b"))
    for number in 0..<20 {
      try send(1 + number % 3, from: a, to: b)
      try a.write { for object in try a.all("Item", in: $0) { $0.delete(object) } }
      try b.write { _ = try b.insert("Item", ["key": "b\(number)", "value": "v"], in: $0) }
      _ = try fleet.settle([(a, b)])
      #expect(try a.picture() == ["item b\(number) v nil ^- []"])
      #expect(try a.picture() == b.picture())
      try b.write { for object in try b.all("Item", in: $0) { $0.delete(object) } }
      _ = try fleet.settle([(a, b)])
    }
  }

  @Test func whatAProgramLosesAmongThemIsAGap() throws {
    let (a, b) = (try fleet.add("a"), try fleet.add("b"))
    try send(3, from: a, to: b)
    try b.write { try b.find("Item", "k1", in: $0)?.setValue("w", forKey: "value") }
    _ = try b.access.history().purgeHistory(before: .max, date: nil)
    _ = try fleet.settle([(a, b)])
    #expect(try a.picture() == b.picture() && a.picture().contains("item k1 w nil ^- []"))
  }
}
