// The connection for short reads, which keeps its transaction between them.
import CairnStore
import CairnTesting
import Foundation
import Testing

@testable import CairnSQLite

@Suite struct HeldReaderTests {
  private let fixture: StoreFixture
  private let row: RowSnapshot

  init() throws {
    fixture = try StoreFixture()
    row = try fixture.insert([fixture.row("Project", ["title": .string("a")])])[0]
  }

  /// A store that has just read one row.
  private func reading() throws -> SQLiteStore {
    let store = try fixture.another()
    #expect(try store.snapshot(for: row.objectID) != nil)
    #expect(store.state.withLock { $0.heldReader } != nil)
    return store
  }

  @Test func aStoreThatIsClosedAfterAReadLetsItsFileGoAtOnce() throws {
    try fixture.store.close()
    let store = try reading()
    #expect(!openFiles(in: fixture.folder).isEmpty)
    try store.close()
    #expect(openFiles(in: fixture.folder).isEmpty)
  }

  @Test func aStoreThatGoesUnclosedAfterAReadLetsItsFileGoAtOnce() throws {
    try fixture.store.close()
    do { _ = try reading() }
    #expect(openFiles(in: fixture.folder).isEmpty)
  }
}
