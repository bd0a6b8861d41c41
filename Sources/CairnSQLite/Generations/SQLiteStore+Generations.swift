import CairnStore
import Foundation
import GRDB

// Query generations: which are held, and connections for the next ones.

/// What a store knows of its generations; a value inside the store's mutex.
struct GenerationList {
  /// Those that a caller holds.
  private var held: [ObjectIdentifier: HeldTransaction] = [:]
  /// Connections that generations no longer need, for the next ones.
  private var idle: [DatabaseQueue] = []
  /// Files that no row names any more but a generation may.
  private var unneededFiles: [String] = []
  private static let idleLimit = 2
  private var isShortening = false

  /// False when the log is being moved already.
  mutating func beginShortening() -> Bool {
    defer { isShortening = true }
    return !isShortening
  }
  mutating func endShortening() { isShortening = false }

  mutating func add(_ transaction: HeldTransaction) {
    held[ObjectIdentifier(transaction)] = transaction
  }

  mutating func remove(_ transaction: HeldTransaction) {
    held[ObjectIdentifier(transaction)] = nil
  }

  mutating func takeIdle() -> DatabaseQueue? { idle.popLast() }

  /// False when there are enough.
  mutating func keepIdle(_ connection: DatabaseQueue) -> Bool {
    guard idle.count < Self.idleLimit else { return false }
    idle.append(connection)
    return true
  }

  /// Takes files that became superfluous; gives those that may be removed now.
  mutating func removable(_ files: [String]) -> [String] {
    unneededFiles += files
    guard held.values.allSatisfy({ !$0.isOpen }) else { return [] }
    defer { unneededFiles = [] }
    return unneededFiles
  }

  /// Empties the list; the caller ends the transactions and closes the connections.
  mutating func removeAll() -> (
    transactions: [HeldTransaction], connections: [DatabaseQueue], files: [String]
  ) {
    defer { self = GenerationList() }
    return (Array(held.values), idle, unneededFiles)
  }
}

extension SQLiteStore: GenerationKeeping {
  /// Nil for a store with a rollback journal, where a reader would keep writers waiting.
  public func currentGeneration(
    lasting lifetime: GenerationLifetime
  ) throws -> (any StoreGeneration)? {
    let (reader, snapshots) = (try reader, try snapshots)
    guard let pool = try database as? DatabasePool else { return nil }
    shortenLog(of: pool)
    do {
      let connection = try state.withLock { $0.generations.takeIdle() } ?? openConnection()
      do {
        guard try HeldTransaction.begin(connection) else {
          try connection.close()
          return nil
        }
        try connection.unsafeRead { try snapshots.check(SQLiteConnection(database: $0)) }
      } catch {
        try? connection.close()
        throw error
      }
      let transaction = HeldTransaction(
        connection: connection, path: path, options: configuration.options, lasting: lifetime)
      state.withLock { $0.generations.add(transaction) }
      return SQLiteGeneration(
        transaction, reader: reader,
        named: { [identity] in
          try (identity.store.target as? SQLiteStore)?.namedFiles(among: $0) ?? []
        }
      ) { [identity] transaction in
        if let store = identity.store.target as? SQLiteStore {
          store.release(transaction)
        } else {
          try? transaction.end()?.close()
        }
      }
    } catch {
      throw SQLiteResultCode.translate(error, path: path, doing: "be read")
    }
  }

  /// A log that is longer than this many bytes is moved before a generation begins.
  private static let longLog = 8 << 20
  /// Seconds that a generation waits at most for a long log to be moved.
  private static let longestWait = 0.02

  /// Moves the log into the database if it has grown long.
  ///
  /// A generation that begins when all of the log has been moved does not need the log, which can
  /// then be used from its beginning. Without such a moment the log would grow for as long as one
  /// generation follows the other, as with a pinned context that saves.
  private func shortenLog(of pool: DatabasePool) {
    let facts = try? FileManager.default.attributesOfItem(atPath: path + "-wal")
    guard (facts?[.size] as? NSNumber)?.intValue ?? 0 > Self.longLog, failure == nil,
      !isReadOnly, !hasLostLog, state.withLock({ $0.generations.beginShortening() })
    else { return }
    // A short read's transaction would need the log as well.
    state.withLock { $0.heldReader }?.letGo()
    let isDone = DispatchSemaphore(value: 0)
    pool.asyncWriteWithoutTransaction { [identity] connection in
      let store = identity.store.target as? SQLiteStore
      do {
        _ = try connection.checkpoint(.passive)
      } catch {
        _ = store?.failed(error, doing: "be checkpointed")
      }
      store?.state.withLock { $0.generations.endShortening() }
      isDone.signal()
    }
    // A writer that takes longer is not waited for.
    _ = isDone.wait(timeout: .now() + Self.longestWait)
  }

  private func openConnection() throws -> DatabaseQueue {
    try settings(isReadOnly: true).openGenerationReader()
  }

  private func release(_ transaction: HeldTransaction) {
    if let connection = transaction.end() {
      let isKept = state.withLock { $0.database != nil && $0.generations.keepIdle(connection) }
      if !isKept { try? connection.close() }
    }
    let files = state.withLock { state in
      state.generations.remove(transaction)
      return state.generations.removable([])
    }
    self.files.remove(files)
  }

  /// Removes files that a commit made superfluous, at once or when no generation can name them any
  /// more.
  func removeUnneededFiles(_ names: [String]) {
    guard names.isEmpty || isLastCommitDurable() else { return }
    files.remove(state.withLock { $0.generations.removable(names) })
  }

  /// Makes the last commit durable where commits by themselves are not: after a power cut the rows
  /// of before would name the files again.
  private func isLastCommitDurable() -> Bool {
    do {
      let isPool = try database is DatabasePool
      try database.writeWithoutTransaction { connection in
        let level = try SQLiteConnection(database: connection).integer("PRAGMA synchronous") ?? 2
        if isPool {
          if level < 2 { try LogCare.synchronizeLog(of: connection) }
        } else if level < 3 {
          try SQLiteFileSet(path: path, options: configuration.options).synchronizeFolder()
        }
      }
      return true
    } catch {
      _ = failed(error, doing: "be synchronized")
      return false
    }
  }

  /// Ends all generations, because the store is closed.
  func giveUpGenerations() {
    let (transactions, connections, files) = state.withLock { $0.generations.removeAll() }
    for transaction in transactions { transaction.giveUp("the store was closed") }
    for connection in connections { try? connection.close() }
    self.files.remove(files)
  }
}
