import CairnStore
import Foundation
import Testing

@testable import CairnSync

/// History in which sync alone has written is looked at once; what tells sync's transactions apart stays as long as
/// they are not passed over.
struct PassedOverTests {
  @Test func onlyWhatWasPassedOverIsForgotten() throws {
    let fleet = Fleet(seed: 12)
    let a = try fleet.add("a")
    try HistoryCapture(access: a.access).run()
    func own() throws -> [Int64] { try a.access.ownTransactions(after: 0).sorted() }
    func commit(_ change: (Ledger) -> Void) throws {
      let ledger = try a.access.ledger()
      change(ledger)
      #expect(try a.access.commit(ledger))
    }
    for number in 101...103 as ClosedRange<Int64> {
      try commit { $0.put(SyncKey.own(number), Data()) }
    }
    try commit { ledger in
      ledger.passOver([101, 102, 103], upTo: 102)
      // Another look that came less far takes nothing back.
      ledger.passOver([101], upTo: 101)
    }
    #expect(try own().filter { $0 > 100 } == [103], "it would be taken for a program's")
    #expect(try a.access.ledger().head.captured == 102)
  }
}
