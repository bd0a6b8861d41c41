// The last passes before a planned shutdown.

import CairnControl
import CairnSync

extension GroupEngine {
  /// Brings what is committed now to the replicas that can be reached, and says what is not.
  ///
  /// A replica in trouble is tried once more at once, and given up where the attempt after that comes too late.
  func bringAll(within limit: Duration) async -> DrainDaemon.Reply {
    guard let engine = try? current().engine else { return DrainDaemon.Reply() }
    let names = (try? engine.status().replicas.map(\.name)) ?? []
    let end = environment.now() + UInt64(max(0, limit / .milliseconds(1)))
    let failures = await withTaskGroup(of: (String, SyncError?).self) { group in
      for name in names {
        group.addTask { (name, await Self.bring(name, by: engine, within: limit, until: end)) }
      }
      var failures: [String: SyncError] = [:]
      for await (name, failure) in group { failures[name] = failure }
      return failures
    }
    let status = status()
    return DrainDaemon.Reply(
      lastTransaction: status.local?.lastTransaction,
      replicas: status.replicas.map { replica in
        let failure = failures[replica.name]
        let isLeftOut = failure?.code == .leftOut
        let direction =
          isLeftOut
          ? replica.waits.first { $0.kind == .leftOut }?.reason ?? failure?.message : nil
        let entities = replicas[replica.name]?.section.entities.map {
          "it has \($0.sorted().joined(separator: ", ")) only"
        }
        let leftOut = [direction, entities].compactMap { $0 }.joined(separator: "; ")
        return .init(
          name: replica.name, behind: replica.lagTransactions,
          reason: isLeftOut ? nil : failure?.message, leftOut: leftOut.isEmpty ? nil : leftOut)
      })
  }

  /// Waits until a replica is in step.
  ///
  /// - Parameter end: When the time is over, in milliseconds since 1970.
  /// - Returns: Why it is not; nil when it is.
  private static func bring(
    _ name: String, by engine: SyncEngine, within limit: Duration, until end: UInt64
  ) async -> SyncError? {
    // From before the attempt, so that its failure does not go unheard.
    let events = engine.events()
    let phase = try? engine.status().replicas.first { $0.name == name }?.phase
    if case .waiting = phase { try? engine.syncNow(names: [name]) }
    return await withTaskGroup(of: Result<Void, SyncError>?.self) { race in
      race.addTask {
        do {
          try await engine.wait(for: [name], timeout: limit)
          return .success(())
        } catch {
          return .failure(SyncError(describing: error, at: nil))
        }
      }
      race.addTask {
        for await event in events {
          if case .phaseChanged(name, .waiting(let next, let reason)) = event, next > end {
            return .failure(reason)
          }
        }
        return nil
      }
      var outcome = Result<Void, SyncError>.success(())
      for await case let ended? in race {
        outcome = ended
        break
      }
      race.cancelAll()
      if case .failure(let failure) = outcome { return failure }
      return nil
    }
  }
}
