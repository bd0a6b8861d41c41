// Contexts that read while one writes: what waiting for each other costs.

@_spi(Generated) import Cairn
import Foundation
import Synchronization

extension Cases {
  /// How many saves the writer makes, and how many rows each of them changes.
  private static let saves = 50
  private static let changes = 100

  /// Every reader reads its share of all rows, in ranges of fifty, while a writer saves.
  ///
  /// Both do a fixed amount of work, and the clock stops with the last of them.
  func readBesideWriter(readers: Int) throws -> CaseResult {
    let groups = max(rows / 50 / readers, 1) * readers
    let samples = Sample.rows(groups * 50)
    let shares = (0..<readers).map { reader in
      (0..<(groups / readers)).map { $0 * readers + reader }
    }
    let written = (0..<Self.saves).map { save in
      (0..<Self.changes).map { Int64(($0 * Self.saves + save) % samples.count + 1) }
    }
    return try measure(
      "\(readers) reading while one writes", units: groups * 50, rounds: rounds,
      [
        Contestant(name: "raw") {
          try withRaw(filled: false) { writer in
            try writer.insert(samples)
            try writer.execute("CREATE INDEX item_grp ON item(grp)")
            let databases = try shares.map { _ in try RawDatabase(writer.file) }
            return try timedTogether(
              zip(databases, shares).map { database, share in
                { keep(try database.ranges(share)) }
              } + [{ for ids in written { try writer.update(ids) } }])
          }
        },
        Contestant(name: "Cairn") {
          try withCairn(filled: false, isIndexed: true) { stack in
            try stack.insert(samples)
            let writer = stack.newContext()
            let objects = try writer.performAndWait {
              let objects = try stack.fetchAll(writer, asFaults: false)
              return Dictionary(
                uniqueKeysWithValues: objects.map { object -> (Int64, ManagedObject) in
                  guard case .integer(let number) = object.storedValue(at: ItemSlot.number)
                  else { return (0, object) }
                  return (number + 1, object)
                })
            }
            let contexts = shares.map { _ in stack.newContext() }
            return try timedTogether(
              zip(contexts, shares).map { context, share in
                { try context.performAndWait { keep(try stack.ranges(share, in: context)) } }
              } + [
                {
                  try writer.performAndWait {
                    for ids in written {
                      for id in ids { objects[id]?.change(to: id) }
                      try writer.save()
                    }
                  }
                }
              ])
          }
        },
      ])
  }

  /// Runs each block on a thread of its own; the seconds until all are done.
  private func timedTogether(_ blocks: [() throws -> Void]) throws -> Double {
    let done = DispatchGroup()
    let failures = Failures()
    let seconds = timed {
      for block in blocks {
        // Unchecked: each block has a connection or a context that no other thread uses.
        nonisolated(unsafe) let block = block
        done.enter()
        Thread {
          do { try block() } catch { failures.add(error) }
          done.leave()
        }.start()
      }
      done.wait()
    }
    try failures.throwFirst()
    return seconds
  }
}

/// What went wrong on other threads.
private final class Failures: Sendable {
  private let errors = Mutex<[any Error]>([])
  func add(_ error: any Error) { errors.withLock { $0.append(error) } }
  func throwFirst() throws {
    if let first = errors.withLock({ $0.first }) { throw first }
  }
}

extension ManagedObject {
  /// Two of the ten attributes.
  func change(to number: Int64) {
    setStoredValue(.integer(number &* 3), at: ItemSlot.count)
    setStoredValue(.string("changed \(number)"), at: ItemSlot.title)
  }
}
