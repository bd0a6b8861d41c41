// Bookkeeping that commits with rows, while other programs write to the same entries.

import CairnModel
import TestSupport
@_spi(Stores) import CairnStore
import Foundation
import TestServers
import Testing

@testable import CairnPostgreSQL

@Suite(.needsServer) struct SidecarTests {
  let server: PostgreSQLServer
  let url: URL

  init() throws {
    server = try PostgreSQLServer.shared
    url = try #require(server.storeURL(server.newName("sidecar")))
  }

  private func open() throws -> PostgreSQLStore {
    let store = PostgreSQLStore(
      configuration: StoreConfiguration(
        model: try LibraryModel.make().model, configurationName: nil, url: url,
        options: StoreOptions([:])))
    try store.openStore()
    return store
  }

  private func key(_ text: String) -> SidecarKey { SidecarKey(map: "test", key: Data(text.utf8)) }

  private func save(_ operations: [SidecarOperation], to store: PostgreSQLStore) throws
    -> SaveOutcome
  {
    var request = SaveChangesRequest()
    request.sidecar = operations
    return try store.save(request)
  }

  private func isSaved(_ outcome: SaveOutcome) -> Bool {
    if case .saved = outcome { return true }
    return false
  }

  @Test func operationsHappenInTheirOrder() throws {
    let store = try open()
    let outcome = try save(
      [
        .put(key("a"), Data("1".utf8)), .put(key("a"), Data("2".utf8)), .remove(key("b")),
        .put(key("b"), Data("3".utf8)), .put(key("c"), Data("4".utf8)), .remove(key("c")),
        .put(key("n"), Data(repeating: 0xff, count: 8)), .add(key("n"), [3]),
        .add(key("m"), [1, 2]),
        .add(key("m"), [.max, .max &- 1]),
      ], to: store)
    #expect(isSaved(outcome))
    let values = try store.sidecarValues(for: ["a", "b", "c", "n", "m"].map(key))
    #expect(
      values == [
        Data("2".utf8), Data("3".utf8), nil, Data([0, 0, 0, 0, 0, 0, 0, 2]), nil,
      ])
    // Few of one map are asked for otherwise than many, or those of several.
    let many = (0..<20).map { key("\($0)") } + ["b", "n", "a"].map(key)
    #expect(
      try store.sidecarValues(for: many).suffix(3) == [values[1], values[3], values[0]])
    let others = [key("b"), SidecarKey(map: "other", key: Data("b".utf8)), key("b")]
    #expect(try store.sidecarValues(for: others) == [values[1], nil, values[1]])
  }

  /// Each claims a place that must be empty, as the first of several daemons does.
  @Test func ofProgramsThatRequireNothingThereOneWins() async throws {
    let stores = try (0..<4).map { _ in try open() }
    let tests = self
    let winners = try await withThrowingTaskGroup(of: Int?.self) { group in
      for (number, store) in stores.enumerated() {
        group.addTask {
          let outcome = try tests.save(
            [
              .require(tests.key("owner"), nil),
              .put(tests.key("owner"), Data([UInt8(number)])),
            ], to: store)
          return tests.isSaved(outcome) ? number : nil
        }
      }
      return try await group.reduce(into: [Int]()) { if let number = $1 { $0.append(number) } }
    }
    #expect(winners.count == 1)
    let stored = try stores[0].sidecarValues(for: [key("owner")])
    #expect(stored == [winners.first.map { Data([UInt8($0)]) }])
  }

  @Test func additionsOfSeveralProgramsAllCount() async throws {
    let stores = try (0..<4).map { _ in try open() }
    let tests = self
    try await withThrowingTaskGroup(of: Void.self) { group in
      for store in stores {
        group.addTask {
          for _ in 0..<10 { _ = try tests.save([.add(tests.key("sum"), [1, .max])], to: store) }
        }
      }
      try await group.waitForAll()
    }
    let stored = try #require(try stores[0].sidecarValues(for: [key("sum")]).first ?? nil)
    #expect(
      [UInt8](stored) == [0, 0, 0, 0, 0, 0, 0, 40] + [
        0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xd8,
      ])
  }

  @Test func aRequiredValueIsKeptUntilTheCommit() throws {
    let (one, other) = (try open(), try open())
    #expect(isSaved(try save([.put(key("mark"), Data("1".utf8))], to: one)))
    #expect(
      isSaved(
        try save(
          [.require(key("mark"), Data("1".utf8)), .put(key("mark"), Data("2".utf8))], to: other)))
    guard
      case .sidecarChanged(let changed) = try save(
        [.require(key("mark"), Data("1".utf8)), .put(key("mark"), Data("3".utf8))], to: one)
    else {
      Issue.record("the requirement did not count")
      return
    }
    #expect(changed == key("mark"))
    #expect(try one.sidecarValues(for: [key("mark")]) == [Data("2".utf8)])
  }
}
