import CairnModel
import CairnStore
import CairnTesting
import Foundation
import Synchronization
import TestSupport
import Testing

@testable import CairnSQLite

/// SQLite has one index of a log for all connections of a process: an inspection that does not touch it would make
/// every store that is opened meanwhile read-only.
@Suite struct LogIndexUseTests {
  @Test func aStoreThatIsOpenedWhileItIsInspectedWaitsAndCanBeWritten() async throws {
    let fixture = try StoreFixture()
    try fixture.insert([try fixture.row("Project")])
    // As a program that was killed leaves it: a log with its index.
    let folder = try TemporaryFolder()
    let url = folder.fileURL("Test.sqlite")
    for suffix in ["", "-wal", "-shm"] {
      try FileManager.default.copyItem(atPath: fixture.url.path + suffix, toPath: url.path + suffix)
    }
    let model = fixture.model
    let outcome = Mutex<Result<Bool, any Error>?>(nil)
    let isInspected = Mutex(false)
    Thread.detachNewThread {
      let inspection = Result {
        try UntouchedFile(path: url.path, timeout: 10).read { _ in
          isInspected.withLock { $0 = true }
          while outcome.withLock({ $0 == nil }), LogIndexUse.readOnly(of: url.path) != nil {
            // Until the other one comes, on a thread of its own.
            Thread.sleep(forTimeInterval: 0.001)
          }
        }
      }
      if case .failure(let error) = inspection { outcome.withLock { $0 = .failure(error) } }
    }
    #expect(await eventually { isInspected.withLock { $0 } })
    Thread.detachNewThread {
      let result = Result {
        let store = try StoreFixture.open(url, model)
        defer { try? store.close() }
        let project = try #require(model.entitiesByName["Project"])
        let id = try store.obtainPermanentIDs(for: [project])[0]
        var request = SaveChangesRequest()
        request.insertions = [
          .init(
            snapshot: .make(objectID: id, version: 0, values: project.layout.defaultValues))
        ]
        guard case .saved = try store.save(request) else { return false }
        return true
      }
      outcome.withLock { $0 = $0 ?? result }
    }
    #expect(await eventually { outcome.withLock { $0 != nil } })
    #expect(try outcome.withLock { try $0?.get() } == true)
  }

  @Test func whoMayWriteWaitsOnlyForSoLongAndOnlyForTheSameFile() throws {
    let folder = try TemporaryFolder()
    let path = folder.file("a.sqlite")
    var use = LogIndexUse.readOnly(of: path)
    #expect(use != nil)
    let error = #expect(throws: CoreDataError.self) {
      _ = try LogIndexUse.ordinary(of: path, LockWait(limit: 20))
    }
    #expect(error?.code == .persistentStoreTimeout && error?.message.contains(path) == true)
    _ = try LogIndexUse.ordinary(of: folder.file("b.sqlite"), LockWait(limit: 0))
    use = nil
    _ = try LogIndexUse.ordinary(of: path, LockWait(limit: 0))
  }

  @Test func nobodyLeavesAloneWhatThisProcessWrites() throws {
    let path = try TemporaryFolder().file("a.sqlite")
    var uses = [try LogIndexUse.ordinary(of: path, LockWait(limit: 0))]
    uses.append(try LogIndexUse.ordinary(of: path, LockWait(limit: 0)))
    #expect(LogIndexUse.readOnly(of: path) == nil)
    uses.removeLast()
    #expect(LogIndexUse.readOnly(of: path) == nil)
    uses.removeLast()
    #expect(LogIndexUse.readOnly(of: path) != nil)
  }
}
