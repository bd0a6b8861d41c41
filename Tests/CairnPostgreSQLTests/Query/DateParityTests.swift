// Dates compare, sort and compute as the doubles they are, in whatever two columns they stand.

import CairnModel
import CairnPredicates
import TestSupport
@_spi(Stores) import CairnStore
import Foundation
import TestServers
import Testing

@testable import CairnPostgreSQL

@Suite(.needsServer) struct DateParityTests {
  /// Seconds since 2001: whole microseconds, numbers between them, ends of the server's range, and infinity.
  private static let seconds: [Double] = {
    let fine: [Double] = [0, 0.1, 1e-7, 781_234_567.123_456_7, 781_234_567.123_457, -31_622_400.5]
    let far: [Double] = [
      -63_114_076_800, -211_845_067_200, -211_845_067_201, 9_222_393_600_000, 9_222_393_599_999.999,
      1e13, -1e13, 1e300, -1e300, .infinity, -.infinity, 4_000_000_000.25, 9_007_199_254.740_993,
      9_007_199_254_740.993,
    ]
    return (fine + far).flatMap { [$0, $0.nextUp, $0.nextDown, -$0] }
  }()

  private let store: PostgreSQLStore
  private let author: EntityDescription
  private let schema: String

  init() throws {
    let server = try PostgreSQLServer.shared
    schema = server.newName("dates")
    store = PostgreSQLStore(
      configuration: StoreConfiguration(
        model: try LibraryModel.make().model, configurationName: nil, url: server.storeURL(schema),
        options: StoreOptions([:])))
    try store.openStore()
    author = try #require(store.managedObjectModel.entitiesByName["Author"])
    let ids = try store.obtainPermanentIDs(for: Self.seconds.map { _ in author } + [author])
    var request = SaveChangesRequest()
    for (id, seconds) in zip(ids, Self.seconds.map(Optional.some) + [nil]) {
      var values = author.layout.defaultValues
      values[try #require(author.layout.slotByName["born"])] =
        seconds.map { .date(Date(timeIntervalSinceReferenceDate: $0)) } ?? .null
      request.insertions.append(.init(snapshot: .make(objectID: id, version: 0, values: values)))
    }
    guard case .saved = try store.save(request) else { throw CocoaError(.featureUnsupported) }
  }

  private func dates(_ change: (inout StoreFetchRequest) -> Void) throws -> [Double?] {
    var request = StoreFetchRequest(entity: author)
    change(&request)
    let slot = try #require(author.layout.slotByName["born"])
    let rows = try #require(try store.fetch(request).snapshots)
    return rows.map { row in
      guard case .date(let date) = row[slot] else { return nil }
      return date.timeIntervalSinceReferenceDate
    }
  }

  @Test func everyDateIsComparedWithEveryOther() throws {
    for constant in Self.seconds {
      let date = Date(timeIntervalSinceReferenceDate: constant)
      let relations: [(String, (Double) -> Bool)] = [
        ("==", { $0 == constant }), ("<", { $0 < constant }), ("<=", { $0 <= constant }),
        (">", { $0 > constant }), (">=", { $0 >= constant }), ("!=", { $0 != constant }),
      ]
      for (sign, holds) in relations {
        let found = try dates {
          $0.predicate = ObjectPredicate(format: "born \(sign) %@", date)
        }
        let expected = Self.seconds.filter(holds) + (sign == "!=" ? [nil] : [])
        #expect(found == expected, "\(sign) \(constant)")
        let computed = try dates {
          $0.predicate = ObjectPredicate(
            format: "CAST(born, 'NSNumber') \(sign) %@", constant as NSNumber)
        }
        #expect(computed == expected, "CAST \(sign) \(constant)")
      }
    }
  }

  @Test func datesAreSortedByWhatTheyAre() throws {
    for ascending in [true, false] {
      let found = try dates {
        $0.sortDescriptors = [ObjectSortDescriptor(key: "born", ascending: ascending)]
      }
      // Rows with equal dates have them written the same.
      let sorted = Self.seconds.sorted { ascending ? $0 < $1 : $0 > $1 }
      #expect(found == (ascending ? [nil] + sorted : sorted + [nil]))
    }
  }

  @Test func aFetchGoesOnBehindAnyRow() throws {
    let slot = try #require(author.layout.slotByName["born"])
    for ascending in [true, false] {
      var request = StoreFetchRequest(
        entity: author,
        sortDescriptors: [ObjectSortDescriptor(key: "born", ascending: ascending)], limit: 7)
      let all = try dates {
        $0.sortDescriptors = request.sortDescriptors
      }
      var found: [Double?] = []
      while case .snapshots(let rows) = try store.fetch(request), let last = rows.last {
        found += rows.map { row in
          guard case .date(let date) = row[slot] else { return nil }
          return date.timeIntervalSinceReferenceDate
        }
        request.place = .init(values: [last[slot]], key: try #require(last.rowKey))
      }
      #expect(found == all)
    }
  }

  @Test func aTimeThatAnotherProgramSetsIsTheDate() throws {
    let connection = try PostgreSQLServer.shared.connect()
    try connection.run(
      "UPDATE \(SQLText.name(schema, "author")) SET born = '2026-11-26 12:00:00.000001+00' "
        + "WHERE born_exact IS NOT NULL", isKept: false)
    let expected = 817_387_200.000_001
    let count = try dates { $0.predicate = ObjectPredicate(format: "born != nil") }
      .filter { $0 == expected }.count
    #expect(count > 20)
    for format in ["born == %@", "born >= %@ AND born <= %@", "CAST(born, 'NSNumber') == %@"] {
      let constant: Any =
        format.hasPrefix("CAST") ? expected : Date(timeIntervalSinceReferenceDate: expected)
      let found = try dates {
        $0.predicate = ObjectPredicate(format: format, constant, constant)
      }
      #expect(found == [Double?](repeating: expected, count: count), "\(format)")
    }
  }

  @Test func theSecondsThatRoundToATimeAreNextToEachOther() {
    for seconds in Self.seconds {
      let time = StoredDate.microseconds(of: seconds)
      let range = StoredDate.seconds(roundedTo: time)
      #expect(range.contains(seconds))
      #expect(StoredDate.microseconds(of: range.lowerBound) == time)
      #expect(StoredDate.microseconds(of: range.upperBound) == time)
      if range.lowerBound > -.infinity {
        #expect(StoredDate.microseconds(of: range.lowerBound.nextDown) < time)
      }
      if range.upperBound < .infinity {
        #expect(StoredDate.microseconds(of: range.upperBound.nextUp) > time)
      }
    }
  }
}
