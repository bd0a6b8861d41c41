import CFaultVFS
import CairnAtomicStores
import CairnContext
import CairnCoordinator
import CairnModel
import CairnSQLite
import CairnStore
import Foundation
import GRDB

@testable import CairnSync

/// A store's place on a disk that can go wrong, the programs that have it open, and what is read from
/// it by plain SQL.
///
/// A store in a database instead is a ``SimulatedDatabase``.
class SimulatedStore {
  let name: String
  let folder: URL
  /// See ``SampleModel/make(_:denies:)``.
  let denies: Bool
  private let fault: Int32
  private var programs: [Int: PersistentStoreCoordinator] = [:]
  private var database: DatabaseQueue?
  private var locking: DatabaseQueue?
  var url: URL { folder.appendingPathComponent(name + ".sqlite") }
  var kind: any StoreKind { SQLiteStoreKind() }

  /// A text without names that another run of the seed would not have.
  func withoutPlace(_ text: String) -> String { text }
  /// When the backup was made; nil without one.
  private(set) var backedUp: Int?
  private(set) var isGone = false
  var isFaulty = false

  init(_ name: String, in parent: URL, denies: Bool) throws {
    self.name = name
    self.denies = denies
    folder = parent.appendingPathComponent(name)
    try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true)
    guard cfault_install() == 0 else { throw CocoaError(.fileReadUnknown) }
    fault = cfault_begin(folder.path)
    guard fault >= 0 else { throw CocoaError(.fileReadTooLarge) }
  }

  /// Makes an empty store under an identity that the seed gives, so that it replays exactly.
  func create(_ generator: inout SeededGenerator, _ version: SampleModel.Version) throws {
    let coordinator = PersistentStoreCoordinator(
      managedObjectModel: SampleModel.make(version, denies: denies),
      storeKinds: [kind])
    let store = try coordinator.addPersistentStore(
      ofType: kind.type, configurationName: nil, at: url, options: Self.options)
    try coordinator.remove(store)
    var metadata = try kind.metadata(at: url, options: StoreOptions([:]))
    metadata[StoreMetadataKey.uuid] =
      StoreID(high: generator.next(), low: generator.next()).description
    try kind.setMetadata(metadata, at: url, options: StoreOptions([:]))
  }

  deinit {
    database = nil
    locking = nil
    programs = [:]
    cfault_end(fault)
  }

  // MARK: Faults

  enum Trouble: String, CaseIterable, Sendable {
    /// No room to grow; a few more bytes than the file has now.
    case full
    /// Every second write or so fails.
    case failing
    /// Nothing can be opened or written any more.
    case broken
    /// Another program holds the lock.
    case locked
    /// What is written can be read, but not be synced.
    case unsynced
    /// Nothing can be written, as on a disk that is mounted so.
    case readOnly
  }

  func begin(_ trouble: Trouble, salt: Int) throws {
    try heal()
    isFaulty = true
    switch trouble {
    case .full: cfault_set_room(fault, Int64(salt % 64 * 1024))
    case .failing: cfault_arm(fault, UInt32(CFAULT_WRITE), salt % 40 + 1, 0, Int32(CFAULT_FAILS))
    case .broken:
      cfault_arm(
        fault, UInt32(CFAULT_OPEN | CFAULT_WRITE | CFAULT_TRUNCATE), salt % 20 + 1, 1,
        Int32(CFAULT_TEARS))
    case .unsynced: cfault_arm(fault, UInt32(CFAULT_SYNC), 1, 1, Int32(CFAULT_FAILS))
    case .readOnly:
      cfault_arm(
        fault, UInt32(CFAULT_OPEN | CFAULT_WRITE | CFAULT_TRUNCATE | CFAULT_DELETE), 1, 1,
        Int32(CFAULT_READ_ONLY))
    case .locked:
      guard FileManager.default.fileExists(atPath: url.path) else { return }
      let queue = try DatabaseQueue(path: url.path, configuration: Self.plain)
      try queue.writeWithoutTransaction { try $0.execute(sql: "BEGIN IMMEDIATE") }
      locking = queue
    }
  }

  func heal() throws {
    cfault_disarm(fault)
    cfault_set_room(fault, -1)
    if let locking { try? locking.writeWithoutTransaction { try $0.execute(sql: "ROLLBACK") } }
    locking = nil
    isFaulty = false
  }

  // MARK: Files

  /// Where a store can be put beside its place.
  enum Shelf: String {
    case aside, backup
  }

  /// Puts the store, or a copy of it, on a shelf.
  func shelve(_ shelf: Shelf, copying: Bool) throws {
    try move(from: folder, to: folder(shelf), copying: copying)
  }

  /// Puts what is on a shelf, or a copy of it, in the store's place.
  func unshelve(_ shelf: Shelf, copying: Bool) throws {
    try move(from: folder(shelf), to: folder, copying: copying)
  }

  private func folder(_ shelf: Shelf) -> URL { folder.appendingPathComponent(shelf.rawValue) }

  private func move(from: URL, to: URL, copying: Bool) throws {
    let manager = FileManager.default
    try manager.createDirectory(at: to, withIntermediateDirectories: true)
    let files = ["", "-wal", "-shm"].map { name + ".sqlite" + $0 } + [".\(name)_SUPPORT"]
    for file in files {
      let source = from.appendingPathComponent(file)
      let target = to.appendingPathComponent(file)
      try? manager.removeItem(at: target)
      guard manager.fileExists(atPath: source.path) else { continue }
      if copying {
        try manager.copyItem(at: source, to: target)
      } else {
        try manager.moveItem(at: source, to: target)
      }
    }
  }

  var exists: Bool { FileManager.default.fileExists(atPath: url.path) }

  func backUp(at time: Int) throws {
    guard exists, !isFaulty else { return }
    closeProbe()
    try shelve(.backup, copying: true)
    backedUp = time
  }

  /// Puts the backup in the place of the files.
  func restore() throws {
    close()
    try unshelve(.backup, copying: true)
  }

  /// Puts a copy of the files in their place, as when a disk is exchanged.
  func exchange() throws {
    close()
    try shelve(.aside, copying: false)
    try unshelve(.aside, copying: true)
  }

  func takeAway() throws {
    guard exists else { return }
    close()
    try shelve(.aside, copying: false)
    isGone = true
  }

  func bringBack() throws {
    guard isGone else { return }
    isGone = false
    // Something new may lie there by now.
    close()
    try unshelve(.aside, copying: false)
  }

  /// What was taken away is not going to come back.
  func forgetAside() {
    isGone = false
    backedUp = nil
  }

  /// Brings the store to a version that drops values, and back.
  func narrow(_ part: DroppedPart) throws {
    close()
    let full = SampleModel.make(version, denies: denies)
    let without = SampleModel.make(version, denies: denies)
    part.drop(from: without)
    for model in [without, full] {
      let coordinator = PersistentStoreCoordinator(managedObjectModel: model, storeKinds: [kind])
      let store = try coordinator.addPersistentStore(
        ofType: kind.type, configurationName: nil, at: url,
        options: [
          StoreOptionKey.historyTracking: true, StoreOptionKey.migrateAutomatically: true,
          StoreOptionKey.inferMappingModel: true, StoreOptionKey.migrationSourceModels: [full],
        ])
      try coordinator.remove(store)
    }
  }

  /// Closes what programs have open.
  func close() {
    closeProbe()
    for coordinator in programs.values {
      for store in coordinator.persistentStores { try? coordinator.remove(store) }
    }
    programs = [:]
  }

  func closeProbe() { database = nil }

  // MARK: Programs

  /// The version that the file says.
  var version: SampleModel.Version {
    let metadata = (try? kind.metadata(at: url, options: StoreOptions([:]))) ?? [:]
    let newer = SampleModel.make(.muchNewer, denies: denies)
    return newer.isConfiguration(withName: nil, compatibleWithStoreMetadata: metadata)
      ? .muchNewer : .current
  }

  /// A program's coordinator over the store at the version that the store has.
  ///
  /// - Parameter isLax: Whether its model lacks a rule that those of all others have.
  /// - Throws: When the store is not there, or cannot be opened.
  func program(
    _ number: Int, _ version: SampleModel.Version, isLax: Bool = false
  ) throws -> PersistentStoreCoordinator {
    if let coordinator = programs[number], let store = coordinator.persistentStores.first,
      isInPlace(store)
    {
      return coordinator
    }
    guard exists else { throw CocoaError(.fileNoSuchFile) }
    let coordinator = PersistentStoreCoordinator(
      managedObjectModel: SampleModel.make(version, denies: denies, isLax: isLax),
      storeKinds: [kind])
    _ = try coordinator.addPersistentStore(
      ofType: kind.type, configurationName: nil, at: url, options: Self.options)
    programs[number] = coordinator
    return coordinator
  }

  /// Whether what a program has open is what lies there.
  func isInPlace(_ store: PersistentStore) -> Bool {
    (try? store.capabilities.place?.checkFilePlace()) != nil
  }

  private static var options: [AnyHashable: Any] {
    [StoreOptionKey.historyTracking: true, StoreOptionKey.timeout: 0.02]
  }

  // MARK: From outside

  private static var plain: Configuration {
    var configuration = Configuration()
    configuration.busyMode = .timeout(0.05)
    configuration.allowsUnsafeTransactions = true
    return configuration
  }

  /// Reads the tables of the file, or tables made of a database's, which have the same names and columns.
  func reading<Result>(_ body: (Database) throws -> Result) throws -> Result {
    try probe().read(body)
  }

  private func probe() throws -> DatabaseQueue {
    if let database { return database }
    // Opening would make one.
    guard exists else { throw CocoaError(.fileNoSuchFile) }
    let queue = try DatabaseQueue(path: url.path, configuration: Self.plain)
    database = queue
    return queue
  }

  /// Gives the transactions after one the simulated time, and so many microseconds: no two saves have one time, by
  /// which a row is told from another that got its key after a backup came back.
  func setDate(
    _ milliseconds: UInt64, and microseconds: Int, ofTransactionsAfter number: Int64
  ) throws {
    let seconds =
      Double(milliseconds) / 1000 + Double(microseconds) / 1_000_000
      - Date.timeIntervalBetween1970AndReferenceDate
    try probe().write { database in
      try database.execute(
        sql: "UPDATE ATRANSACTION SET ZTIMESTAMP = ? WHERE Z_PK > ?",
        arguments: [seconds, number])
    }
  }

  /// Changes an item's value behind history, as a tool does that knows nothing of Cairn.
  func setValue(_ value: String, ofItem key: String) throws {
    try probe().write { database in
      let isRenamed = try Self.isThere("pragma_table_info('ZITEM')", "ZTEXT", database)
      try database.execute(
        sql: "UPDATE ZITEM SET \(isRenamed ? "ZTEXT" : "ZVALUE") = ? WHERE ZKEY = ?",
        arguments: [value, key])
    }
  }

  /// The conflicts that sync has written down in the store.
  func journal() throws -> [JournalEntry] {
    try reading { database in
      let table = "CAIRN_\(SyncMap.journal.rawValue)"
      guard try Self.isThere("sqlite_master", table, database) else { return [] }
      return try Data.fetchAll(database, sql: "SELECT V FROM \(table)").compactMap {
        try? JournalEntry(decoding: $0)
      }
    }
  }

  /// The records that sync knows in the store, also those that were deleted.
  func knownRecords() throws -> Set<RecordID> {
    try reading { database in
      let table = "CAIRN_\(SyncMap.records.rawValue)"
      guard try Self.isThere("sqlite_master", table, database) else { return [] }
      let keys = try Data.fetchAll(database, sql: "SELECT K FROM \(table)")
      return Set(try keys.map { try SyncKey.identity(RecordID.self, in: $0) })
    }
  }

  /// Whether a list of the schema has a name.
  ///
  /// GRDB's own questions are answered from what it has read before: it knows of no table that another connection
  /// has made since.
  private static func isThere(_ list: String, _ name: String, _ database: Database) throws -> Bool {
    try Bool.fetchOne(
      database, sql: "SELECT count(*) FROM \(list) WHERE name = ?", arguments: [name]) == true
  }

  func lastTransaction() throws -> Int64 {
    try probe().read { database in
      try Int64.fetchOne(database, sql: "SELECT MAX(Z_PK) FROM ATRANSACTION") ?? 0
    }
  }

  /// The last transaction that sync has captured; 0 where it has not begun.
  func captured() throws -> Int64 {
    try reading { database in
      let table = "CAIRN_\(SyncMap.meta.rawValue)"
      guard try Self.isThere("sqlite_master", table, database),
        let head = try Data.fetchOne(
          database, sql: "SELECT V FROM \(table) WHERE K = ?", arguments: [SyncKey.head.key])
      else { return 0 }
      return try SyncHead(decoding: head).captured
    }
  }

  /// What the tables hold.
  func picture() throws -> StorePicture {
    let large = folder.appendingPathComponent(".\(name)_SUPPORT/_EXTERNAL_DATA")
    return try reading { try StorePicture($0, largeDataIn: large) }
  }
}
