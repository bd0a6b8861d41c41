import CairnStore
import Foundation

/// The places of the members in one record's ordered relationship, as the bookkeeping has them.
///
/// In a one-to-many relationship a place is a register of the member; in a many-to-many it is part
/// of the link.
struct MemberPlaces {
  let side: SyncSchema.OrderedSide
  let owner: RecordID

  /// The entry that has the place of a member.
  func key(_ member: RecordID) -> SidecarKey {
    switch side.places {
    case .register: return SyncKey.record(member)
    case .link(let link): return SyncKey.link(link.key(near: owner, far: member))
    }
  }

  func register(of member: RecordID, _ ledger: Ledger) throws -> Register? {
    switch side.places {
    case .register(let name):
      guard let entry = try ledger.record(member), let value = entry.overlay[name] else {
        return nil
      }
      return entry.write(of: name).map { Register(value: value, write: $0) }
    case .link(let link):
      let key = link.key(near: owner, far: member)
      return try ledger.link(key)?.state[keyPath: link.position(key, near: owner)]
    }
  }

  /// Does nothing for a member that the bookkeeping does not know.
  func set(
    _ register: Register, of member: RecordID, _ ledger: Ledger, sequence: UInt64
  ) throws {
    switch side.places {
    case .register(let name):
      guard var entry = try ledger.record(member) else { return }
      entry.overlay[name] = register.value
      entry.writes[name] = register.write
      ledger.setRecord(member, entry, sequence: sequence)
    case .link(let link):
      let key = link.key(near: owner, far: member)
      guard var state = try ledger.link(key)?.state else { return }
      state[keyPath: link.position(key, near: owner)] = register
      try ledger.setLink(key, state, sequence: sequence)
    }
  }

  static func position(_ register: Register) -> PositionKey? {
    guard case .data(let data) = register.value else { return nil }
    return PositionKey(data: data)
  }
}
