import CairnPlatform
import CairnStore
import Foundation

/// A write-ahead log, or its index, that was removed while programs have it open.
///
/// They go on in it, and who opens the database meanwhile begins another log: what both have written destroys the
/// file once it is moved there. SQLite does not notice.
struct RemovedLog {
  private let path: String
  private let wait: LockWait
  /// The file that the path leads to, beside which its log lies.
  private let file: String
  private var names: [String] { [file + "-wal", file + "-shm"] }

  /// - Parameter wait: For programs that notice it, as Cairn does at its next save or pass, and put the log into the
  ///   file: ``patience(_:)`` of this.
  init(of path: String, _ wait: LockWait) {
    (self.path, self.wait) = (path, Self.patience(wait))
    file = URL(fileURLWithPath: path).resolvingSymlinksInPath().path
  }

  static func patience(_ wait: LockWait) -> LockWait { LockWait(limit: min(wait.limit, 5000)) }

  /// Looks into the database, or opens it, while no program goes on in a log that was removed.
  ///
  /// - Throws: 134080 with who does so for longer than the wait, or when it began meanwhile: then what was read, or
  ///   the error from it, says nothing of the store.
  func trusting<Result>(_ work: () throws -> Result) throws -> Result {
    try waitForUsers()
    let before = identities
    let result = Swift.Result { try work() }
    let users =
      (try? result.get()) != nil && identities == before
      ? [] : users(mayBeThisProcess: false)
    if !users.isEmpty { throw refusal(users) }
    return try result.get()
  }

  private func waitForUsers() throws {
    var users: [FileUser] = []
    let isFree: Void? = wait.retrying {
      users = identities.contains(nil) ? self.users(mayBeThisProcess: true) : []
      return users.isEmpty ? () : nil
    }
    if isFree == nil { throw refusal(users) }
  }

  /// Which files the names lead to.
  private var identities: [FilePlace.File?] { names.map(FilePlace.File.init) }

  private func users(mayBeThisProcess: Bool) -> [FileUser] {
    guard let file = try? FileFacts(path: file) else { return [] }
    return RemovedFiles.holders(of: names, besides: file, mayBeThisProcess: mayBeThisProcess)
  }

  private func refusal(_ users: [FileUser]) -> CoreDataError {
    CoreDataError(
      .persistentStoreOpen,
      "The write-ahead log of the store at \(path) was removed while it was open in "
        + "\(users.map(\.description).joined(separator: ", ")), which goes on in it: a second program that opens "
        + "the store beside that damages it. End that program, or have it close the store.",
      userInfo: [NSFilePathErrorKey: path])
  }

  /// For a store whose log was removed or exchanged since it was opened, or as it was.
  static func failure(_ path: String) -> CoreDataError {
    CoreDataError(
      .persistentStoreOperation,
      "The write-ahead log of the store at \(path) was removed or replaced under it. The store is to be closed and "
        + "opened again, as a restart does.", userInfo: [NSFilePathErrorKey: path])
  }
}
