import CairnContext
import CairnModel
import CairnStore
import Testing

@testable import CairnSync

/// What a plan needs to know is read in few turns, however deep records hang together.
struct KnownLoadingTests {
  @Test func aLongChainThatGoesAlongTakesFewPlans() throws {
    // Long enough for what grows with its square to be seen.
    let length = 600
    let fleet = Fleet(seed: 44, model: DeepChainTests.model(.cascade))
    let (a, b) = (try fleet.add("a"), try fleet.add("b"))
    try a.write { _ = try a.insert("Node", ["key": "root"], in: $0) }
    _ = try fleet.settle([(a, b)])
    try b.write { context in
      var parent = try b.all("Node", in: context)[0]
      for number in 0..<length {
        parent = try b.insert("Node", ["key": "\(number)", "parent": parent], in: context)
      }
    }
    try a.write { context in try a.all("Node", in: context).forEach(context.delete) }
    for site in [a, b] { try HistoryCapture(access: site.access).run() }
    let ledger = try b.access.ledger()
    let source = try a.access.ledger().storeID
    let set = try #require(
      try ChangeExporter(access: a.access, destination: ledger.storeID)
        .next(after: ledger.cursor(for: source)))
    var loading = try KnownLoading(access: b.access, ledger: ledger)
    let plan = try loading.plan(
      IncomingBatch(source: source, records: set.records),
      b.access.importSetting(ledger))
    #expect(plan.rows.count == length + 1 && plan.rows.allSatisfy { $0.kind == .delete })
    // One that asks for what goes along, one for each time that twice as much is read, and the last.
    #expect(loading.plans <= 6, "\(loading.plans)")
    #expect(plan.looks < 20 * length, "\(plan.looks)")
  }
}
