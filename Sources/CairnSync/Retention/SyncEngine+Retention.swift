import CairnStore
import Foundation

// Purge: removing what is kept for other stores and needed by none.

extension SyncEngine {
  /// Removes from the local store and the replicas that are open what is older than the retention and
  /// every live replica has acknowledged: history, deleted records, markers, the conflict journal.
  ///
  /// Runs in short commits, between which applications and links write; ending it in between loses
  /// nothing. Records that exist, their stamps, and what waits in quarantine are never touched.
  ///
  /// - Parameters:
  ///   - names: `local` and names of replicas; nil for all.
  ///   - age: Removes what is older than this instead; replicas have the retention's time all the same.
  ///     `.zero` removes all that every live replica has acknowledged.
  ///   - isPlan: Whether only to tell what would go, and what holds the rest back.
  /// - Returns: A report for each store, `local` first. A replica that is not open has none.
  /// - Throws: ``SyncError`` for a name that no replica has; `CancellationError` between two commits when
  ///   the task is cancelled.
  @discardableResult
  public func purge(
    names: [String]? = nil, olderThan age: Duration? = nil, isPlan: Bool = false
  ) async throws -> [PurgeReport] {
    let links = try links(names.map { $0.filter { $0 != Self.localName } })
    await acknowledge(try self.links(nil))
    var reports: [PurgeReport] = []
    if names?.contains(Self.localName) ?? true {
      reports.append(try await purge(local, Self.localName, age, isPlan))
    }
    reports += try await withThrowingTaskGroup(of: PurgeReport.self) { group in
      for link in links {
        guard let replica = link.replica else { continue }
        let name = link.configuration.name
        group.addTask { try await self.purge(replica, name, age, isPlan) }
      }
      var found: [PurgeReport] = []
      for try await report in group { found.append(report) }
      return found.sorted { $0.store < $1.store }
    }
    return reports
  }

  /// How the local store is called where replicas have names.
  private static let localName = "local"

  /// Purges one store; what goes wrong is in the report, and keeps no other from being purged.
  private func purge(
    _ access: StoreAccess, _ name: String, _ age: Duration?, _ isPlan: Bool
  ) async throws -> PurgeReport {
    let milliseconds = age.map { UInt64(max(0, $0 / .milliseconds(1))) }
    let steps = UpkeepSteps(
      try Purge(access: access, name: name, age: milliseconds, isPlan: isPlan),
      name: "cairn.sync.purge.\(name)")
    var problem: SyncError?
    do {
      while try await steps.perform({ try $0.step() }) {
        try Task.checkCancellation()
        // A small share: applications and links that wait to write go first.
        if !isPlan { try await access.environment.sleep(.milliseconds(2)) }
      }
    } catch let error as CancellationError {
      throw error
    } catch {
      problem = SyncError(describing: error, at: access.store.url)
    }
    var report = try await steps.perform { $0.report }
    report.problem = problem
    for reader in report.newlyExpired where !isPlan {
      publish(
        .expired(
          replica: name, path: access.store.url?.storePlace ?? "",
          reader: reader.name.isEmpty ? reader.id.description : reader.name))
    }
    return report
  }

  /// Keeps nothing for a replica that is removed, nor in it for the local store.
  ///
  /// Where it fails, time does it.
  ///
  /// - Parameter isInOrder: Whether the replica answers; one that does not is not touched.
  func release(_ link: Link, isInOrder: Bool) async {
    let name = link.configuration.name
    // A replica of that name that was added while the last step of this one hung needs what its notes keep.
    guard (try? self.link(name)) == nil else { return }
    // Of a log, also those who append to it.
    for (id, note) in (try? local.readers()) ?? [:]
    where note.name == name || note.name.hasPrefix("\(name)/") {
      try? local.releaseReader(id)
    }
    guard isInOrder, let replica = link.replica else { return }
    let local = self.local
    try? await link.perform { try replica.releaseReader(try local.ledger().storeID) }
  }

  /// Leaves in the stores of the links that are open how far the others have come, so that a purge knows.
  ///
  /// A replica that fails, or does not answer soon, has not been there.
  private func acknowledge(_ links: [Link]) async {
    let open = links.filter { $0.replica != nil && !$0.life.isPaused }
    if open.isEmpty { return }
    let (answers, answer) = AsyncStream.makeStream(of: Void.self)
    for link in open {
      Task {
        try? await leaveNotes(of: link)
        answer.yield()
      }
    }
    let environment = local.environment
    let timer = Task {
      try? await environment.sleep(.seconds(10))
      answer.finish()
    }
    var count = 0
    for await _ in answers {
      count += 1
      if count == open.count { break }
    }
    timer.cancel()
  }

  private func leaveNotes(of link: Link) async throws {
    guard let replica = link.replica else { return }
    let (local, configuration) = (self.local, link.configuration)
    try await link.perform {
      if configuration.direction.pushes {
        try local.acknowledge(replica, name: configuration.name)
      }
      if configuration.direction.pulls {
        try replica.acknowledge(local, name: local.configuration.name)
      }
    }
  }
}

/// Work that is done in steps on a queue of its own, and not on Swift's threads.
///
/// Mutable state: `work`, on `queue`.
// Unchecked: `work` is used on the queue only.
final class UpkeepSteps<Work>: @unchecked Sendable {
  private var work: Work
  private let queue: DispatchQueue

  init(_ work: sending Work, name: String) {
    self.work = work
    queue = DispatchQueue(label: name, qos: .utility)
  }

  func perform<Value: Sendable>(
    _ step: @escaping @Sendable (inout Work) throws -> Value
  ) async throws -> Value {
    try await withCheckedThrowingContinuation { continuation in
      queue.async { continuation.resume(with: Result { try step(&self.work) }) }
    }
  }
}
