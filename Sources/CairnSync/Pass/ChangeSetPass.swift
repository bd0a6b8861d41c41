import CairnStore

/// The pass over a replica that is given change sets: it reads and writes the local store alone, and exchanges sets
/// with the other side, which does
/// with them what its kind does.
// Unchecked: used on the queue of the link's context alone.
struct ChangeSetPass: ReplicaPass, @unchecked Sendable {
  let setting: PassSetting
  let remote: any ChangeSetSide
  private let local: StoreSide
  var direction: SyncDirection { setting.direction }

  init(_ setting: PassSetting, with remote: any ChangeSetSide) {
    self.setting = setting
    self.remote = remote
    local = StoreSide(
      access: setting.local, context: setting.context, readerName: setting.context.name ?? "",
      batchSize: setting.batchSize())
  }

  func beginStep() { local.access.headCache?.forget() }

  func identify() throws -> PassReport {
    try local.access.checkFile()
    var report = PassReport(event: .identified)
    report.restored = try remote.identify()
    if direction.pulls {
      for stream in try remote.streams() { try local.access.take(setting.filter, from: stream) }
    }
    if let ahead = try ClockRestart(access: local.access).runIfNeeded() {
      report.fallenBack[local.access.place] = ahead
    }
    return report
  }

  func captureLocal() throws -> PassReport {
    PassReport(
      event: .captured,
      captured: try HistoryCapture(access: local.access).run { _ in try setting.checkGoingOn() })
  }

  func lookForNews() throws -> PassReport {
    try remote.lookForNews()
    return PassReport(event: .captured)
  }

  func retryHeld(_ side: PassState.Side) throws -> PassReport {
    switch side {
    case .pull: try HeldRetry(side: local, source: try remote.reader()).run()
    case .push: try remote.retry()
    }
  }

  func exchange(_ side: PassState.Side) throws -> PassReport {
    let ends: (source: any ChangeSource, destination: any ChangeDestination) =
      side == .pull ? (remote, local) : (local, remote)
    return try Exchange(
      source: ends.source, destination: ends.destination,
      wanted: { [filter = setting.filter] in filter?.changes($0) ?? $0 },
      comeBack: { try remote.comeBack(side) },
      checkSource: { stream in
        guard side == .push, let claim = try remote.claim(on: stream) else { return }
        try setting.local.checkHasNotGoneBack { _ in claim }
      },
      checkDeletions: { stream, cursor in
        guard side == .pull else { return }
        try setting.deletions?.check(from: remote, stream, to: local.access, after: cursor)
      }, fullSet: .max
    ).move()
  }

  func settle() throws -> HeldRecords {
    try local.access.checkFile()
    beginStep()
    var held = try remote.settle()
    if direction.pulls {
      let awaited = AwaitedReferences(filter: setting.filter)
      held = try local.access.held(from: remote.senders(), awaiting: awaited) + held
    }
    return held
  }

  func countLeftOut(_ leftOut: inout LeftOut) throws -> Int {
    beginStep()
    if direction == .push { return try remote.unread() }
    // Nothing is given there: all that has not come from there stays here.
    return try local.access.changeCount(
      after: remote.cursor(for: try local.reader()).position, except: try remote.reader())
  }
}

extension StoreAccess {
  /// How many records and links stand in the change order after a place, but for those that came from a store.
  func changeCount(after position: UInt64, except store: StoreID) throws -> Int {
    guard let sidecar = self.store.capabilities.sidecar else { return 0 }
    return try sidecar.sidecarEntries(
      of: SyncMap.changes.rawValue, from: SyncKey.number(position + 1), to: nil, limit: 0,
      except: SyncKey.bytes(store)
    ).count { try SyncKey.change(from: $0.key).what != .moved }
  }
}
