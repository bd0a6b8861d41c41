// The last passes before a planned shutdown.

import CairnControl
import CairnSync

extension GroupEngine {
  /// Brings what is committed now to the replicas that can be reached, and says what is not.
  func bringAll(within limit: Duration) async -> DrainDaemon.Reply {
    guard let engine = try? current().engine else { return DrainDaemon.Reply() }
    let names = (try? engine.status().replicas.map(\.name)) ?? []
    let reasons = await withTaskGroup(of: (String, String?).self) { group in
      for name in names {
        group.addTask {
          do {
            try await engine.wait(for: [name], timeout: limit)
            return (name, nil)
          } catch {
            return (name, (error as? SyncError)?.message ?? "\(error)")
          }
        }
      }
      return await group.reduce(into: [:]) { $0[$1.0] = $1.1 }
    }
    let status = status()
    return DrainDaemon.Reply(
      lastTransaction: status.local?.lastTransaction,
      replicas: status.replicas.map {
        .init(name: $0.name, behind: $0.lagTransactions, reason: reasons[$0.name])
      })
  }
}
