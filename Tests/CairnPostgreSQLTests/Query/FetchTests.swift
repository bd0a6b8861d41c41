// How a fetch runs: what the server does, what memory does, and in which portions rows come.

import CairnModel
import CairnPredicates
import TestSupport
@_spi(Stores) import CairnStore
import Foundation
import TestServers
import Testing

@testable import CairnPostgreSQL

@Suite(.needsServer) struct FetchTests {
  private let store: PostgreSQLStore
  private let author: EntityDescription
  private let schema: String
  private static let count = 2500

  init() throws {
    let server = try PostgreSQLServer.shared
    schema = server.newName("fetches")
    // Rows are filtered one by one where they come from an index in the order asked for.
    store = try Self.open(
      server.storeURL(schema, options: "-c enable_sort=off -c enable_bitmapscan=off"))
    author = try #require(store.managedObjectModel.entitiesByName["Author"])
    let ids = try store.obtainPermanentIDs(for: (0..<Self.count).map { _ in author })
    let (name, number) = (
      try #require(author.layout.slotByName["firstName"]),
      try #require(author.layout.slotByName["bookCount"])
    )
    var request = SaveChangesRequest()
    for (index, id) in ids.enumerated() {
      var values = author.layout.defaultValues
      values[name] = .string(index % 10 == 0 ? "\u{c9}mile \(index)" : "author \(index)")
      values[number] = .integer(index == Self.count - 1 ? .max : Int64(index))
      request.insertions.append(.init(snapshot: .make(objectID: id, version: 0, values: values)))
    }
    guard case .saved = try store.save(request) else { throw CocoaError(.featureUnsupported) }
  }

  private static func open(_ url: URL?) throws -> PostgreSQLStore {
    let store = PostgreSQLStore(
      configuration: StoreConfiguration(
        model: try LibraryModel.make().model, configurationName: nil, url: url,
        options: StoreOptions([:])))
    try store.openStore()
    return store
  }

  private func request(
    _ format: String, _ change: (inout StoreFetchRequest) -> Void = { _ in }
  ) -> StoreFetchRequest {
    var request = StoreFetchRequest(entity: author, predicate: ObjectPredicate(format: format))
    change(&request)
    return request
  }

  private func keys(_ result: StoreFetchResult) -> [Int64] {
    switch result {
    case .snapshots(let rows): return rows.compactMap(\.rowKey)
    case .objectIDs(let ids): return ids.compactMap(\.rowKey)
    case .count, .dictionaries: return []
    }
  }

  private func portions(_ request: StoreFetchRequest, of count: Int) throws -> [[Int64]] {
    var result: [[Int64]] = []
    try store.fetch(request, portion: count) { result.append(keys($0)) }
    return result
  }

  @Test func rowsComeInPortionsOfTheSizeAskedFor() throws {
    for form in [StoreFetchRequest.Result.snapshots, .objectIDs] {
      let request = request("bookCount >= 100") {
        $0.result = form
        $0.sortDescriptors = [ObjectSortDescriptor(key: "bookCount", ascending: false)]
      }
      let found = try portions(request, of: 700)
      #expect(found.map(\.count) == [700, 700, 700, 300])
      #expect(found.flatMap(\.self) == keys(try store.fetch(request)))
      let few = try portions(request, of: 2400)
      #expect(few.map(\.count) == [2400])
    }
  }

  @Test func aFetchGoesOnBehindARow() throws {
    let (name, number) = (
      try #require(author.layout.slotByName["firstName"]),
      try #require(author.layout.slotByName["bookCount"])
    )
    for ascending in [true, false] {
      var request = request("bookCount < 900") {
        $0.sortDescriptors = [
          ObjectSortDescriptor(key: "firstName", ascending: ascending),
          ObjectSortDescriptor(key: "bookCount", ascending: !ascending),
        ]
      }
      let all = keys(try store.fetch(request))
      request.limit = 250
      var found: [Int64] = []
      while case .snapshots(let rows) = try store.fetch(request), let last = rows.last {
        found += rows.compactMap(\.rowKey)
        request.place = .init(
          values: [last[name], last[number]], key: try #require(last.rowKey))
      }
      #expect(found == all && all.count == 900)
    }
  }

  @Test func aNumberThatLeavesItsTypeAmongTheLastRowsChangesNoResult() throws {
    let request = request("bookCount + 1 > 0 AND bookCount >= 400")
    let found = try portions(request, of: 500)
    #expect(found.flatMap(\.self) == keys(try store.fetch(request)))
    #expect(found.flatMap(\.self).count == 2100)
    #expect(found.count > 1)
    guard
      case .count(let count) = try store.fetch(
        self.request("bookCount * 2 > 4990") {
          $0.result = .count
        })
    else {
      Issue.record("no count")
      return
    }
    #expect(count == 4)
  }

  @Test func theConnectionServesTheNextCallAfterwards() throws {
    for _ in 0..<20 {
      _ = try portions(request("bookCount + 1 > 0"), of: 10_000)
      _ = try portions(request("TRUEPREDICATE") { $0.limit = 3 }, of: 2)
      #expect(throws: (any Error).self) {
        try store.fetch(request("firstName MATCHES '['"))
      }
    }
    for format in ["bookCount + 1 > 0", "uppercase(firstName) == 'A'", "bookCount == 3"] {
      try store.work("test") { state, connection in
        let execution = try PostgreSQLFetch(
          request(format), content: state.content, store: store.identity, connection: connection)
        _ = try execution.run()
        #expect(connection.transactionStatus == .idle, "\(format)")
      }
    }
  }

  @Test func memoryTestsOnlyTheRowsThatSQLLeaves() throws {
    let cases: [(format: String, inMemory: String?, sql: String)] = [
      ("firstName == 'author 7'", nil, "t0.\"first_name\" = $1"),
      ("firstName ==[c] 'AUTHOR 7'", "firstName ==[c] \"AUTHOR 7\"", "lower(t0.\"first_name\""),
      ("firstName MATCHES 'author 7' AND bookCount == 7", "firstName MATCHES \"author 7\"", "= $1"),
    ]
    for (format, inMemory, sql) in cases {
      let request = request(format) { $0.limit = 5 }
      let explanation = try store.explain(request)
      #expect(explanation.predicateInMemory == inMemory, "\(format)")
      #expect(explanation.limitsInMemory == (inMemory != nil))
      let statement = try #require(explanation.statements.first)
      #expect(statement.sql.contains(sql), "\(statement.sql)")
      #expect(!statement.queryPlan.isEmpty)
      #expect(keys(try store.fetch(request)).count == 1, "\(format)")
    }
    // ASCII is the server's to find, so that memory sees the tenth part that is not.
    let monitor = FetchMonitor()
    let found = try store.fetch(request("firstName ==[c] 'AUTHOR 7'") { $0.monitor = monitor })
    #expect(keys(found).count == 1)
    #expect(monitor.rowCount == Self.count / 10 + 1)
  }

  @Test func anExplanationNamesTheIndex() throws {
    let store = try Self.open(PostgreSQLServer.shared.storeURL(schema))
    let book = try #require(store.managedObjectModel.entitiesByName["Book"])
    let connection = try PostgreSQLServer.shared.connect()
    try connection.run(
      "INSERT INTO \(SQLText.name(schema, "book")) (cairn_entity, isbn13) "
        + "SELECT (SELECT number FROM \(SQLText.name(schema, "cairn_entity")) WHERE name = 'Book'), "
        + "g::text FROM generate_series(1, 5000) g", isKept: false)
    try connection.run("ANALYZE \(SQLText.name(schema, "book"))", isKept: false)
    let explanation = try store.explain(
      StoreFetchRequest(entity: book, predicate: ObjectPredicate(format: "ISBN13 == '77'")))
    #expect(
      explanation.statements.first?.indexes == ["book_unique_isbn13_index"],
      "\(explanation.statements)")
    let range = try store.explain(
      StoreFetchRequest(
        entity: book, predicate: ObjectPredicate(format: "ISBN13 BEGINSWITH '4999'")))
    #expect(range.statements.first?.indexes == ["book_unique_isbn13_index"])
    #expect(range.predicateInMemory == nil)
  }

  @Test func aCancelledFetchEndsAndLeavesNothingBehind() throws {
    let monitor = FetchMonitor(interval: 1) { _ in }
    monitor.cancel()
    for format in ["bookCount >= 0", "uppercase(firstName) != 'A'"] {
      let error = #expect(throws: CoreDataError.self) {
        try store.fetch(request(format) { $0.monitor = monitor })
      }
      #expect(error?.code == .userCancelled)
    }
    #expect(keys(try store.fetch(request("bookCount == 1"))).count == 1)
  }
}
