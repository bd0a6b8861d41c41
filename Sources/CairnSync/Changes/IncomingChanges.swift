import CairnStore
import Foundation

/// What of a change set may come in: the rest is held, with what was held of it before.
struct IncomingChanges {
  private(set) var records: [RecordState] = []
  private(set) var links: [LinkChange] = []
  private(set) var held: [Held] = []

  struct Held {
    let content: QuarantineEntry.Content
    let reason: QuarantineEntry.Reason
    let message: String

    fileprivate var key: SidecarKey {
      switch content {
      case .record(let state): return SyncKey.quarantine(state.id)
      case .link(let link): return SyncKey.quarantine(link.key)
      }
    }
  }

  private let ledger: Ledger
  private let time: CredibleTime
  private let now: UInt64

  /// Takes out of quarantine what is not to be held any more.
  ///
  /// - Parameter refused: Records that validation refuses, with what it says.
  init(
    _ set: ChangeSet, refused: [RecordID: String], access: StoreAccess, ledger: Ledger
  ) throws {
    self.ledger = ledger
    now = access.environment.now()
    time = try ledger.credibleTime(limit: access.latestCredibleTime)
    try ledger.prefetch(set.records.map { SyncKey.quarantine($0.id) })
    for record in set.records { try sort(record, refused[record.id]) }
    guard !set.links.isEmpty else { return }
    try ledger.prefetch(set.links.map { SyncKey.quarantine($0.key) })
    for link in set.links { try sort(link) }
  }

  private mutating func sort(_ incoming: RecordState, _ refusal: String?) throws {
    var state = incoming
    let key = SyncKey.quarantine(state.id)
    let waiting = try ledger.value(key).map(QuarantineEntry.init(decoding:))
    if let earlier = waiting?.state { state = state.joined(with: earlier) }
    if state.latestReading.milliseconds > time.limit,
      let reading = state.reading(beyond: time, newTo: try ledger.record(state.id))
    {
      hold(.record(state), reading)
    } else if let refusal {
      held.append(Held(content: .record(state), reason: .validation, message: refusal))
    } else {
      records.append(state)
      if waiting != nil { ledger.put(key, nil) }
    }
  }

  private mutating func sort(_ incoming: LinkChange) throws {
    var link = incoming
    let key = SyncKey.quarantine(link.key)
    let waiting = try ledger.value(key).map(QuarantineEntry.init(decoding:))
    if let earlier = waiting?.link {
      link = LinkChange(key: link.key, state: link.state.joined(with: earlier.state))
    }
    if link.state.latestReading.milliseconds > time.limit,
      let reading = link.state.reading(beyond: time, newTo: try ledger.link(link.key)?.state)
    {
      hold(.link(link), reading)
    } else {
      links.append(link)
      if waiting != nil { ledger.put(key, nil) }
    }
  }

  private mutating func hold(_ content: QuarantineEntry.Content, _ reading: ClockReading) {
    let ahead = reading.milliseconds > now ? (reading.milliseconds - now) / 1000 : 0
    held.append(
      Held(
        content: content, reason: .clockSkew,
        message: "written \(ahead) s in the future by this machine's clock"))
  }

  /// Puts what is held into quarantine.
  func keep(from source: StoreID) throws {
    for item in held {
      let old = try ledger.value(item.key).map(QuarantineEntry.init(decoding:))
      let entry = QuarantineEntry(
        reason: item.reason, message: item.message, source: source, since: old?.since ?? now,
        content: item.content)
      if entry != old { ledger.put(item.key, entry.encoded) }
    }
  }
}
