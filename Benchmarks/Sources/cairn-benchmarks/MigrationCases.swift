// What migration costs: in place where no row changes, where all rows are copied, and in memory.

import Cairn
import Foundation

extension Cases {
  var migrationCases: [(name: String, run: () throws -> CaseResult)] {
    [
      ("migration in place", migrateInPlace), ("migration copy", migrateByCopy),
      ("migration memory", migrationMemory), ("migration objects", migrateObjects),
      ("migration objects memory", migrationObjectsMemory),
    ]
  }

  /// A tenth of the case's rows is what others measure with; migrations are for large stores.
  private var migrated: Int { rows * 10 }
  private static let few = 1000

  /// One optional attribute more: no row changes, so that the number of rows does not count.
  private func migrateInPlace() throws -> CaseResult {
    try measure(
      "one optional attribute added to \(migrated) rows, to \(Self.few)", units: 1, rounds: rounds,
      must: 1.5, aim: 1.1, base: "few",
      [
        Contestant(name: "few") {
          try withFilled(Self.few) { file in try timed { try migrate(file, adding: .optional) } }
        },
        Contestant(name: "Cairn") {
          try withFilled(migrated) { file in try timed { try migrate(file, adding: .optional) } }
        },
      ])
  }

  /// A mandatory attribute with a default: each row is written anew.
  private func migrateByCopy() throws -> CaseResult {
    try measure(
      "a mandatory attribute added to \(migrated) rows, to INSERT … SELECT", units: migrated,
      rounds: rounds, must: 2.0, aim: 1.4,
      [
        Contestant(name: "raw") {
          try withFilled(migrated) { file in
            try timed {
              let database = try RawDatabase(file)
              let columns = "ZNUMBER, ZGROUP, ZCOUNT, ZRATIO, ZWEIGHT, ZCREATED, ZCODE, ZNAME, "
              try database.execute(
                """
                BEGIN IMMEDIATE;
                ALTER TABLE ZITEM RENAME TO OLD;
                CREATE TABLE ZITEM (Z_PK INTEGER PRIMARY KEY, Z_ENT INTEGER, Z_OPT INTEGER,
                  ZNUMBER INTEGER, ZGROUP INTEGER, ZCOUNT INTEGER, ZADDED INTEGER, ZRATIO FLOAT,
                  ZWEIGHT FLOAT, ZCREATED TIMESTAMP, ZCODE VARCHAR, ZNAME VARCHAR, ZTITLE VARCHAR,
                  ZPAYLOAD BLOB);
                INSERT INTO ZITEM (Z_PK, Z_ENT, Z_OPT, \(columns) ZTITLE, ZPAYLOAD, ZADDED)
                  SELECT Z_PK, Z_ENT, Z_OPT, \(columns) ZTITLE, ZPAYLOAD, 7 FROM OLD;
                DROP TABLE OLD;
                COMMIT
                """)
            }
          }
        },
        Contestant(name: "Cairn") {
          try withFilled(migrated) { file in try timed { try migrate(file, adding: .mandatory) } }
        },
      ])
  }

  /// What the process needs more at its largest, for each row that is copied.
  private func migrationMemory() throws -> CaseResult {
    try measure(
      "memory of copying \(migrated) rows, a row", units: migrated, rounds: rounds, must: 16,
      aim: 4, unit: "bytes",
      [
        Contestant(name: "Cairn") {
          try withFilled(migrated) { file in
            // What a migration makes for good is there before it is counted.
            _ = try withFilled(Self.few) { file in
              try migrate(file, adding: .mandatory)
              return 0
            }
            let before = try Memory.startPeak()
            try migrate(file, adding: .mandatory)
            return Double(max(try Memory.peak() - before, 0))
          }
        }
      ])
  }

  /// Object by object, as a program's own mapping model asks for it: no target, and what it takes.
  private func migrateObjects() throws -> CaseResult {
    try measure(
      "\(migrated) rows migrated with objects, a row", units: migrated, rounds: rounds,
      [
        Contestant(name: "Cairn") {
          try withFilled(migrated) { file in try timed { try migrateWithObjects(file) } }
        }
      ])
  }

  /// Sixteen bytes for what came of what and eight for the row's key are all that a row needs.
  private func migrationObjectsMemory() throws -> CaseResult {
    try measure(
      "memory of migrating \(migrated) rows with objects, a row", units: migrated,
      rounds: rounds, must: 64, aim: 32, unit: "bytes",
      [
        Contestant(name: "Cairn") {
          try withFilled(migrated) { file in
            // What several batches make for good is there before it is counted.
            _ = try withFilled(Self.few * 10) { file in
              try migrateWithObjects(file)
              return 0
            }
            let before = try Memory.startPeak()
            try migrateWithObjects(file)
            return Double(max(try Memory.peak() - before, 0))
          }
        }
      ])
  }

  private func migrateWithObjects(_ file: URL) throws {
    let new = workspace.newFile()
    defer { workspace.remove(new) }
    let model = SampleModel.make()
    model.entitiesByName["Item"]?.properties.append(
      AttributeDescription(name: "added", type: .integer64))
    let manager = MigrationManager(sourceModel: SampleModel.make(), destinationModel: model)
    manager.usesStoreSpecificMigrationManager = false
    try manager.migrateStore(
      from: file, sourceType: "SQLite", options: nil, with: nil, toDestinationURL: new,
      destinationType: "SQLite", destinationOptions: nil)
  }

  private enum Addition {
    case optional, mandatory
  }

  private func migrate(_ file: URL, adding addition: Addition) throws {
    let model = SampleModel.make()
    let added = AttributeDescription(name: "added", type: .integer64)
    if addition == .mandatory {
      added.isOptional = false
      added.defaultValue = NSNumber(value: 7)
    }
    model.entitiesByName["Item"]?.properties.append(added)
    let coordinator = PersistentStoreCoordinator(managedObjectModel: model)
    let store = try coordinator.addPersistentStore(
      ofType: "SQLite", configurationName: nil, at: file,
      options: [
        StoreOptionKey.migrateAutomatically: true, StoreOptionKey.inferMappingModel: true,
        StoreOptionKey.migrationSourceModels: [SampleModel.make()],
      ])
    try coordinator.remove(store)
  }

  /// Runs a block with a store of the sample's rows: Cairn makes the store, raw SQLite its rows.
  private func withFilled(_ count: Int, _ body: (URL) throws -> Double) throws -> Double {
    let file = workspace.newFile()
    defer { workspace.remove(file) }
    let stack = try CairnStack(file, history: false)
    try stack.insert(Sample.rows(1))
    try stack.close()
    try RawDatabase(file).execute(
      """
      BEGIN;
      WITH RECURSIVE keys(key) AS (VALUES (2) UNION ALL
        SELECT key + 1 FROM keys WHERE key < \(count))
      INSERT INTO ZITEM (Z_PK, Z_ENT, Z_OPT, ZNUMBER, ZGROUP, ZCOUNT, ZRATIO, ZWEIGHT, ZCREATED,
          ZCODE, ZNAME, ZTITLE, ZPAYLOAD)
        SELECT key, (SELECT Z_ENT FROM ZITEM WHERE Z_PK = 1), 1, key, key / 50, key % 1000,
          key / 3.0, key * 1.5, 7e8 + key, printf('c%07d', key), printf('name-%07d', key),
          printf('A title of row %07d.', key), CASE WHEN key % 2 THEN NULL ELSE randomblob(32) END
        FROM keys;
      UPDATE Z_PRIMARYKEY SET Z_MAX = \(count) WHERE Z_NAME = 'Item';
      COMMIT;
      PRAGMA wal_checkpoint(TRUNCATE)
      """)
    return try body(file)
  }
}

/// The memory of this process as the kernel counts it.
private enum Memory {
  /// Counts the peak from now on; what is in use now, in bytes.
  static func startPeak() throws -> Int {
    try "5".write(toFile: "/proc/self/clear_refs", atomically: false, encoding: .utf8)
    return try value("VmRSS:")
  }

  static func peak() throws -> Int { try value("VmHWM:") }

  private static func value(_ name: String) throws -> Int {
    let status = try String(contentsOfFile: "/proc/self/status", encoding: .utf8)
    let line = status.split(separator: "\n").first { $0.hasPrefix(name) } ?? ""
    let digits = line.filter(\.isNumber)
    guard let kibibytes = Int(digits) else {
      throw RawError(description: "/proc/self/status has no \(name)")
    }
    return kibibytes * 1024
  }
}
