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

  /// The record IDs of many objects of one store of the group, in their order.
  public func recordIDs(for objects: [ManagedObjectID]) throws -> [RecordID?] {
    let store = objects.first?.persistentStore
    let access = try links(nil).compactMap(\.replica).first { $0.store === store } ?? local
    func look() throws -> [RecordID?] {
      let ledger = try access.ledger()
      try ledger.prefetch(objects.compactMap(SyncKey.object))
      return try objects.map { try ledger.recordID(for: $0) }
    }
    let known = try look()
    if !known.contains(nil) { return known }
    try HistoryCapture(access: access).run()
    return try look()
  }

  /// Believes what waits because it was written in the future by this machine's clock, in the local
  /// store and in the replicas; nil means all of them.
  ///
  /// Later writes of the same stores wait again if they are as far ahead.
  ///
  /// - Returns: How many records and links waited. They are merged at once, see ``wait(for:timeout:)``.
  /// - Throws: ``SyncError``; a replica that is not open is left alone.
  @discardableResult
  public func acceptHeld(names: [String]? = nil) async throws -> Int {
    let local = self.local
    var count = try local.acceptHeld()
    let links = try links(names)
    for link in links {
      guard let replica = link.replica else { continue }
      count += try await link.perform { try replica.acceptHeld() }
    }
    for link in links { link.poke() }
    return count
  }

  /// What waits in quarantine: in the local store, or in a replica.
  public func quarantine(of name: String? = nil) throws -> [QuarantineEntry] {
    try entries(.quarantine, of: name).map { try QuarantineEntry(decoding: $0) }
  }

  /// The conflict journal of the local store, or of a replica, oldest first.
  public func conflicts(of name: String? = nil) throws -> [JournalEntry] {
    try entries(.journal, of: name).map { try JournalEntry(decoding: $0) }
  }

  private func entries(_ map: SyncMap, of name: String?) throws -> [Data] {
    let access = try name.map { try link($0).replica } ?? local
    guard let sidecar = access?.store as? any SidecarKeeping else { return [] }
    return try sidecar.sidecarEntries(of: map.rawValue, from: nil, to: nil, limit: 0)
      .map(\.value)
  }
}
