import CairnModel
import Crypto
import Foundation

// The delete rules of the model decide in each store what goes along with a deleted record, and what keeps one. Neither
// a checksum of the model nor what travels tells of them.
extension StoreAccess {
  /// Notes by which rules of the model a daemon goes in this store; where they were others before, what those decided
  /// is looked at anew.
  ///
  /// - Parameter daemon: The identity of its local store.
  func noteRules(by daemon: StoreID) throws {
    for _ in 0..<Self.attempts {
      let ledger = try ledger()
      try noteDeleteRules(by: daemon, in: ledger)
      try noteOrders(in: ledger)
      if try commit(ledger) { return }
    }
    throw Self.contention(store)
  }

  /// So stores whose daemons got another model one after the other come to the same once the last one has it.
  private func noteDeleteRules(by daemon: StoreID, in ledger: Ledger) throws {
    let rules = schema.deleteRules
    let key = SyncKey.deleteRules(daemon)
    let former = try ledger.value(key)
    if former == rules { return }
    if former != nil { ledger.put(SyncKey.reconsider, Data()) }
    ledger.put(key, rules)
  }
}

extension SyncSchema {
  /// A digest of the rules that concern other records than those that refer to a deleted one.
  fileprivate var deleteRules: Data {
    let rules = entities.values.flatMap { plan in
      plan.entity.relationshipsByName.values.compactMap { relationship -> String? in
        guard [.cascade, .deny].contains(relationship.deleteRule) else { return nil }
        return "\(plan.entity.name ?? "").\(relationship.name) \(relationship.deleteRule.rawValue)"
      }
    }
    return Data(SHA256.hash(data: Data(rules.sorted().joined(separator: "\n").utf8)).prefix(8))
  }
}
