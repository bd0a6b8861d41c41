import CairnPlatform
import Foundation
import Synchronization
import Testing

@Suite struct FileTests {
  @Test func aReplacedFileHasTheNewContentAndTheWantedMode() throws {
    let folder = try TemporaryFolder()
    let path = folder.file("state")
    try AtomicFileWrite.replace(path: path, with: Array("one".utf8), mode: 0o640)
    try AtomicFileWrite.replace(path: path, with: Array("two".utf8), mode: 0o640)
    #expect(try String(contentsOfFile: path, encoding: .utf8) == "two")
    #expect(try FileFacts(path: path).mode == 0o640)
    #expect(try FileManager.default.contentsOfDirectory(atPath: folder.path) == ["state"])
  }

  @Test func aFailedReplacementNamesOperationFileAndReason() throws {
    let folder = try TemporaryFolder()
    let error = #expect(throws: PlatformError.self) {
      try AtomicFileWrite.replace(path: folder.file("no/such"), with: [])
    }
    #expect(error?.code == .notFound)
    #expect(error?.description.hasPrefix("cannot create ") == true)
  }

  @Test func anExclusiveLockHasOneHolder() throws {
    let folder = try TemporaryFolder()
    let first = try #require(try AdvisoryLock.attempt(path: folder.file("lock")))
    #expect(try AdvisoryLock.attempt(path: folder.file("lock")) == nil)
    first.release()
    #expect(try AdvisoryLock.attempt(path: folder.file("lock")) != nil)
  }

  @Test func aWatchedFileIsNoticedAlsoAfterItWasMadeAnew() async throws {
    let folder = try TemporaryFolder()
    let path = folder.file("store-wal")
    let count = Counter()
    let changes = try FileWatch.changes(
      inFolder: folder.path, names: ["store-wal"], debounce: .milliseconds(5))
    let task = Task { for await _ in changes { count.add() } }
    defer { task.cancel() }
    for round in 1...3 {
      let before = count.value
      try Data("round \(round)".utf8).write(to: URL(fileURLWithPath: path))
      #expect(await eventually { count.value > before })
      try FileManager.default.removeItem(atPath: path)
    }
  }

  @Test func changesOfOtherFilesAreNotReported() async throws {
    let folder = try TemporaryFolder()
    let names = Counter()
    let watch = try FileWatch(folder: folder.path, names: ["b"], debounce: .zero) {
      names.add()
    }
    defer { watch.cancel() }
    try Data().write(to: URL(fileURLWithPath: folder.file("a")))
    try Data().write(to: URL(fileURLWithPath: folder.file("b")))
    #expect(await eventually { names.value > 0 })
    try Data().write(to: URL(fileURLWithPath: folder.file("a2")))
    let settled = names.value
    #expect(await !eventually(within: .milliseconds(100)) { names.value > settled + 1 })
  }
}

final class Counter: Sendable {
  private let number = Mutex(0)
  var value: Int { number.withLock { $0 } }
  func add() { number.withLock { $0 += 1 } }
}

/// Looks again and again until the condition holds or the time is over.
func eventually(
  within limit: Duration = .seconds(60), _ condition: @Sendable () -> Bool
) async -> Bool {
  let deadline = ContinuousClock.now + limit
  while ContinuousClock.now < deadline {
    if condition() { return true }
    try? await Task.sleep(for: .milliseconds(5))
  }
  return condition()
}
