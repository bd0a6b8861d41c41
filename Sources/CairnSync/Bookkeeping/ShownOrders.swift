import CairnModel
import CairnStore
import Foundation

// Whether a relationship has an order is a matter of the store's version of the model, and no name tells of it. A store
// whose version has none keeps the places that others send beside its rows; the migration to a version that has it
// leaves the rows in an order that no program wrote.
extension StoreAccess {
  /// Notes which relationships have an order in this store; where one has got it since the last time, the places on
  /// record count, and the next look at what is held brings the rows into their order.
  func noteOrders(in ledger: Ledger) throws {
    let relationships = schema.orderedRelationships
    let orders = Set(relationships.map(SyncSchema.name(of:)))
    let former = try ledger.relationships(at: SyncKey.orders)
    if former == orders { return }
    ledger.put(SyncKey.orders, orders.lines)
    guard let former else { return }
    let new = relationships.filter { !$0.had(orderAmong: former) }.map(SyncSchema.name(of:))
    if new.isEmpty { return }
    ledger.put(SyncKey.unshownOrders, try ledger.unshownOrders().union(new).lines)
    ledger.put(SyncKey.reconsider, Data())
  }
}

extension Ledger {
  /// The ordered relationships of which the rows do not show the places on record yet.
  func unshownOrders() throws -> Set<String> { try relationships(at: SyncKey.unshownOrders) ?? [] }

  fileprivate func relationships(at key: SidecarKey) throws -> Set<String>? {
    try value(key).map { data in
      Set(String(decoding: data, as: UTF8.self).split(separator: "\n").map(String.init))
    }
  }
}

extension Set<String> {
  fileprivate var lines: Data { Data(sorted().joined(separator: "\n").utf8) }
}

extension SyncSchema {
  fileprivate var orderedRelationships: [RelationshipDescription] {
    entities.values.flatMap { $0.orderedSides.map(\.relationship) }
  }
}

extension RelationshipDescription {
  /// Whether it is one of these, also by a name that it had before.
  fileprivate func had(orderAmong former: Set<String>) -> Bool {
    let owners = [entity?.name, entity?.renamingIdentifier].compactMap { $0 }
    let names = [name, renamingIdentifier].compactMap { $0 }
    return owners.contains { owner in names.contains { former.contains("\(owner).\($0)") } }
  }
}
