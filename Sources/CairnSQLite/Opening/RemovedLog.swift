import CairnPlatform
import CairnStore
import Foundation

/// A write-ahead log, or its index, that was removed while programs have it open.
///
/// They go on in it, and who opens the database meanwhile begins another log: what both have written destroys the
/// file once it is moved there. SQLite does not notice.
enum RemovedLog {
  /// How long to wait for programs that notice it, as Cairn does at its next save or pass, and use the file themselves.
  static func patience(_ wait: LockWait) -> LockWait { LockWait(limit: min(wait.limit, 5000)) }

  /// Looks before a connection is opened whether a program goes on in a log that was removed, and waits until those
  /// that notice have put it into the file.
  ///
  /// - Throws: 134080, with who it is, when it takes longer than the wait.
  static func checkNoneIsUsed(at path: String, _ wait: LockWait) throws {
    let stem = URL(fileURLWithPath: path).resolvingSymlinksInPath().path
    let names = [stem + "-wal", stem + "-shm"]
    var attempts: Int32 = 0
    while !names.allSatisfy(FileManager.default.fileExists), let file = try? FileFacts(path: stem) {
      let users = Set(names.flatMap { RemovedFiles.holders(of: $0, besides: file) })
      if users.isEmpty { return }
      guard let pause = patience(wait).pause(before: attempts) else {
        let text = users.sorted { $0.process < $1.process }.map(\.description)
          .joined(separator: ", ")
        throw CoreDataError(
          .persistentStoreOpen,
          "The write-ahead log of the store at \(path) was removed while \(text) had the store open, and goes on "
            + "in it; whoever opens the store beside that damages it. End that program, or have it close the store.",
          userInfo: [NSFilePathErrorKey: path])
      }
      QueueWork.gotOn()
      usleep(UInt32(pause))
      attempts += 1
    }
  }

  /// For a log that was removed, or exchanged, as the store was opened.
  static func failure(_ path: String) -> CoreDataError {
    CoreDataError(
      .persistentStoreOperation,
      "The write-ahead log of the store at \(path) was removed or replaced while it was being opened. Try again.",
      userInfo: [NSFilePathErrorKey: path])
  }
}
