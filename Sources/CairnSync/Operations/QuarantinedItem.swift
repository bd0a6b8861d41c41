import Crypto
import Foundation

/// Names what waits in quarantine: the store in which it waits, and the record or link.
///
/// As text: `nas/RECORD`, or `nas/Item.tags/OWNER/MEMBER` for a link.
public struct QuarantineID: Sendable, Hashable, LosslessStringConvertible {
  public enum Subject: Sendable, Hashable {
    case record(RecordID)
    case link(LinkKey)
  }
  /// A replica, or `local`.
  public let store: String
  public let subject: Subject

  public init(store: String, subject: Subject) {
    self.store = store
    self.subject = subject
  }

  public var description: String {
    switch subject {
    case .record(let id): "\(store)/\(id)"
    case .link(let key): "\(store)/\(key.relationship)/\(key.owner)/\(key.member)"
    }
  }

  /// Reads ``description``; nil for anything else.
  public init?(_ text: String) {
    let parts = text.split(separator: "/", omittingEmptySubsequences: false).map(String.init)
    guard parts.count >= 2, let last = RecordID(parts[parts.count - 1]) else { return nil }
    if parts.count >= 4, let owner = RecordID(parts[parts.count - 2]) {
      store = parts.dropLast(3).joined(separator: "/")
      subject = .link(
        LinkKey(relationship: parts[parts.count - 3], owner: owner, member: last))
    } else {
      store = parts.dropLast().joined(separator: "/")
      subject = .record(last)
    }
    if store.isEmpty { return nil }
  }

  var key: Data {
    switch subject {
    case .record(let id): SyncKey.quarantine(id).key
    case .link(let key): SyncKey.quarantine(key).key
    }
  }
}

/// What discarding does; see ``SyncEngine/discard(_:revision:)``.
public enum DiscardEffect: Sendable, Hashable {
  /// The store's present values of these properties replace the quarantined ones in all stores.
  case keepsValues([String])
  /// The store does not have the record: it is deleted in all stores.
  case deletesRecord
  /// The delete that waits is taken back: the record comes back in all stores.
  case keepsRecord
  /// It cannot be discarded; why, for people.
  case impossible(String)
}

/// Something that arrived in a store and cannot be made visible there.
public struct QuarantinedItem: Sendable, Hashable, Identifiable {
  public let id: QuarantineID
  /// Why it waits, since when, and all that waits, in the local store's names.
  public let entry: QuarantineEntry
  /// Where it waits.
  public let store: StoreReference
  /// Where it came from.
  public let source: StoreReference
  /// Of a record the properties that the store has not, or has as they were; of a link the
  /// relationship.
  public let properties: [String]
  /// Whether what waits is a delete.
  public let isDelete: Bool
  /// How far in the future it was written, by this machine's clock as it is now, in milliseconds; nil
  /// unless it waits for that.
  public let ahead: UInt64?
  /// The stores whose clocks are that far ahead.
  public let writers: [StoreReference]
  public let discardEffect: DiscardEffect
  /// Changes when what waits changes, and when the store's own values do.
  public let revision: String

  public var reason: QuarantineEntry.Reason { entry.reason }
  public var message: String { entry.message }
  /// In milliseconds since 1970.
  public var since: UInt64 { entry.since }
  /// Nil for a link.
  public var record: RecordID? { entry.state?.id }
  /// The record's entity, or the one of a link's owner.
  public var entity: String {
    switch entry.content {
    case .record(let state): state.entity
    case .link(let link): String(link.key.relationship.prefix { $0 != "." })
    }
  }
}

/// A part of what waits in quarantine.
public struct QuarantinePage: Sendable, Hashable {
  /// By store, the local one first.
  public let items: [QuarantinedItem]
  /// Where the next page begins; nil when this is the last.
  public let next: QuarantineID?
  /// Entries that could not be read, because a file is damaged.
  public let damaged: Int
  /// The replicas that were not read.
  public let away: [AwayStore]
}

/// Reads what waits in one store.
struct QuarantineReading {
  let group: GroupStores
  let member: GroupStores.Member
  let ledger: Ledger
  private let time: CredibleTime

  init(_ member: GroupStores.Member, in group: GroupStores) throws {
    self.group = group
    self.member = member
    ledger = try member.access.ledger()
    time = try ledger.credibleTime(limit: member.access.latestCredibleTime)
  }

  /// - Parameter stored: The entry in the store's own names.
  func item(_ stored: QuarantineEntry) throws -> QuarantinedItem {
    let now = member.access.environment.now()
    let subject: QuarantineID.Subject
    let properties: [String]
    let stamps: [Stamp]
    var isDelete = false
    var effect = DiscardEffect.impossible(
      "it waits for the time when it was written; accept it, or let time catch up")
    var revision = stored.encoded
    switch stored.content {
    case .record(let state):
      subject = .record(state.id)
      let mine = try mine(state.id)
      let entry = try ledger.record(state.id)
      stamps = state.stamps(newTo: entry)
      properties = state.registers.filter { name, register in
        entry?.write(of: name).map { $0.stamp < register.write.stamp } ?? true
      }.map(\.key).sorted().map {
        member.translation?.property($0, of: state.entity) ?? $0
      }
      isDelete =
        state.deletion != nil
        && state.registers.allSatisfy { _, register in
          state.deletion.map { $0.stamp > register.write.stamp } ?? false
        }
      if stored.reason == .validation {
        effect = try self.effect(ofDiscarding: state, over: mine)
      }
      if let mine {
        var writer = ByteWriter()
        writer.record(mine)
        revision += writer.data
      }
    case .link(let link):
      subject = .link(member.translation?.link(link.key) ?? link.key)
      stamps = link.state.stamps(newTo: try ledger.link(link.key)?.state)
      properties = [String(link.key.relationship.drop { $0 != "." }.dropFirst())]
      isDelete = !link.state.isMember
      if stored.reason == .validation {
        effect = .impossible(
          "a record at one of its ends is refused as the store has it; correct that record")
      }
    }
    let late = stamps.filter { !time.covers($0) }
    let latest = late.map(\.clock.milliseconds).max()
    return QuarantinedItem(
      id: QuarantineID(store: member.name, subject: subject), entry: translated(stored),
      store: member.reference, source: group.reference(stored.source), properties: properties,
      isDelete: isDelete,
      ahead: stored.reason == .clockSkew ? latest.map { $0 > now ? $0 - now : 0 } ?? 0 : nil,
      writers: Set(late.map(\.store)).sorted().map(group.reference), discardEffect: effect,
      revision: Self.digest(revision))
  }

  func discarding(_ held: RecordState, over mine: RecordState?) throws -> QuarantineDiscard {
    QuarantineDiscard(
      mine: mine, held: held, policy: policy(of: held),
      isThere: try ledger.record(held.id)?.key != nil)
  }

  private func effect(
    ofDiscarding held: RecordState, over mine: RecordState?
  ) throws -> DiscardEffect {
    let discard = try discarding(held, over: mine)
    if discard.effect == .deletesRecord, let denial = try denial(ofDeleteBy: discard) {
      return .impossible(
        "the store does not have the record, and it cannot be deleted instead: \(denial); delete that first"
      )
    }
    return discard.effect
  }

  /// Why a store keeps a record that a discard would delete, and because of which other; nil for one that it does
  /// not keep.
  ///
  /// The record would come in once more, and be refused once more, for as long as its delete is denied. As it has no
  /// row, no row of the other shows that it belongs to it.
  private func denial(ofDeleteBy discard: QuarantineDiscard) throws -> String? {
    let access = member.access
    if !access.schema.hasDenials { return nil }
    // One of its own, which is thrown away.
    let ledger = try access.ledger()
    let stamp = ledger.tick(
      milliseconds: access.environment.now(), limit: access.latestCredibleTime)
    let batch = IncomingBatch(
      source: ledger.storeID, records: [discard.decide(at: stamp).state], isSent: false)
    var loading = try KnownLoading(access: access, ledger: ledger)
    let plan = try loading.plan(batch, try access.importSetting(ledger))
    let id = discard.held.id
    guard let message = plan.held.first(where: { $0.key == .record(id) })?.entry.message else {
      return nil
    }
    let other = plan.conflicts.first { $0.record == id && $0.rule == .writeWon }?
      .winningValue.reference
    guard let other, let entity = try ledger.record(other)?.entity else { return message }
    return "\(message), but has \(entity) \(other)"
  }

  func policy(of state: RecordState) -> DeleteConflictPolicy {
    member.access.policy(of: state.entity)
  }

  /// The record as the store has it, in its own names.
  func mine(_ id: RecordID) throws -> RecordState? {
    guard let entry = try ledger.record(id) else { return nil }
    guard let object = ledger.objectID(for: entry) else { return entry.state(id: id, row: nil) }
    let row = try member.access.store.snapshots(for: [object]).first ?? nil
    return entry.state(id: id, row: try row.map { try RowReading(ledger: ledger).values(of: $0) })
  }

  private func translated(_ entry: QuarantineEntry) -> QuarantineEntry {
    guard let translation = member.translation else { return entry }
    return QuarantineEntry(
      reason: entry.reason, message: entry.message, source: entry.source, since: entry.since,
      content: translation.content(entry.content), insteadOf: entry)
  }

  private static func digest(_ data: Data) -> String {
    SHA256.hash(data: data).prefix(8).map { ($0 < 16 ? "0" : "") + String($0, radix: 16) }.joined()
  }
}
