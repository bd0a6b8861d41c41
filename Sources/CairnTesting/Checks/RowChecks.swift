import CairnModel
import CairnStore
import Foundation

/// Rows come back as they were written.
enum RowChecks {
  private static func everyType() -> [String: AttributeValue] {
    [
      "name": .string("Zo\u{eb} 👩‍🚀 O'Brien\n\u{0}end"), "age": .integer(-32768),
      "count": .integer(2_147_483_647), "big": .integer(.min), "rating": .double(0.1),
      "weight": .float(1.5), "price": .decimal(Decimal(string: "12345.678") ?? 0),
      "active": .boolean(true),
      "born": .date(Date(timeIntervalSinceReferenceDate: 123456.75)),
      "bytes": .data(Data([0, 1, 255, 0])), "token": .uuid(UUID()),
      "page": .url(URL(string: "https://example.org/a?b=c%20d") ?? URL(fileURLWithPath: "/")),
    ]
  }

  static let all: [ConformanceCheck] = [
    ConformanceCheck("every attribute type round-trips") { probe in
      let values = everyType()
      let receipt = try probe.insert("Person", values)
      let stored = try probe.stored(receipt.objectID)
      let fetched = try probe.fetch("Person").first
      for (name, value) in values {
        for (source, row) in [("receipt", receipt), ("snapshot", stored), ("fetch", fetched)] {
          let found = try probe.value(name, of: row)
          probe.expect(
            found?.isSameStoredValue(as: value) ?? false,
            "\(name) from \(source): expected \(value), found \(String(describing: found))")
        }
      }
    },
    ConformanceCheck("null round-trips for every attribute type") { probe in
      let row = try probe.insert("Person", everyType().mapValues { _ in .null })
      let stored = try probe.stored(row.objectID)
      for name in everyType().keys {
        probe.expectEqual(try probe.value(name, of: stored), .null, name)
      }
    },
    ConformanceCheck("empty text and data are not null") { probe in
      let row = try probe.insert("Person", ["name": .string(""), "bytes": .data(Data())])
      let stored = try probe.stored(row.objectID)
      probe.expectEqual(try probe.value("name", of: stored), .string(""), "text")
      probe.expectEqual(try probe.value("bytes", of: stored), .data(Data()), "data")
    },
    ConformanceCheck("an update changes what it names and the version") { probe in
      let row = try probe.insert("Person", ["name": .string("Ada"), "age": .integer(36)])
      let update = try probe.update(row, ["age": .integer(37)])
      guard let after = try probe.save({ $0.updates = [update] }).first else {
        return probe.fail("the receipt of an update has no row")
      }
      probe.expect(after.version != row.version, "the version stayed \(row.version)")
      let stored = try probe.stored(row.objectID)
      probe.expectEqual(stored?.version, after.version, "stored version")
      probe.expectEqual(try probe.value("age", of: stored), .integer(37), "age")
      probe.expectEqual(try probe.value("name", of: stored), .string("Ada"), "name")
    },
    ConformanceCheck("receipts list insertions, then updates, in order") { probe in
      let old = try probe.insert("Person", ["name": .string("old")])
      let new = try ["a", "b", "c"].map { try probe.newRow("Person", ["name": .string($0)]) }
      let update = try probe.update(old, ["name": .string("changed")])
      let receipt = try probe.save {
        $0.insertions = new.map { .init(snapshot: $0) }
        $0.updates = [update]
      }
      probe.expectEqual(
        try probe.strings("name", of: receipt), ["a", "b", "c", "changed"], "rows")
    },
    ConformanceCheck("a deleted row is gone") { probe in
      let rows = try ["a", "b"].map { try probe.insert("Person", ["name": .string($0)]) }
      try probe.save { $0.deletions = [.init(snapshot: rows[0])] }
      probe.expect(try probe.stored(rows[0].objectID) == nil, "its snapshot is still there")
      probe.expectEqual(try probe.strings("name", of: probe.fetch("Person")), ["b"], "names")
    },
    ConformanceCheck("snapshots come in the order asked for, nil for missing ones") { probe in
      let rows = try ["a", "b", "c"].map { try probe.insert("Person", ["name": .string($0)]) }
      let company = try probe.insert("Company", ["name": .string("x")])
      let unknown = try probe.newRow("Person")
      let ids = [
        rows[2].objectID, unknown.objectID, company.objectID, rows[0].objectID, rows[2].objectID,
      ]
      let found = try probe.store.snapshots(for: ids)
      probe.expectEqual(found.count, 5, "count")
      let names = try found.map { try probe.value("name", of: $0) }
      probe.expectEqual(
        names, [.string("c"), nil, .string("x"), .string("a"), .string("c")], "names")
    },
    ConformanceCheck("a thousand rows in one save") { probe in
      let new = try (0..<1000).map { number in
        try probe.newRow("Person", ["age": .integer(Int64(number))])
      }
      try probe.save { $0.insertions = new.map { .init(snapshot: $0) } }
      probe.expectEqual(try probe.fetch("Person").count, 1000, "rows")
      let found = try probe.store.snapshots(for: new.map(\.objectID))
      probe.expectEqual(found.compactMap(\.self).count, 1000, "snapshots")
    },
  ]
}
