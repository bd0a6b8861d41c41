/// Moves change sets from a source to a destination, one a step: whatever kinds they are, the source notes only
/// places that the destination itself has told.
struct Exchange {
  let source: any ChangeSource
  let destination: any ChangeDestination
  /// What of a set the destination takes, in its own names.
  let wanted: (ChangeSet) throws -> ChangeSet
  /// What a destination does to which the source cannot tell all that it has missed: gives how much it has deleted by
  /// that, by its place; nil where it has missed nothing.
  let comeBack: () throws -> [String: Int]
  /// Stops an exchange whose source is not what the destination was served from before, since the look at the beginning
  /// of the pass: of two machines with one image, the other has served it meanwhile, under the same identity.
  var checkSource: (_ stream: StoreID) throws -> Void = { _ in }
  /// Stops a pass that would delete too much.
  let checkDeletions: (_ stream: StoreID, _ cursor: SyncCursor) throws -> Void
  /// How many records make a set that another is read beside.
  let fullSet: Int

  static let hasGoneBack = SyncError(
    .fileMoved, "a store has gone back in time while it was given changes; looking again",
    recovery: .retry)

  /// Moves the next set of the first stream that has one.
  func move() throws -> PassReport {
    var report = PassReport(event: .drained)
    for stream in try source.streams() {
      let next = try move(stream)
      if next.event != .drained { return next }
      report.position = next.position
      report.returned.merge(next.returned) { $1 }
    }
    return report
  }

  private func move(_ stream: StoreID) throws -> PassReport {
    let reader = try destination.reader()
    var cursor = try destination.cursor(for: stream)
    if cursor == SyncCursor(), destination.takesParts {
      cursor = try source.firstRead(of: stream)
    }
    try source.acknowledge(reader, at: cursor.position, of: stream)
    let next = try source.changes(after: cursor, of: stream, for: reader)
    // Between the look at the beginning of the pass and this, as on a machine that slept, other daemons may have had
    // the source forget what the destination has yet to learn of.
    let isBehind = try source.hasForgotten(after: cursor, of: stream)
    let forgotten = try isBehind ? source.firstRead(of: stream).forgotten : 0
    let returned = try isBehind ? comeBack() : [:]
    guard let next else {
      var report = PassReport(event: .drained)
      report.position = cursor.position
      report.returned = returned
      return report
    }
    // Once the set is read: what another daemon commits after a look would be read unseen.
    try checkSource(stream)
    try checkDeletions(stream, cursor)
    let set = try wanted(next.set)
    let isPart = next.set.upTo <= cursor.streamingUntil
    let isFull = next.set.records.count + next.set.links.count >= fullSet
    var end = next.end
    end.forgotten = max(end.forgotten, forgotten)
    let changes = SourceChanges(set: set, end: end)
    let finishReading =
      isFull ? source.readAhead(after: changes, of: stream, for: reader) : {}
    defer { finishReading() }
    let taken = try destination.take(
      changes, of: stream,
      by: ExpectedDestination(id: reader, claim: source.claim(on: reader)),
      asking: isPart
        ? { ids in try wanted(source.states(of: ids, for: reader)).records } : nil)
    // Sets leave out what came from the destination itself, which has lost that now: the next pass finds out that it
    // has gone back in time, and sends it everything.
    guard taken.position >= cursor.position else { throw Self.hasGoneBack }
    var report = PassReport(event: set.isEmpty ? .passedOver : .moved)
    report.take(taken.outcome)
    report.unreadable = next.set.unreadable
    report.returned = returned
    report.position = taken.position
    if cursor.isStreaming {
      report.progress = min(
        1, Double(taken.position) / Double(max(1, cursor.streamingUntil)))
    }
    return report
  }
}
