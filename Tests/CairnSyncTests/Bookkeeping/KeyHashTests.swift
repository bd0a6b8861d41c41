// How keys of the bookkeeping are spread in a ledger's table of them.

import CairnStore
import Testing

@testable import CairnSync

@Suite struct KeyHashTests {
  /// Such keys begin with the same number and name, which are longer than what of a key lies in place.
  @Test func linksOfOneCommitAreSpreadAsOtherKeysAre() {
    var generator = SeededGenerator(seed: 1)
    let keys = (0..<1000).map { _ in
      SyncKey.change(
        7,
        link: LinkKey(
          relationship: "Package.dependenciesOfTheSourcePackage",
          owner: RecordID(high: 0x0190_0000_0000_7000, low: generator.next()),
          member: RecordID(high: 0x0190_0000_0000_7000, low: generator.next())))
    }
    #expect(Set(keys.map(\.words)).count == 1)
    #expect(Set(keys.map { KeyPlaces.hash($0) }).count > 990)
  }
}
