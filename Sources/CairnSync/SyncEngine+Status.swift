// How a group stands.

import CairnStore

/// What the status says of the local store, as read at one moment.
///
/// It is the same as long as the store's file is.
package struct LocalReading: Sendable {
  /// The newest transaction in history.
  let transaction: Int64
  /// The last number of the change order.
  let sequence: UInt64
  /// Transactions that were not captured yet.
  let uncaptured: Int
  /// When the oldest of them was committed, in milliseconds since 1970; nil for none, and where history is gone.
  let uncapturedSince: UInt64?
  /// By name, what is kept about the stores that are served from this one.
  let readers: [String: ReaderNote]
}

/// A link's queue, for those who watch over the process.
package struct LinkQueue: Sendable {
  package let name: String
  /// What waits for the queue or runs on it.
  package let work: QueueWork
  let replica: PersistentStore?

  /// Whether the replica's file answers and no write to it is under way; blocks while the file hangs.
  ///
  /// What does not get on although it does is not the file's fault.
  package func isReplicaAnswering() -> Bool {
    if let history = replica?.capabilities.history { _ = try? history.lastTransactionNumber() }
    return replica?.capabilities.writer?.writerWork.isPending != true
  }
}

extension SyncEngine {
  /// The queues of all links.
  package var linkQueues: [LinkQueue] {
    ((try? links(nil)) ?? []).map {
      LinkQueue(name: $0.configuration.name, work: $0.work, replica: $0.store)
    }
  }

  /// The phase, lag and counters of every link.
  ///
  /// Reads only the local store.
  public func status() throws -> SyncStatus { try status(with: try readLocal()) }

  /// Reads what the status says of the local store.
  package func readLocal() throws -> LocalReading {
    let history = try local.history()
    let head = try local.ledger().head
    let newest = try history.lastTransactionNumber()
    let uncaptured = try? local.uncaptured(
      after: head.captured, limit: 1000, includesChanges: false)
    // History that is gone tells no number; something was there.
    let count = uncaptured.flatMap { $0.isLost ? nil : $0.transactions.count }
    return LocalReading(
      transaction: newest, sequence: head.sequence,
      uncaptured: count ?? 1, uncapturedSince: uncaptured?.transactions.first?.milliseconds,
      readers: try local.readersByName())
  }

  /// The status with what was read of the local store; all else is as it is now.
  package func status(with reading: LocalReading) throws -> SyncStatus {
    let now = local.environment.now()
    return SyncStatus(
      localStoreID: local.store.identifier ?? "", localTransaction: reading.transaction,
      replicas: try links(nil).map { link in
        let life = link.life
        let lag = life.pushedTo.map {
          Int(clamping: reading.sequence - min($0, reading.sequence)) + reading.uncaptured
        }
        let reader = reading.readers[link.configuration.name]
        let isExpired =
          reader.map {
            RetentionRule.isExpired($0, now, configuration.retentionMilliseconds)
          } ?? false
        return LinkStatus(
          configuration: link.configuration, phase: life.phase, phaseSince: life.phaseSince,
          lagTransactions: lag,
          lagSeconds: lag == 0 ? 0 : lagSeconds(of: life, reading, now),
          firstSyncProgress: life.firstSync,
          lastPass: life.lastPass, lastError: life.lastError, counters: life.counters,
          held: life.held, differences: life.differences, storeID: link.store?.identifier,
          expiredSince: isExpired ? reader?.heard : nil)
      })
  }

  /// How long the oldest change that a replica lacks may have been there; nil where nothing tells.
  private func lagSeconds(
    of life: LinkLife, _ reading: LocalReading, _ now: UInt64
  ) -> Double? {
    guard let position = life.pushedTo else { return nil }
    let arrival =
      reading.sequence > position
      ? local.arrivals?.time(after: position) : reading.uncapturedSince
    return [arrival, life.lastPassBegan].compactMap(\.self).max().map {
      now > $0 ? Double(now - $0) / 1000 : 0
    }
  }
}
