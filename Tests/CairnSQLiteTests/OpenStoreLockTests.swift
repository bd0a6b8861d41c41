// What looking at the file of an open store does to its locks.

import CairnModel
import CairnStore
import Foundation
import Testing

@testable import CairnSQLite

/// A process that closes a file loses all locks that it has on it; without them another process that
/// closes the store takes the log away under the open one.
@Suite struct OpenStoreLockTests {
  /// The locks that processes have on a file.
  ///
  /// What the kernel names of the store's locks, read until that is enough.
  ///
  /// It skips entries while others come and go, so one reading may miss a lock that is held.
  private func locks(
    on url: URL, until isEnough: (Set<String>) -> Bool
  ) throws -> Set<String> {
    let facts = try FileManager.default.attributesOfItem(atPath: url.path)
    let number = try #require(facts[.systemFileNumber] as? NSNumber)
    var locks: Set<String> = []
    for attempt in 1...500 {
      let lines = try String(contentsOfFile: "/proc/locks", encoding: .utf8).split(separator: "\n")
      locks.formUnion(
        lines.filter { $0.contains(":\(number) ") }.map { String($0.drop { $0 != ":" }) })
      if attempt >= 5, isEnough(locks) { break }
    }
    return locks
  }

  @Test func lookingAtAnOpenStoreKeepsItsLocks() throws {
    let fixture = try StoreFixture()
    try fixture.insert([try fixture.row("Company", ["name": .string("c")])])
    let before = try locks(on: fixture.url) { !$0.isEmpty }
    try #require(!before.isEmpty)
    _ = try SQLiteStoreKind().metadata(at: fixture.url, options: StoreOptions())
    #expect(try locks(on: fixture.url, until: before.isSubset).isSuperset(of: before))
    _ = try StoreInspection(contentsOf: fixture.url)
    #expect(try locks(on: fixture.url, until: before.isSubset).isSuperset(of: before))
  }
}
