import CairnStore

/// What a log and the local store say of each other, before anything is exchanged: whether either went back in time.
struct LogClaims {
  let log: any ChangeLog
  let local: StoreAccess

  /// What the log was given by a store: the furthest place that a stream of the store has.
  func claim(on writer: StoreID) throws -> ReaderClaim {
    var cursor = SyncCursor()
    for stream in try log.streams() where stream.writer == writer {
      guard let entry = try log.lastEntry(of: stream), entry.place > cursor.position else {
        continue
      }
      cursor = SyncCursor(position: entry.place, mark: entry.placeMark)
    }
    return ReaderClaim(cursor: cursor, ids: { try log.lives() })
  }

  /// Begins a new life of the log where it lacks what the local store has read, or has lost it before it was read; what
  /// is still there of the streams is read from where that is possible.
  ///
  /// - Returns: Whether there is a new life.
  func renewIfIncomplete(own isOwn: (LogStream) throws -> Bool) throws -> Bool {
    guard let life = try log.lives().last else { return false }
    let streams = try log.streams()
    let ledger = try local.ledger()
    let noted = try streamsRead(in: life, ledger)
    var isIncomplete = !noted.isSubset(of: streams.map(\.id))
    // Also what this store has read is missing for a member that joins.
    if streams.contains(where: { $0.life == life && $0.first > 1 }) { isIncomplete = true }
    var cursors: [StoreID: SyncCursor] = [:]
    for stream in streams where try !isOwn(stream) {
      let cursor = try ledger.cursor(for: stream.id)
      guard let next = try place(in: stream, after: cursor) else { continue }
      cursors[stream.id] = next
      // What a former life has lost its writers have appended once more.
      if stream.life == life { isIncomplete = true }
    }
    // First of all: else a death would leave nothing that shows it.
    if isIncomplete {
      let environment = local.environment
      try log.beginLife(
        StoreID(high: environment.random(), low: environment.random()), after: life)
    }
    if !cursors.isEmpty { try setCursors(cursors) }
    return isIncomplete
  }

  // Bytes: life 16 · streams, 16 each, in their order
  private func streamsRead(in life: StoreID, _ ledger: Ledger) throws -> Set<StoreID> {
    guard let data = try ledger.value(SyncKey.streams(of: try log.identifier())) else { return [] }
    var reader = ByteReader(data)
    // Of a life that is over all is appended once more.
    guard try reader.identity(StoreID.self) == life else { return [] }
    var found: Set<StoreID> = []
    while !reader.isAtEnd { found.insert(try reader.identity(StoreID.self)) }
    return found
  }

  /// Notes in the local store, before they are read, which streams there are: one that is gone as a whole leaves
  /// nothing in the log
  /// that tells of it.
  func note(_ streams: [StoreID], of life: StoreID) throws {
    let ledger = try local.ledger()
    let noted = try streamsRead(in: life, ledger)
    if noted.isSuperset(of: streams) { return }
    var writer = ByteWriter()
    writer.identity(life)
    for stream in noted.union(streams).sorted() { writer.identity(stream) }
    try local.keep(writer.data, at: SyncKey.streams(of: try log.identifier()))
  }

  /// Where a stream is to be read from that is not what was read of it, or does not have what follows; nil where all
  /// is as it was.
  private func place(in stream: LogStream, after cursor: SyncCursor) throws -> SyncCursor? {
    if cursor.position + 1 < stream.first { return SyncCursor(position: stream.first - 1) }
    let read = cursor.markedPosition
    // What was cut off after it was read is not missed.
    if read < stream.first || cursor.mark == 0 && read <= stream.last { return nil }
    if try log.decoded(read, of: stream.id)?.mark == cursor.mark { return nil }
    return SyncCursor()
  }

  private func setCursors(_ cursors: [StoreID: SyncCursor]) throws {
    for _ in 0..<StoreAccess.attempts {
      let ledger = try local.ledger()
      for (stream, cursor) in cursors { ledger.setCursor(cursor, for: stream) }
      if try local.commit(ledger) { return }
    }
    throw StoreAccess.contention(local.store)
  }
}
