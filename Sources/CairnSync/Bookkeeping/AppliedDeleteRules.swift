import CairnModel
import Crypto
import Foundation

// The delete rules of the model decide in each store what goes along with a deleted record, and what keeps one. Neither
// a checksum of the model nor what travels tells of them.
extension StoreAccess {
  /// Notes which delete rules a daemon applies in this store; where it applied others before, what those decided is
  /// looked at anew.
  ///
  /// So stores whose daemons got another model one after the other come to the same once the last one has it.
  ///
  /// - Parameter daemon: The identity of its local store.
  func noteDeleteRules(by daemon: StoreID) throws {
    let rules = schema.deleteRules
    for _ in 0..<Self.attempts {
      let ledger = try ledger()
      let key = SyncKey.deleteRules(daemon)
      let former = try ledger.value(key)
      if former == rules { return }
      if former != nil { ledger.put(SyncKey.reconsider, Data()) }
      ledger.put(key, rules)
      if try commit(ledger) { return }
    }
    throw Self.contention(store)
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
