import Synchronization

/// The change set that follows the one which is being applied, read from the source meanwhile.
///
/// Only sets that are full are followed by another: a pass that moves little reads nothing beside itself.
final class ReadAhead: Sendable {
  private struct Read {
    let cursor: SyncCursor
    let source: StoreID
    let destination: StoreID
    let batchSize: Int
    let set: ChangeSet
  }
  private let read = Mutex<Read?>(nil)

  /// The set after a cursor, if it was read; whatever else was read is dropped, and what is more than commits may
  /// have by now.
  func take(
    after cursor: SyncCursor, from source: StoreID, by exporter: ChangeExporter
  ) -> ChangeSet? {
    let read = self.read.withLock { state -> Read? in
      defer { state = nil }
      return state
    }
    guard let read, read.cursor == cursor, read.source == source,
      read.destination == exporter.destination, read.batchSize <= exporter.batchSize
    else { return nil }
    return read.set
  }

  /// Starts to read what follows a cursor.
  ///
  /// A failure shows when the set is asked for, and read again.
  ///
  /// - Returns: Waits until it has been read.
  func begin(after cursor: SyncCursor, by exporter: ChangeExporter) -> @Sendable () -> Void {
    exporter.access.environment.beside { [self] in
      guard let set = try? exporter.next(after: cursor) else { return }
      read.withLock {
        $0 = Read(
          cursor: cursor, source: set.source, destination: exporter.destination,
          batchSize: exporter.batchSize, set: set)
      }
    }
  }
}
