// Files replaced, locked and watched, as the rest of Cairn relies on them.

import CairnPlatform
import CairnTesting
import Foundation
import Synchronization
import TestSupport
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

  private func put(_ text: String, _ path: String) throws {
    try AtomicFileWrite.replace(path: path, with: Array(text.utf8))
  }

  private func text(_ path: String) throws -> String {
    try String(contentsOfFile: path, encoding: .utf8)
  }

  @Test func aFileIsReplacedOnlyIfItIsTheKnownOne() throws {
    let folder = try TemporaryFolder()
    let path = folder.file("state")
    func replace(_ old: String?) throws -> Bool {
      try AtomicFileWrite.replace(path: path, with: Array("new".utf8)) { found in
        try found.map(text) == old
      }
    }
    #expect(try !replace("one"))
    #expect(!FileManager.default.fileExists(atPath: path))
    #expect(try replace(nil))
    try put("one", path)
    #expect(try !replace("two"))
    #expect(try text(path) == "one")
    #expect(throws: CancellationError.self) {
      try AtomicFileWrite.replace(path: path, with: Array("new".utf8)) { _ in
        throw CancellationError()
      }
    }
    #expect(try text(path) == "one")
    #expect(try replace("one"))
    #expect(try text(path) == "new")
    #expect(try FileManager.default.contentsOfDirectory(atPath: folder.path) == ["state"])
  }

  @Test(arguments: [true, false])
  func nothingThatIsWrittenDuringTheLookIsLost(isKnown: Bool) throws {
    let folder = try TemporaryFolder()
    let path = folder.file("state")
    try put("old", path)
    let isReplaced = try AtomicFileWrite.replace(path: path, with: Array("new".utf8)) { found in
      // What is looked at has no other name any more: nobody can change it unseen.
      let content = try found.map(text)
      #expect(found != path)
      #expect(content == "old")
      try put("theirs", path)
      return isKnown
    }
    #expect(isReplaced == isKnown)
    #expect(try text(path) == "theirs")
    #expect(try FileManager.default.contentsOfDirectory(atPath: folder.path) == ["state"])
  }

  @Test func bytesArePutAtAPlaceOfAnOpenFile() throws {
    let folder = try TemporaryFolder()
    let path = folder.file("note")
    try Data("one two".utf8).write(to: URL(fileURLWithPath: path))
    let file = try FileHandle(forUpdating: URL(fileURLWithPath: path))
    let isWritten = Data("six".utf8).withUnsafeBytes {
      PositionedWrite.put($0, at: 4, in: file.fileDescriptor)
    }
    #expect(isWritten)
    #expect(try String(contentsOfFile: path, encoding: .utf8) == "one six")
    try file.close()
    #expect(!Data("x".utf8).withUnsafeBytes { PositionedWrite.put($0, at: 0, in: -1) })
  }

  @Test func aFailedReplacementNamesOperationFileAndReason() throws {
    let folder = try TemporaryFolder()
    let error = #expect(throws: PlatformError.self) {
      try AtomicFileWrite.replace(path: folder.file("no/such"), with: [])
    }
    #expect(error?.code == .notFound)
    #expect(error?.description.hasPrefix("cannot create ") == true)
  }

  /// In nanoseconds since 1970 the second of them has no place in 64 bits.
  @Test(arguments: [-500_000_000, 13_569_465_600])
  func aFileMayBeOfAnyTime(_ seconds: Double) throws {
    let folder = try TemporaryFolder()
    let path = folder.file("state")
    try put("one", path)
    let before = try FileFacts(path: path).modified
    try FileManager.default.setAttributes(
      [.modificationDate: Date(timeIntervalSince1970: seconds)], ofItemAtPath: path)
    #expect(try FileFacts(path: path).modified != before)
  }

  @Test func anExclusiveLockHasOneHolder() throws {
    let folder = try TemporaryFolder()
    let first = try #require(try AdvisoryLock.attempt(path: folder.file("lock")))
    #expect(try AdvisoryLock.attempt(path: folder.file("lock")) == nil)
    first.release()
    #expect(try AdvisoryLock.attempt(path: folder.file("lock")) != nil)
  }

  @Test func aFolderCanBeLockedBySeveralOrByOne() throws {
    let folder = try TemporaryFolder()
    let first = try #require(try AdvisoryLock.attempt(folder: folder.path, mode: .shared))
    let second = try AdvisoryLock.wait(folder: folder.path, mode: .shared)
    #expect(try AdvisoryLock.attempt(folder: folder.path) == nil)
    first.release()
    #expect(try AdvisoryLock.attempt(folder: folder.path) == nil)
    second.release()
    #expect(try AdvisoryLock.attempt(folder: folder.path) != nil)
    #expect(throws: PlatformError.self) {
      try AdvisoryLock.attempt(folder: folder.file("missing"))
    }
  }

  @Test func onlyAnEmptyFolderIsRemoved() throws {
    let folder = try TemporaryFolder()
    let path = folder.file("inner")
    try FileManager.default.createDirectory(atPath: path, withIntermediateDirectories: true)
    try AtomicFileWrite.replace(path: path + "/file", with: Array("one".utf8))
    #expect(!EmptyFolder.remove(path: path))
    try FileManager.default.removeItem(atPath: path + "/file")
    #expect(EmptyFolder.remove(path: path))
    #expect(!EmptyFolder.remove(path: path))
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
    // Making a file is several events, renaming one is one for each of its names.
    try FileManager.default.moveItem(atPath: folder.file("a"), toPath: folder.file("b"))
    #expect(await eventually { names.value == 1 })
    try Data().write(to: URL(fileURLWithPath: folder.file("a2")))
    #expect(await !eventually(within: .milliseconds(100)) { names.value > 1 })
  }

  @Test func twoWatchesOfAFolderHearEachOfItsOwnAndOneEndsAlone() async throws {
    let folder = try TemporaryFolder()
    let (one, two) = (Counter(), Counter())
    let first = try FileWatch(folder: folder.path, names: ["a"], debounce: .zero) { one.add() }
    let second = try FileWatch(folder: folder.path, names: ["b"], debounce: .zero) { two.add() }
    defer { second.cancel() }
    try Data("a".utf8).write(to: URL(fileURLWithPath: folder.file("a")))
    #expect(await eventually { one.value > 0 })
    #expect(two.value == 0)
    first.cancel()
    let before = one.value
    try Data("b".utf8).write(to: URL(fileURLWithPath: folder.file("b")))
    #expect(await eventually { two.value > 0 })
    try Data("a".utf8).write(to: URL(fileURLWithPath: folder.file("a")))
    #expect(await !eventually(within: .milliseconds(100)) { one.value > before })
  }

  @Test func aFolderThatIsMadeAnewIsWatchedAgain() async throws {
    let folder = try TemporaryFolder()
    let inner = folder.file("inner")
    try FileManager.default.createDirectory(atPath: inner, withIntermediateDirectories: false)
    let count = Counter()
    let watch = try FileWatch(folder: inner, debounce: .zero) { count.add() }
    defer { watch.cancel() }
    try FileManager.default.removeItem(atPath: inner)
    try FileManager.default.createDirectory(atPath: inner, withIntermediateDirectories: false)
    // What may have been written before it was found again is reported with its return.
    #expect(await eventually { count.value > 0 })
    let before = count.value
    try Data("b".utf8).write(to: URL(fileURLWithPath: inner + "/b"))
    #expect(await eventually { count.value > before })
  }

  @Test func aWatchThatRestsReportsOnceItListensAgain() async throws {
    let folder = try TemporaryFolder()
    let (one, two) = (Counter(), Counter())
    let first = try FileWatch(folder: folder.path, names: ["a"], debounce: .zero) { one.add() }
    let second = try FileWatch(folder: folder.path, names: ["b"], debounce: .zero) { two.add() }
    defer { for watch in [first, second] { watch.cancel() } }
    first.rest(until: .max)
    for name in ["a", "b"] { try Data("1".utf8).write(to: URL(fileURLWithPath: folder.file(name))) }
    #expect(await !eventually(within: .milliseconds(100)) { one.value + two.value > 0 })
    // A watch that is new in the folder listens, and those that rest still do.
    let third = try FileWatch(folder: folder.path, names: ["a"], debounce: .zero) { two.add() }
    third.rest(until: MonotonicClock.nanoseconds)
    #expect(await eventually { two.value > 0 })
    #expect(one.value == 0)
    third.cancel()
    #expect(await !eventually(within: .milliseconds(100)) { one.value > 0 })
  }

  @Test func afterARestAllWatchesOfTheFolderListenAgain() async throws {
    let folder = try TemporaryFolder()
    let (one, two) = (Counter(), Counter())
    let first = try FileWatch(folder: folder.path, names: ["a"], debounce: .zero) { one.add() }
    let second = try FileWatch(folder: folder.path, names: ["b"], debounce: .zero) { two.add() }
    defer { for watch in [first, second] { watch.cancel() } }
    for _ in 1...3 {
      first.rest(until: MonotonicClock.nanoseconds + 20_000_000)
      let before = (one.value, two.value)
      // What was written meanwhile may be anything, and is reported.
      #expect(await eventually { one.value > before.0 && two.value > before.1 })
    }
    let before = two.value
    try Data("b".utf8).write(to: URL(fileURLWithPath: folder.file("b")))
    #expect(await eventually { two.value > before })
  }

  @Test func aFolderThatIsMadeAnewDuringARestIsFound() async throws {
    let folder = try TemporaryFolder()
    let inner = folder.file("inner")
    try FileManager.default.createDirectory(atPath: inner, withIntermediateDirectories: false)
    let count = Counter()
    let watch = try FileWatch(folder: inner, debounce: .zero) { count.add() }
    defer { watch.cancel() }
    watch.rest(until: MonotonicClock.nanoseconds + 50_000_000)
    try FileManager.default.removeItem(atPath: inner)
    try FileManager.default.createDirectory(atPath: inner, withIntermediateDirectories: false)
    let before = count.value
    try Data("b".utf8).write(to: URL(fileURLWithPath: inner + "/b"))
    #expect(await eventually { count.value > before })
  }

  @Test func whatIsNoNewsIsNotReported() async throws {
    let folder = try TemporaryFolder()
    let (asked, reports) = (Counter(), Counter())
    let watch = try FileWatch(
      folder: folder.path, debounce: .zero, laterReports: [.milliseconds(1)]
    ) {
      asked.add()
      return false
    } onChange: {
      reports.add()
    }
    defer { watch.cancel() }
    try Data("a".utf8).write(to: URL(fileURLWithPath: folder.file("a")))
    #expect(await eventually { asked.value > 1 })
    #expect(reports.value == 0)
  }
}

final class Counter: Sendable {
  private let number = Mutex(0)
  var value: Int { number.withLock { $0 } }
  func add() { number.withLock { $0 += 1 } }
}
