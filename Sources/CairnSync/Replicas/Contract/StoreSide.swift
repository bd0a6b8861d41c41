import CairnContext
import CairnStore

/// A store as one end of an exchange: read through its change order, written through a plan that commits rows, stamps
/// and cursor at once.
// Unchecked: values and references that are Sendable themselves.
struct StoreSide: ChangeSource, ChangeDestination, @unchecked Sendable {
  let access: StoreAccess
  /// Where what it is given is merged; used on the queue of the link's context.
  let context: ManagedObjectContext
  /// Whether the context has a queue of its own, as that of a store with a model of its own does.
  var hasOwnQueue = false
  /// How the other is called in the notes that are kept about it here.
  var readerName = ""
  /// How many records the next set has; nil for the configured number.
  var batchSize: Int?
  var ahead = ReadAhead()

  // MARK: As a source

  private func exporter(for reader: StoreID) -> ChangeExporter {
    ChangeExporter(access: access, destination: reader, batchSize: batchSize)
  }

  func streams() throws -> [StoreID] { [try access.ledger().storeID] }

  func firstRead(of stream: StoreID) throws -> SyncCursor {
    let ledger = try access.ledger()
    return SyncCursor(
      streamingUntil: ledger.head.sequence, forgotten: try ledger.retention().floor)
  }

  func acknowledge(_ reader: StoreID, at position: UInt64, of stream: StoreID) throws {
    try access.offer(to: reader, at: position, name: readerName)
  }

  func changes(
    after cursor: SyncCursor, of stream: StoreID, for reader: StoreID
  ) throws -> SourceChanges? {
    let exporter = exporter(for: reader)
    let read = ahead.take(after: cursor, from: stream, by: exporter)
    guard let set = try read ?? exporter.next(after: cursor) else { return nil }
    let end = SyncCursor(
      position: set.upTo, streamingUntil: cursor.streamingUntil,
      mark: try access.mark(at: set.upTo), forgotten: cursor.forgotten)
    return SourceChanges(set: set, end: end)
  }

  func hasForgotten(after cursor: SyncCursor, of stream: StoreID) throws -> Bool {
    try access.ledger().retention().floor > cursor.furthest
  }

  func states(of ids: Set<RecordID>, for reader: StoreID) throws -> ChangeSet {
    try ChangeExporter(access: access, destination: reader).states(of: ids)
  }

  func claim(on destination: StoreID) throws -> ReaderClaim? {
    try access.claim(on: destination)
  }

  func readAhead(
    after changes: SourceChanges, of stream: StoreID, for reader: StoreID
  ) -> @Sendable () -> Void {
    ahead.begin(after: changes.end, by: exporter(for: reader))
  }

  // MARK: As a destination

  var takesParts: Bool { true }

  func reader() throws -> StoreID { try access.ledger().storeID }

  func cursor(for stream: StoreID) throws -> SyncCursor {
    try access.ledger().cursor(for: stream)
  }

  func take(
    _ changes: SourceChanges, of stream: StoreID, by expected: ExpectedDestination,
    asking: ((Set<RecordID>) throws -> [RecordState])?
  ) throws -> Acknowledgement {
    if try access.ledger().head.gap == .values {
      try HistoryGap(access: access).compare(with: changes.set.records)
    }
    let outcome = try importing(asking: asking) {
      var importer = $0
      importer.expected = expected
      return try importer.apply(changes.set, cursor: changes.end, of: stream)
    }
    // Another may have served it meanwhile, and only it knows how far.
    let position = outcome.wasServed ? try cursor(for: stream).position : changes.end.position
    return Acknowledgement(outcome: outcome, position: position)
  }

  /// Runs work on the queue on which objects of the store are merged.
  ///
  /// - Parameter asking: Asks the store that only a part of what it has done comes from.
  func importing<Value>(
    asking: KnownLoading.SourceReading? = nil, _ work: (ChangeImporter) throws -> Value
  ) throws -> Value {
    guard hasOwnQueue else {
      return try work(ChangeImporter(access: access, context: context, source: asking))
    }
    return try context.performAndWait {
      try work(ChangeImporter(access: access, context: context, source: asking))
    }
  }
}
