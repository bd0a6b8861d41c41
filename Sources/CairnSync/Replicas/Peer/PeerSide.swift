import CairnStore

/// A daemon during one pass: asked over a channel for what is new, and given what is new here.
///
/// What it has taken is what it says, not what this side sent: another daemon may have served it meanwhile, it may have
/// gone back in time, or have died between the message and the commit.
// Unchecked: used on the queue of the link's context alone.
final class PeerSide: ChangeSetSide, @unchecked Sendable {
  private let channel: any PeerChannel
  let place: String
  private let local: StoreAccess
  private let setting: PassSetting

  /// Its store, and what that was called before it went back in time.
  private var id = StoreID(high: 0, low: 0)
  private var former: [StoreID] = []
  /// How far it has been brought, as it has said last.
  private(set) var served = SyncCursor()
  /// From its names to those of the local store; nil where they are the same.
  private var translation: SchemaTranslation?
  /// How far the local store has come in its change order.
  private var acknowledged: UInt64 = 0

  init(_ channel: any PeerChannel, place: String, _ setting: PassSetting) {
    self.channel = channel
    self.place = place
    self.setting = setting
    local = setting.local
  }

  // MARK: Messages

  private func ask(_ matter: PeerQuestion.Matter) throws -> PeerAnswer {
    let question = PeerQuestion(
      asker: try local.ledger().storeID, name: local.configuration.name, matter)
    let answer = try PeerAnswer(decoding: channel.ask(question.encoded))
    guard case .refused(let code, let message, let recovery) = answer else { return answer }
    throw SyncError(
      SyncError.Code(rawValue: code) ?? .failed, "\(place): \(message)",
      // What a person has to do there cannot be done here: the link asks again.
      recovery: recovery == SyncError.Recovery.retry.rawValue ? .retry : .wait)
  }

  private func unexpected() -> SyncError {
    SyncError(.failed, "\(place) answers something else than it was asked", recovery: .wait)
  }

  private func learn(_ answer: PeerAnswer) throws {
    guard case .identity(let id, let former, let served, let names) = answer else {
      throw unexpected()
    }
    (self.id, self.former, self.served) = (id, former, served)
    let theirs = try SchemaNames(decoding: names)
    translation =
      theirs.digest == local.schema.namesDigest
      ? nil : SchemaTranslation(from: theirs, to: local.schema)
  }

  // MARK: Identity

  func identify() throws -> [String] {
    try greet()
    let peer = id
    var renewed: [String] = []
    let (served, ids) = (self.served, [peer] + former)
    let isRestored = try local.renewIfRestored(asSeenBy: { _ in
      ReaderClaim(cursor: served, ids: { ids })
    })
    if isRestored {
      renewed.append(local.place)
      try greet()
    }
    let expected = ExpectedDestination(id: id, claim: try local.claim(on: id))
    try learn(try ask(.present(PeerQuestion.Claim(expected))))
    if id != peer { renewed.append(place) }
    acknowledged = try local.ledger().cursor(for: id).position
    return renewed
  }

  private func greet() throws {
    try learn(
      try ask(.greet(filter: setting.filter?.encoded, names: local.schema.names.encoded)))
  }

  func lookForNews() throws { _ = try ask(.news) }
  func senders() throws -> Set<StoreID> { Set(former + [id]) }

  // MARK: As a source

  func streams() throws -> [StoreID] { [id] }

  func firstRead(of stream: StoreID) throws -> SyncCursor {
    guard case .firstRead(let cursor) = try ask(.firstRead) else { throw unexpected() }
    return cursor
  }

  func acknowledge(_ reader: StoreID, at position: UInt64, of stream: StoreID) throws {
    acknowledged = position
  }

  private var forgotten: (after: SyncCursor, isSo: Bool)?

  func changes(
    after cursor: SyncCursor, of stream: StoreID, for reader: StoreID
  ) throws -> SourceChanges? {
    let size = setting.batchSize() ?? local.configuration.batchSize
    let answer = try ask(
      .changes(after: cursor, acknowledged: acknowledged, batchSize: UInt64(max(1, size))))
    guard case .changes(let found, let end, let hasForgotten) = answer else { throw unexpected() }
    forgotten = (cursor, hasForgotten)
    guard var set = found else { return nil }
    // A daemon that became another meanwhile says so in the next pass.
    guard set.source == stream, set.after == cursor.position, set.upTo == end.position else {
      throw SyncError(.fileMoved, "\(place) is another store now", recovery: .retry)
    }
    if let translation { set = translation.changes(set) }
    return SourceChanges(set: set, end: end)
  }

  func hasForgotten(after cursor: SyncCursor, of stream: StoreID) throws -> Bool {
    if let forgotten, forgotten.after == cursor { return forgotten.isSo }
    _ = try changes(after: cursor, of: stream, for: local.ledger().storeID)
    return forgotten?.isSo ?? false
  }

  func states(of ids: Set<RecordID>, for reader: StoreID) throws -> ChangeSet {
    guard case .states(let set) = try ask(.states(ids.sorted())) else { throw unexpected() }
    return translation?.changes(set) ?? set
  }

  func claim(on destination: StoreID) throws -> ReaderClaim? {
    // It has said so of what the local store was when the pass began.
    ReaderClaim(cursor: served, ids: { [self] in [id] + former })
  }

  func unread() throws -> Int {
    let position = try local.ledger().cursor(for: id).position
    guard case .number(let count) = try ask(.pending(after: position)) else { throw unexpected() }
    return Int(clamping: count)
  }

  // MARK: As a destination

  // It would have to ask back.
  var takesParts: Bool { false }

  func reader() throws -> StoreID { id }

  func cursor(for stream: StoreID) throws -> SyncCursor { served }

  func take(
    _ changes: SourceChanges, of stream: StoreID, by expected: ExpectedDestination,
    asking: ((Set<RecordID>) throws -> [RecordState])?
  ) throws -> Acknowledgement {
    let answer = try ask(
      .take(
        changes.set, changes.end, names: local.schema.namesDigest,
        by: PeerQuestion.Claim(expected)))
    guard case .taken(let cursor, let counts) = answer else { throw unexpected() }
    if cursor == served, !changes.set.isEmpty || cursor.position < changes.end.position {
      throw SyncError(
        .contention, "\(place) has taken nothing of what it was given; trying again later",
        recovery: .retry)
    }
    served = cursor
    var outcome = ChangeImporter.Outcome()
    outcome.records = Int(clamping: counts.records)
    outcome.links = Int(clamping: counts.links)
    outcome.conflicts = Int(clamping: counts.conflicts)
    return Acknowledgement(outcome: outcome, position: cursor.position)
  }

  func retry() throws -> PassReport {
    guard case .taken(_, let counts) = try ask(.retry) else { throw unexpected() }
    var report = PassReport(event: .retried)
    report.records = Int(clamping: counts.records)
    report.links = Int(clamping: counts.links)
    return report
  }

  func comeBack(_ side: PassState.Side) throws -> [String: Int] {
    if side == .push, served.position == 0 {
      let notes = try local.readers()
      if !(former + [id]).contains(where: { notes[$0]?.position ?? 0 > 0 }) { return [:] }
    }
    throw SyncError(
      .notSyncing,
      "\(side == .push ? place : local.place) was away for longer than the retention, and deletes that it has not got "
        + "are forgotten; bring it together with the others by a store that both reach",
      recovery: .person)
  }

  func settle() throws -> HeldRecords {
    let before = (id, served)
    try greet()
    guard (id, served) == before else {
      throw SyncError(.fileMoved, "\(place) is not what it was; looking again", recovery: .retry)
    }
    if setting.direction.pulls { try noteForgotten() }
    let held = try held()
    guard held.parked > 0, setting.direction.pushes, try tellForgotten() else { return held }
    return try self.held()
  }

  private func held() throws -> HeldRecords {
    guard case .held(let held) = try ask(.held) else { throw unexpected() }
    return held
  }

  /// Notes which references here wait for what the daemon is not going to send.
  private func noteForgotten() throws {
    let position = try local.ledger().cursor(for: id).position
    var awaited = try local.awaitedRecords(limit: PeerService.mostAwaited)
    while !awaited.isEmpty {
      guard case .records(let gone) = try ask(.forgotten(awaited, readUpTo: position)) else {
        throw unexpected()
      }
      // It is believed for what it was asked.
      try local.noteGone(Set(awaited).intersection(gone).sorted())
      awaited = try local.awaitedRecords(after: awaited.last, limit: PeerService.mostAwaited)
    }
  }

  /// Tells the daemon which of its references wait for what it is not going to be sent.
  ///
  /// - Returns: Whether there are any.
  private func tellForgotten() throws -> Bool {
    var (last, count): (RecordID?, Int) = (nil, 0)
    repeat {
      guard case .records(let awaited) = try ask(.awaited(after: last)) else { throw unexpected() }
      let gone = try local.forgotten(
        among: awaited, readUpTo: served.position, filter: setting.filter)
      if !gone.isEmpty {
        guard case .done = try ask(.gone(gone)) else { throw unexpected() }
      }
      count += gone.count
      // A daemon that names the same ones again has no more.
      last = awaited.last.flatMap { found in last.map { $0 < found } ?? true ? found : nil }
    } while last != nil
    return count > 0
  }
}
