import CairnCoordinator
import CairnModel
import CairnStore
import Foundation

// What the stores of a group hold: records, what waits, conflicts.

extension SyncEngine {
  /// The store of a replica with its coordinator, which is another than the group's for a store at a
  /// newer version of the model; nil while it is not open.
  ///
  /// - Throws: ``SyncError`` with `noSuchReplica`.
  public func openStore(
    ofReplica name: String
  ) throws -> (store: PersistentStore, coordinator: PersistentStoreCoordinator)? {
    try link(name).openReplica.map { ($0.store, $0.coordinator) }
  }

  /// The record ID of an object of the local store.
  ///
  /// Captures what is new first, so that an object that was just saved has one.
  public func recordID(for object: ManagedObjectID) throws -> RecordID? {
    if let id = try local.ledger().recordID(for: object) { return id }
    try HistoryCapture(access: local).run()
    return try local.ledger().recordID(for: object)
  }

  /// The object of the local store that a record ID stands for; nil when there is none.
  public func objectID(for record: RecordID) throws -> ManagedObjectID? {
    let ledger = try local.ledger()
    guard let entry = try ledger.record(ledger.resolve(record)) else { return nil }
    return ledger.objectID(for: entry)
  }

  /// The record IDs of many objects of one store of the group, in their order; of those that are gone, where the store's
  /// history has their inserts.
  ///
  /// Captures what is new first; where the store cannot be written now, as on a full disk, what is new has none so far.
  public func recordIDs(for objects: [ManagedObjectID]) throws -> [RecordID?] {
    let store = objects.first?.persistentStore
    let access = try links(nil).compactMap(\.replica).first { $0.store === store } ?? local
    func look() throws -> [RecordID?] {
      let ledger = try access.ledger()
      try ledger.prefetch(objects.compactMap(SyncKey.object))
      return try objects.map { try ledger.recordID(for: $0) }
    }
    var known = try look()
    if !known.contains(nil) { return known }
    // Reading goes on where writing fails, which the next pass says.
    if (try? HistoryCapture(access: access).run()) != nil { known = try look() }
    return try access.withFormer(known, of: objects)
  }
}

extension StoreAccess {
  /// Record IDs, with those of rows that are gone and that sync had taken up: their births tell them.
  fileprivate func withFormer(
    _ known: [RecordID?], of objects: [ManagedObjectID]
  ) throws -> [RecordID?] {
    let missing = zip(objects, known).filter { $1 == nil }.map(\.0)
    guard !missing.isEmpty, let births = try store.capabilities.history?.births(of: missing) else {
      return known
    }
    let ledger = try ledger()
    var former: [ManagedObjectID: RecordID] = [:]
    for (object, birth) in births {
      former[object] = identity(ofRow: object, born: birth).recordID
    }
    try ledger.prefetch(records: former.values)
    return try zip(objects, known).map { object, id in
      guard id == nil, let former = former[object] else { return id }
      return try ledger.record(former) == nil ? nil : former
    }
  }
}
