import CairnStore
import Foundation

/// A reference that waits in a store for a record that has not arrived there.
public struct ParkedReference: Sendable, Hashable, Identifiable {
  /// Names a reference that waits: the store, the record that it waits for, the record that has it and the property.
  ///
  /// As text: `nas/TARGET/OWNER/item`.
  public struct ID: Sendable, Hashable, LosslessStringConvertible {
    /// A replica, or `local`.
    public let store: String
    public let target: RecordID
    public let owner: RecordID
    /// In the names of the store's version of the model.
    public let property: String

    init(store: String, target: RecordID, owner: RecordID, property: String) {
      (self.store, self.target, self.owner, self.property) = (store, target, owner, property)
    }

    public var description: String { "\(store)/\(target)/\(owner)/\(property)" }

    /// Reads ``description``; nil for anything else.
    public init?(_ text: String) {
      let parts = text.split(separator: "/", omittingEmptySubsequences: false).map(String.init)
      guard parts.count >= 4, let target = RecordID(parts[parts.count - 3]),
        let owner = RecordID(parts[parts.count - 2]), let property = parts.last
      else { return nil }
      let store = parts.dropLast(3).joined(separator: "/")
      if store.isEmpty || property.isEmpty { return nil }
      self.init(store: store, target: target, owner: owner, property: property)
    }

    var key: Data { SyncKey.parked(target, owner: owner, property: property).key }
  }

  public let id: ID
  /// Where it waits.
  public let store: StoreReference
  /// The entity of the record that has it, in the local store's names.
  public let entity: String
  /// In the local store's names; nil for a record that was united with the one that it waits for.
  public let property: String?
  /// Whether the record that it waits for has arrived, and waits in quarantine.
  public let isQuarantined: Bool
  /// The other stores that have the record.
  public let holders: [StoreReference]
}

/// A part of the references that wait.
public struct ParkedPage: Sendable, Hashable {
  /// By store, the local one first.
  public let references: [ParkedReference]
  /// Where the next page begins; nil when this is the last.
  public let next: ParkedReference.ID?
  /// The replicas that were not read.
  public let away: [AwayStore]
}

/// Reads the references that wait in one store.
struct ParkedReading {
  let member: GroupStores.Member
  /// What the links wait for there.
  let awaited: [AwaitedReferences]
  let others: [GroupStores.Member]

  /// At most so many of the references that the store's links wait for.
  func references(from start: Data?, limit: Int) throws -> [ParkedReference] {
    let ledgers = try others.map { ($0.reference, try $0.access.ledger()) }
    var found: [ParkedReference] = []
    try member.access.visitParked(from: start, until: { found.count == limit }) {
      target, reference, ledger in
      guard found.count < limit,
        try awaited.contains(where: { try $0.include(reference, to: target, ledger) })
      else { return }
      let entity = try ledger.record(reference.owner)?.entity ?? ""
      let isUnited = reference.property == ImportPlanner.survivorProperty
      let names = member.translation
      found.append(
        ParkedReference(
          id: .init(
            store: member.name, target: target, owner: reference.owner,
            property: reference.property),
          store: member.reference, entity: names?.entity(entity) ?? entity,
          property: isUnited
            ? nil : names?.property(reference.property, of: entity) ?? reference.property,
          isQuarantined: try ledger.value(SyncKey.quarantine(target)) != nil,
          holders: try ledgers.filter { try $0.1.record(target)?.key != nil }.map(\.0)))
    }
    return found
  }
}
