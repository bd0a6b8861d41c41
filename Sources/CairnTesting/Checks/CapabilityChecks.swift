import CairnModel
import CairnStore
import Foundation

/// What some stores can do beyond rows and saves, for those that can.
enum CapabilityChecks {
  private static func key(_ text: String, map: String = "suite") -> SidecarKey {
    SidecarKey(map: map, key: Data(text.utf8))
  }
  private static func data(_ text: String) -> Data { Data(text.utf8) }

  static let all: [ConformanceCheck] = [
    ConformanceCheck("a store names what it has the methods for") { probe in
      let (store, named) = (probe.store, probe.store.capabilities)
      let entries: [(String, hasMethods: Bool, isNamed: Bool)] = [
        ("history", store is any HistoryKeeping, named.history != nil),
        ("sidecar", store is any SidecarKeeping, named.sidecar != nil),
        ("batches", store is any BatchExecuting, named.batches != nil),
        ("generations", store is any GenerationKeeping, named.generations != nil),
        ("commits", store is any CommitWatching, named.commits != nil),
        ("exclusiveWrites", store is any WriteHolding, named.exclusiveWrites != nil),
        ("members", store is any MemberReading, named.members != nil),
        ("rows", store is any RowScanning, named.rows != nil),
        ("explanations", store is any FetchExplaining, named.explanations != nil),
        ("registrations", store is any RegistrationObserving, named.registrations != nil),
        ("failures", store is any FailureReporting, named.failures != nil),
        ("integrity", store is any IntegrityChecking, named.integrity != nil),
        ("place", store is any PlaceChecking, named.place != nil),
        ("resources", store is any ResourceReleasing, named.resources != nil),
        ("rowKeys", store is any RowKeyReserving, named.rowKeys != nil),
        ("writer", store is any WriterReporting, named.writer != nil),
      ]
      for entry in entries where entry.hasMethods {
        probe.expect(entry.isNamed, "capabilities leaves out \(entry.0)")
      }
      let migrates = type(of: store) is any InPlaceMigrating.Type
      probe.expect(
        !migrates || type(of: store).inPlaceMigration != nil, "inPlaceMigration is left out")
    },
    ConformanceCheck("sidecar entries commit with the rows") { probe in
      guard let keeper = probe.store.capabilities.sidecar else { return }
      let row = try probe.newRow("Person", ["name": .string("a")])
      try probe.save {
        $0.insertions = [.init(snapshot: row)]
        $0.sidecar = [.put(key("a"), data("1")), .put(key("b"), data("2"))]
      }
      probe.expectEqual(
        try keeper.sidecarValues(for: [key("b"), key("x"), key("a")]),
        [data("2"), nil, data("1")], "values")
      try probe.save { $0.sidecar = [.remove(key("a")), .put(key("b"), data("3"))] }
      probe.expectEqual(
        try keeper.sidecarValues(for: [key("a"), key("b")]), [nil, data("3")], "changed values")
    },
    ConformanceCheck("a requirement that does not hold stops the whole save") { probe in
      guard let keeper = probe.store.capabilities.sidecar else { return }
      try probe.save { $0.sidecar = [.put(key("a"), data("1"))] }
      let row = try probe.newRow("Person", ["name": .string("a")])
      let outcome = try probe.attempt {
        $0.insertions = [.init(snapshot: row)]
        $0.sidecar = [.require(key("a"), data("0")), .put(key("b"), data("2"))]
      }
      if case .sidecarChanged(let changed) = outcome {
        probe.expectEqual(changed, key("a"), "key")
      } else {
        probe.fail("expected sidecarChanged, found \(outcome)")
      }
      probe.expectEqual(try probe.fetch("Person").count, 0, "rows")
      probe.expectEqual(try keeper.sidecarValues(for: [key("b")]), [nil], "other entry")
      try probe.save {
        $0.sidecar = [.require(key("a"), data("1")), .require(key("b"), nil)]
      }
    },
    ConformanceCheck("sidecar entries of a refused save are not written") { probe in
      guard let keeper = probe.store.capabilities.sidecar else { return }
      let row = try probe.insert("Person", ["name": .string("a")])
      try probe.save { $0.deletions = [.init(snapshot: row)] }
      let update = try probe.update(row, ["name": .string("b")])
      _ = try probe.attempt {
        $0.updates = [update]
        $0.sidecar = [.put(key("a"), data("1"))]
      }
      probe.expectEqual(try keeper.sidecarValues(for: [key("a")]), [nil], "entry")
    },
    ConformanceCheck("sidecar ranges are ordered by bytes") { probe in
      guard let keeper = probe.store.capabilities.sidecar else { return }
      let keys = [Data([2]), Data([0, 255]), Data([255]), Data([0]), Data([1, 0])]
      try probe.save {
        $0.sidecar = keys.map { .put(SidecarKey(map: "suite", key: $0), $0) }
        $0.sidecar += [.put(key("a", map: "other"), data("1"))]
      }
      let all = try keeper.sidecarEntries(of: "suite", from: nil, to: nil, limit: 0)
      let order = [Data([0]), Data([0, 255]), Data([1, 0]), Data([2]), Data([255])]
      probe.expectEqual(all.map(\.key), order, "all")
      probe.expectEqual(all.map(\.value), order, "values")
      let middle = try keeper.sidecarEntries(
        of: "suite", from: Data([0, 255]), to: Data([2]), limit: 0)
      probe.expectEqual(middle.map(\.key), Array(order[1..<3]), "a range")
      let first = try keeper.sidecarEntries(of: "suite", from: Data([1]), to: nil, limit: 1)
      probe.expectEqual(first.map(\.key), [Data([1, 0])], "with a limit")
    },
    ConformanceCheck("sidecar entries can be put by the run") { probe in
      guard let keeper = probe.store.capabilities.sidecar else { return }
      var run = SidecarRun(
        map: "suite", key: [0x61] + [UInt8](repeating: 0, count: 8), value: [7, 7], capacity: 40)
      for number in 0..<40 as Range<UInt64> {
        run.append()
        run.set(number * 1000, at: 1)
      }
      let known = SidecarKey(map: "suite", key: Data([0x61, 0, 0, 0, 0, 0, 0, 0x03, 0xE8]))
      try probe.save { $0.sidecar = [.put(known, data("old"))] }
      try probe.save { $0.sidecar = [.putAll(run)] }
      let all = try keeper.sidecarEntries(of: "suite", from: nil, to: nil, limit: 0)
      probe.expectEqual(all.count, 40, "entries")
      probe.expectEqual(Set(all.map(\.value)), [Data([7, 7])], "values")
      probe.expectEqual(all.map(\.key).dropFirst().first, known.key, "a key")
      let keys = all.map { SidecarKey(map: "suite", key: $0.key) }
      let others = keys.map { SidecarKey(map: "suite", key: $0.key + Data([1])) }
      let asked = zip(keys, others).flatMap { [$0, $1] }
      let found = try keeper.sidecarValues(for: asked)
      probe.expectEqual(found, asked.map { $0.count == 9 ? Data([7, 7]) : nil }, "in their order")
      let reversed = try keeper.sidecarValues(for: asked.reversed())
      probe.expectEqual(reversed, found.reversed(), "in another order")
    },
    ConformanceCheck("a sidecar entry can stand under the transaction that it commits with") {
      probe in
      guard let keeper = probe.store.capabilities.sidecar,
        let history = probe.store.capabilities.history
      else { return }
      try probe.save { $0.sidecar = [.putAtTransaction(map: "suite", data("alone"))] }
      let row = try probe.newRow("Person", ["name": .string("a")])
      try probe.save {
        $0.insertions = [.init(snapshot: row)]
        $0.sidecar = [.putAtTransaction(map: "suite", data("with a row"))]
      }
      let entries = try keeper.sidecarEntries(of: "suite", from: nil, to: nil, limit: 0)
      let number = try history.lastTransactionNumber()
      // A save of nothing but the sidecar is no transaction of history.
      let expected = number == 0 ? [] : [SidecarKey(map: "suite", transaction: number).key]
      probe.expectEqual(entries.map(\.key), expected, "keys")
      probe.expectEqual(
        entries.map(\.value), number == 0 ? [] : [data("with a row")], "values")
    },
    ConformanceCheck("numbers are added to a sidecar entry, and zeros go") { probe in
      guard let keeper = probe.store.capabilities.sidecar else { return }
      let key = SidecarKey(map: "suite", key: data("sum"))
      func stored() throws -> [UInt8]? {
        try keeper.sidecarValues(for: [key])[0].map { [UInt8]($0) }
      }
      try probe.save { $0.sidecar = [.add(key, [1, .max]), .add(key, [2, 3])] }
      probe.expectEqual(
        try stored(), [0, 0, 0, 0, 0, 0, 0, 3, 0, 0, 0, 0, 0, 0, 0, 2], "a sum modulo 2⁶⁴")
      try probe.save { $0.sidecar = [.add(key, [0 &- 3, 0 &- 2])] }
      probe.expectEqual(try stored(), nil, "zeros")
      try probe.save { $0.sidecar = [.put(key, data("other")), .add(key, [0, 5])] }
      probe.expectEqual(
        try stored(), [0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 5], "another size")
    },
    ConformanceCheck("history records each commit") { probe in
      guard let keeper = probe.store.capabilities.history else { return }
      probe.expectEqual(try keeper.lastTransactionNumber(), 0, "before any commit")
      let row = try probe.newRow("Person", ["name": .string("a")])
      try probe.save {
        $0.insertions = [.init(snapshot: row)]
        $0.author = "someone"
        $0.contextName = "a context"
      }
      guard let stored = try probe.stored(row.objectID) else { return probe.fail("no row") }
      let update = try probe.update(stored, ["age": .integer(3)])
      guard let changed = try probe.save({ $0.updates = [update] }).first else {
        return probe.fail("no row in the receipt")
      }
      try probe.save { $0.deletions = [.init(snapshot: changed)] }
      let history = try keeper.readHistory(HistoryReadRequest())
      probe.expectEqual(
        history.flatMap(\.changes).map(\.kind), [.insert, .update, .delete], "kinds")
      probe.expect(
        history.flatMap(\.changes).allSatisfy { $0.objectID == row.objectID }, "wrong objects")
      probe.expectEqual(history.first?.author, "someone", "author")
      probe.expectEqual(history.first?.contextName, "a context", "context name")
      probe.expectEqual(
        history.dropFirst().first?.changes.first?.changedProperties, ["age"], "properties")
      probe.expectEqual(
        history.map(\.number), history.map(\.number).sorted(), "order of the transactions")
      probe.expectEqual(
        try keeper.births(of: [row.objectID]),
        history.first.map { [row.objectID: RowBirth(transaction: $0.number, date: $0.date)] },
        "birth of a row that is gone")
      let last = history.last?.number ?? 0
      probe.expectEqual(try keeper.lastTransactionNumber(), last, "last number")
      let after = try keeper.readHistory(HistoryReadRequest(after: history.first?.number))
      probe.expectEqual(after.map(\.number), history.dropFirst().map(\.number), "after the first")
      let limited = try keeper.readHistory(HistoryReadRequest(limit: 2))
      probe.expectEqual(limited.map(\.number), history.prefix(2).map(\.number), "limited")
    },
    ConformanceCheck("purged history is gone, and asking for it an error") { probe in
      guard let keeper = probe.store.capabilities.history else { return }
      for name in ["a", "b", "c"] { _ = try probe.insert("Person", ["name": .string(name)]) }
      let numbers = try keeper.readHistory(HistoryReadRequest()).map(\.number)
      guard numbers.count == 3 else { return probe.fail("\(numbers.count) transactions, not 3") }
      probe.expectEqual(try keeper.purgeHistory(before: numbers[2], date: nil), 2, "purged")
      let rest = try keeper.readHistory(HistoryReadRequest(after: numbers[1]))
      probe.expectEqual(rest.map(\.number), [numbers[2]], "the rest")
      do {
        _ = try keeper.readHistory(HistoryReadRequest(after: numbers[0]))
        probe.fail("reading after a purged transaction did not throw")
      } catch let error as CoreDataError {
        probe.expectEqual(error.code, .persistentHistoryTokenExpired, "code")
      }
    },
    ConformanceCheck("a purge of history keeps births that sync does not know") { probe in
      guard let keeper = probe.store.capabilities.history,
        let sidecar = probe.store.capabilities.sidecar
      else { return }
      var rows: [RowSnapshot] = []
      for name in ["stays", "is known", "goes"] {
        rows.append(try probe.insert("Person", ["name": .string(name)]))
      }
      let keys = rows.compactMap { RowBirth.key(of: $0.objectID) }
      guard keys.count == 3 else { return probe.fail("\(keys.count) rows, not 3") }
      try probe.save {
        $0.sidecar = [.put(SidecarKey(map: RowBirth.takenUpMap, key: keys[1]), data("1"))]
      }
      try probe.save { $0.deletions = [.init(snapshot: rows[2])] }
      let first = try keeper.readHistory(HistoryReadRequest()).first
      _ = try keeper.purgeHistory(before: .max, date: nil)
      let births = try sidecar.sidecarEntries(of: RowBirth.map, from: nil, to: nil, limit: 0)
      probe.expectEqual(births.map(\.key), [keys[0]], "rows")
      probe.expectEqual(
        births.first.flatMap { RowBirth(decoding: $0.value) },
        first.map { RowBirth(transaction: $0.number, date: $0.date) }, "birth")
    },
    ConformanceCheck("a commit of sidecar entries alone records no history") { probe in
      guard let keeper = probe.store.capabilities.history, probe.store.capabilities.sidecar != nil
      else { return }
      try probe.save { $0.sidecar = [.put(key("a"), data("1"))] }
      probe.expectEqual(try keeper.lastTransactionNumber(), 0, "last number")
    },
  ]
}
