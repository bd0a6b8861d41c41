import CairnStore
import Foundation
import Testing

@testable import CairnSync

/// Specification: sync.md 5, "Identity before exchange": one row, one record.
struct RowIdentityTests {
  private let birth = RowBirth(
    transaction: 7, date: Date(timeIntervalSinceReferenceDate: 6e8 + 1 / 3))
  private func id(_ store: String, _ row: String, _ birth: RowBirth?) -> RecordID {
    RowIdentity(store: store, row: Data(row.utf8), birth: birth).recordID
  }

  @Test func aRowHasOneRecordIDWhereverItsBirthWasReadFrom() throws {
    let kept = try #require(RowBirth(decoding: birth.encoded))
    #expect(kept == birth)
    #expect(id("s", "r", kept) == id("s", "r", birth))
  }

  @Test func anotherStoreOrKeyOrBirthIsAnotherRecord() {
    let all: [RecordID] = [
      id("s", "r", birth), id("t", "r", birth), id("s", "q", birth), id("s", "r", nil),
      id("s", "r", RowBirth(transaction: 8, date: birth.date)),
      id("s", "r", RowBirth(transaction: 7, date: birth.date + 0.001)),
    ]
    #expect(Set(all).count == all.count)
  }

  @Test func bytesThatAreNoBirthAreNone() {
    for count in [0, 8, 15, 17] { #expect(RowBirth(decoding: Data(count: count)) == nil) }
  }

  @Test(arguments: [-1e300, .infinity, -.infinity, .nan, 1e300])
  func aBirthWhoseDateIsNonsenseHasARecordIDAllTheSame(seconds: Double) throws {
    let wild = RowBirth(transaction: 1, date: Date(timeIntervalSinceReferenceDate: seconds))
    let kept = try #require(RowBirth(decoding: wild.encoded))
    #expect(id("s", "r", kept) == id("s", "r", wild))
  }

  /// A purge keeps births under the keys by which sync looks for them.
  @Test func birthsLieUnderTheKeysOfRowsThatAreTakenUp() throws {
    let fleet = Fleet(seed: 1)
    let site = try fleet.add("a")
    try site.write { _ = try site.insert("Item", ["key": "k"], in: $0) }
    let change = try #require(try site.access.history().readHistory(.init()).first?.changes.first)
    let key = try #require(RowBirth.key(of: change.objectID))
    #expect(SyncKey.object(change.objectID) == SidecarKey(map: RowBirth.takenUpMap, key: key))
    #expect(SyncKey.birth(change.objectID) == SidecarKey(map: RowBirth.map, key: key))
    _ = try site.access.history().purgeHistory(before: .max, date: nil)
    let sidecar = try #require(site.store.capabilities.sidecar)
    func births() throws -> [Data] {
      try sidecar.sidecarEntries(of: RowBirth.map, from: nil, to: nil, limit: 0).map(\.key)
    }
    #expect(try births() == [key])
    try HistoryCapture(access: site.access).run()
    #expect(try births().isEmpty)
  }
}
