// Programs that write while the daemon is killed.
import Cairn
import CairnControl
import Foundation
import Synchronization

/// What the writers and the drill share.
///
/// Mutable state: all of it, inside the mutex; the condition only wakes.
final class DrillWriting: Sendable {
  private struct State {
    var promises = DrillPromises()
    var refused = 0
    var lastRefusal: String?
    var isPaused = true
    /// Writers that have ended.
    var over: Set<String> = []
    /// Writers that are in the middle of a save.
    var busy: Set<String> = []
  }

  private let state = Mutex(State())

  /// - Parameters:
  ///   - promises: What earlier writers were told.
  ///   - refused: What they were refused.
  init(promises: DrillPromises = DrillPromises(), refused: Int = 0) {
    state.withLock {
      $0.promises = promises
      $0.refused = refused
    }
  }

  var promises: DrillPromises { state.withLock(\.promises) }
  var refused: Int { state.withLock(\.refused) }
  var lastRefusal: String? { state.withLock(\.lastRefusal) }

  func edit(_ change: (inout DrillPromises) -> Void) { state.withLock { change(&$0.promises) } }

  func noteRefusal(_ error: any Error) {
    state.withLock {
      $0.refused += 1
      $0.lastRefusal = "\(error)"
    }
  }

  func resume() { state.withLock { $0.isPaused = false } }

  /// Returns when no writer is in the middle of a save; the daemon must be gone or answer.
  func pause() {
    state.withLock { $0.isPaused = true }
    while state.withLock({ !$0.busy.isEmpty }) { Thread.sleep(forTimeInterval: 0.002) }
  }

  func end() {
    state.withLock { $0.over = Set(DrillWriter.names) }
    pause()
  }

  /// Ends one writer, while others go on; returns when it is in the middle of no save.
  func end(_ name: String) {
    state.withLock { _ = $0.over.insert(name) }
    while state.withLock({ $0.busy.contains(name) }) { Thread.sleep(forTimeInterval: 0.002) }
  }

  /// Runs saves on a thread of its own until the end.
  ///
  /// - Parameter save: One save; false where it failed, and a while must pass.
  func start(_ name: String, _ save: @escaping @Sendable () -> Bool) {
    let thread = Thread {
      while true {
        let next = self.state.withLock { state -> Bool? in
          if state.over.contains(name) { return nil }
          if state.isPaused { return false }
          state.busy.insert(name)
          return true
        }
        guard let next else { return }
        var pause = 0.005
        if next {
          if !save() { pause = 0.02 }
          self.state.withLock { _ = $0.busy.remove(name) }
        }
        Thread.sleep(forTimeInterval: pause)
      }
    }
    thread.name = "drill.\(name)"
    thread.start()
  }
}

/// A program that inserts rows of its own, changes and deletes them, and writes to rows that others write
/// to as well.
///
/// Mutable state: the number of saves, inside the mutex; one thread uses it.
final class DrillWriter: Sendable {
  /// What writers are called, and how their rows begin.
  static let names = ["daemon", "program"]

  /// Whether a row belongs to one writer.
  static func isOwned(_ name: String) -> Bool { names.contains { name.hasPrefix("\($0)-") } }

  private let writing: DrillWriting
  private let name: String
  private var mark: String { "\(name)-" }
  /// The number of the save before the first.
  private let start: Int
  private let number: Mutex<Int>

  private init(_ writing: DrillWriting, _ name: String, after start: Int) {
    self.writing = writing
    self.name = name
    self.start = start
    number = Mutex(start)
  }

  /// What one save writes.
  private struct Batch {
    var new: [String]
    /// A row of an earlier save, with its next count.
    var changed: (name: String, count: Int)?
    var shared: String
    var deleted: String?
    var number: Int

    var names: [String] { new + [changed?.name].compactMap(\.self) }
  }

  private func next(deletes: Bool) -> Batch {
    let number = self.number.withLock { value -> Int in
      value += 1
      return value
    }
    var batch = Batch(
      new: (0..<3).map { "\(mark)\(number)-\($0)" }, shared: "shared-\(number % 5)", number: number)
    // Rows 0 are changed once, rows 2 deleted, each long after it was made; whether that was saved is
    // not known of each.
    if number > start + 4 { batch.changed = ("\(mark)\(number - 4)-0", 2) }
    if deletes, number > start + 6 { batch.deleted = "\(mark)\(number - 6)-2" }
    return batch
  }

  private func attempt(_ batch: Batch) {
    writing.edit { promises in
      for name in batch.new { promises.attempt(name, count: 1) }
      if let changed = batch.changed { promises.attempt(changed.name, count: changed.count) }
      if let name = batch.deleted { promises.attemptDeletion(name) }
    }
  }

  private func acknowledge(_ batch: Batch) {
    writing.edit { $0.acknowledge(batch.names + [batch.deleted].compactMap(\.self)) }
  }

  // MARK: Through the daemon

  /// A program that imports through the daemon's socket.
  ///
  /// - Parameter start: The number of its last save, where another one has come before it.
  static func throughDaemon(_ socket: String, _ writing: DrillWriting, after start: Int = 0) {
    let writer = DrillWriter(writing, "daemon", after: start)
    writing.start(writer.name) { writer.importOnce(socket) }
  }

  private func importOnce(_ socket: String) -> Bool {
    do {
      // Before anything is attempted: what cannot be sent is not in doubt.
      let client = try ControlClient(socket: socket, timeout: .seconds(20))
      let batch = next(deletes: false)
      attempt(batch)
      var rows = batch.new.map { Self.row($0, 1, "group-\(batch.number % 4)") }
      if let changed = batch.changed { rows.append(Self.row(changed.name, changed.count, nil)) }
      rows.append([
        "name": .string(batch.shared), "text": .string("daemon \(batch.number)"),
        "related": .array([.object(["name": .string(batch.new[0])])]),
      ])
      _ = try client.call(
        ImportRecords.self,
        ImportRecords.Parameters(
          entity: "Note", rows: rows, lines: Array(1...rows.count), key: ["name"]))
      acknowledge(batch)
      return true
    } catch {
      writing.noteRefusal(error)
      return false
    }
  }

  private static func row(_ name: String, _ count: Int, _ group: String?) -> [String: JSONValue] {
    var row: [String: JSONValue] = [
      "name": .string(name), "count": .integer(Int64(count)), "text": .string("text of \(name)"),
    ]
    if let group { row["group"] = .object(["name": .string(group)]) }
    return row
  }

  // MARK: Past the daemon

  /// A program that saves to a store's file, as applications do beside a daemon.
  ///
  /// - Parameter start: The number of its last save, where another one has come before it.
  /// - Returns: The store that it has open.
  @discardableResult
  static func toFile(
    _ path: String, model: ManagedObjectModel, _ writing: DrillWriting, after start: Int = 0
  ) throws -> DrillStore {
    let writer = DrillWriter(writing, "program", after: start)
    let store = try DrillStore(path: path, model: model)
    writing.start(writer.name) { writer.saveOnce(store) }
    return store
  }

  private func saveOnce(_ store: DrillStore) -> Bool {
    let batch = next(deletes: true)
    attempt(batch)
    do {
      try store.save { notes in
        for name in batch.new {
          try notes.set(name, count: 1, text: "text of \(name)", group: "group-\(batch.number % 4)")
        }
        // One that an earlier save failed to make is made by this.
        if let changed = batch.changed {
          try notes.set(changed.name, count: changed.count, text: "changed", group: nil)
        }
        try notes.set(batch.shared, count: 0, text: "program \(batch.number)", group: nil)
        if let name = batch.deleted { try notes.delete(name) }
      }
      acknowledge(batch)
      return true
    } catch {
      writing.noteRefusal(error)
      return false
    }
  }
}
