import CairnContext
import CairnModel
import CairnPredicates
import CairnStore
import Foundation
import TestSupport
import Testing

@testable import CairnSync

// Every attribute type, there and back.
struct ValueTests {
  static let types: [(name: String, type: AttributeType)] = [
    ("int16", .integer16), ("int32", .integer32), ("int64", .integer64), ("double", .double),
    ("float", .float), ("decimal", .decimal), ("string", .string), ("flag", .boolean),
    ("date", .date), ("bytes", .binaryData), ("uuid", .uuid), ("url", .uri),
  ]

  static func model() -> ManagedObjectModel {
    let thing = EntityDescription(name: "Thing")
    let place = CompositeAttributeDescription()
    place.name = "place"
    place.elements = [
      AttributeDescription(name: "x", type: .double),
      AttributeDescription(name: "y", type: .string),
    ]
    thing.properties =
      [AttributeDescription(name: "key", type: .string), place]
      + types.map { AttributeDescription(name: $0.name, type: $0.type) }
    let model = ManagedObjectModel()
    model.entities = [thing]
    return model
  }

  static var rows: [[String: Any]] {
    [
      [
        "int16": Int16.min, "int32": Int32.max, "int64": Int64.min, "double": Double.infinity,
        "float": -Float.infinity, "decimal": Decimal(string: "-1234567890.12345678901234567") ?? 0,
        "string": "e\u{301}\u{0}\u{1F600}", "flag": true,
        "date": Date(timeIntervalSinceReferenceDate: 0.1 + 0.2), "bytes": Data([0, 255, 0]),
        "uuid": RecordID(high: 0x0123_4567_89AB_CDEF, low: .max).uuid,
        "place": ["x": 0.1, "y": "here"] as [String: Any],
      ],
      [
        "int16": Int16.max, "int32": Int32.min, "int64": Int64.max, "double": -0.0,
        "float": Float.leastNonzeroMagnitude, "decimal": Decimal(string: "0.000000001") ?? 0,
        "string": "\u{E9}", "flag": false, "date": Date(timeIntervalSinceReferenceDate: -1e10 / 3),
        "bytes": Data(), "place": ["x": -0.0] as [String: Any],
      ],
      ["double": Double.nan, "float": Float.nan, "string": "", "decimal": Decimal.nan],
      ["double": Double.greatestFiniteMagnitude, "float": 0.1 as Float, "string": "e\u{301}"],
      [:],
    ]
  }

  /// All values by their bytes.
  func picture(_ site: Fleet.Site) throws -> [String: [String: Data]] {
    let request = StoreFetchRequest(
      entity: try #require(site.coordinator.managedObjectModel.entitiesByName["Thing"]),
      result: .objectIDs)
    let ids = try #require(try site.store.fetch(request).objectIDs)
    var result: [String: [String: Data]] = [:]
    let reading = RowReading(ledger: try site.access.ledger())
    for row in try site.store.snapshots(for: ids).compactMap({ $0 }) {
      let values = try reading.values(of: row)
      guard case .string(let key) = values["key"] else { continue }
      result[key] = values.byName.mapValues(\.canonicalBytes)
    }
    return result
  }

  func write(_ site: Fleet.Site, shift: Int) throws {
    try site.write { context in
      for index in Self.rows.indices {
        let request = FetchRequest<ManagedObject>(entityName: "Thing")
        request.affectedStores = [site.store]
        request.predicate = ObjectPredicate(format: "key = %@", "row\(index)")
        let thing =
          try context.fetch(request).first
          ?? site.insert("Thing", ["key": "row\(index)"], in: context)
        let values = Self.rows[(index + shift) % Self.rows.count]
        for name in Self.types.map(\.name) + ["place"] {
          thing.setValue(values[name], forKey: name)
        }
        thing.setValue(
          shift == 0 ? URL(string: "https://example.com/a%20b?c=d#\(index)") : nil, forKey: "url")
      }
    }
    try HistoryCapture(access: site.access).run()
  }

  @Test(arguments: [false, true])
  func everyAttributeTypeArrivesBitForBitAndReplacesEveryOther(onDisk: Bool) throws {
    let scratch = try Scratch()
    let fleet = Fleet(
      seed: 1, directory: onDisk ? scratch.url : nil, model: Self.model())
    let (a, hub, b) = (try fleet.add("a"), try fleet.add("hub"), try fleet.add("b"))
    for shift in Self.rows.indices {
      fleet.advance(10)
      let writer = shift % 2 == 0 ? a : b
      try write(writer, shift: shift)
      _ = try fleet.settle([(a, hub), (b, hub)])
      let expected = try picture(writer)
      #expect(expected.count == Self.rows.count)
      for site in [a, hub, b] { #expect(try picture(site) == expected, "\(shift) \(site.name)") }
      // What was written is what was meant.
      let place = (Self.rows.count - shift) % Self.rows.count
      let row = try #require(expected["row\(place)"])
      #expect(row["string"] == WireValue.string("e\u{301}\u{0}\u{1F600}").canonicalBytes)
      #expect(row["double"] == WireValue.double(.infinity).canonicalBytes)
      #expect(
        row["date"]
          == WireValue.date(Date(timeIntervalSinceReferenceDate: 0.1 + 0.2)).canonicalBytes)
      #expect(row["place.x"] == WireValue.double(0.1).canonicalBytes)
    }
    #expect(try StoreComparison(local: a.access, replica: hub.access).run(name: "hub").isEqual)
  }
}
