// The last passes before a planned shutdown.

import CairnControl
import CairnSync

extension GroupEngine {
  /// Brings what is committed now to the replicas that can be reached, and says what is not.
  func bringAll(within limit: Duration) async -> DrainDaemon.Reply {
    guard let engine = try? current().engine else { return DrainDaemon.Reply() }
    let names = (try? engine.status().replicas.map(\.name)) ?? []
    let failures = await withTaskGroup(of: (String, SyncError)?.self) { group in
      for name in names {
        group.addTask {
          do {
            try await engine.wait(for: [name], timeout: limit)
            return nil
          } catch {
            return (name, SyncError(describing: error, at: nil))
          }
        }
      }
      var failures: [String: SyncError] = [:]
      for await case let (name, failure)? in group { failures[name] = failure }
      return failures
    }
    let status = status()
    return DrainDaemon.Reply(
      lastTransaction: status.local?.lastTransaction,
      replicas: status.replicas.map { replica in
        let failure = failures[replica.name]
        let isLeftOut = failure?.code == .leftOut
        return .init(
          name: replica.name, behind: replica.lagTransactions,
          reason: isLeftOut ? nil : failure?.message,
          leftOut: isLeftOut
            ? replica.waits.first { $0.kind == .leftOut }?.reason ?? failure?.message : nil)
      })
  }
}
