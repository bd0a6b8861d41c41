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
    let set = try offering(to: reader, at: cursor.position) { isFirst in
      if isFirst, let read { return read }
      return try exporter.next(after: cursor)
    }
    guard let set else { return nil }
    let end = SyncCursor(
      position: set.upTo, streamingUntil: cursor.streamingUntil,
      mark: try access.mark(at: set.upTo), forgotten: cursor.forgotten)
    return SourceChanges(set: set, end: end)
  }

  /// Reads a set, and notes what the reader is about to see of the store's own stamps once it is read: what is captured
  /// on the way has later ones than were there before.
  private func offering(
    to reader: StoreID, at position: UInt64? = nil, _ read: (_ isFirst: Bool) throws -> ChangeSet?
  ) throws -> ChangeSet? {
    for attempt in 0..<StoreAccess.attempts {
      let epoch = attempt == 0 ? nil : try access.ledger().head.epoch
      guard let set = try read(attempt == 0) else { return nil }
      let reading = try access.offer(to: reader, at: position, name: readerName)
      guard let latest = set.latestReading(of: set.source, after: reading) else { return set }
      // From before the clock was set right, as others have seen it; or another daemon has just done that, and has
      // given new stamps to what it found unseen.
      try access.offer(to: reader, at: position, name: readerName, upTo: latest)
      if let epoch, try access.ledger().head.epoch == epoch { return set }
    }
    throw StoreAccess.contention(access.store)
  }

  func hasForgotten(after cursor: SyncCursor, of stream: StoreID) throws -> Bool {
    try access.ledger().retention().floor > cursor.furthest
  }

  func states(of ids: Set<RecordID>, for reader: StoreID) throws -> ChangeSet {
    let exporter = ChangeExporter(access: access, destination: reader)
    return try offering(to: reader) { _ in try exporter.states(of: ids) }
      ?? ChangeSet(source: exporter.access.ledger().storeID, after: 0, upTo: 0)
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
