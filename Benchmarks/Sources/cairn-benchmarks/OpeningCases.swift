// What opening costs when the store is large: nothing that grows with it.

import Cairn
import Foundation

extension Cases {
  /// How many rows of four KiB make up the store.
  private static let largeRows = 1 << 18

  /// Opens a store of one GiB and fetches one object of it.
  func openLarge() throws -> CaseResult {
    let file = workspace.newFile()
    defer { workspace.remove(file) }
    try fillLarge(file)
    return try measure(
      "open a store of 1 GiB, fetch one object", units: 1, rounds: rounds,
      [
        Contestant(name: "raw") {
          try timed {
            let database = try RawDatabase(file)
            try database.execute("SELECT * FROM Z_METADATA")
            try database.execute("SELECT * FROM ZITEM WHERE Z_PK = \(Self.largeRows / 2)")
          }
        },
        Contestant(name: "Cairn") {
          try timed {
            let stack = try CairnStack(file, history: false)
            let context = stack.newContext()
            try context.performAndWait {
              let request = FetchRequest<ManagedObject>(entityName: "Item")
              request.predicate = ObjectPredicate(
                format: "SELF == %@", argumentArray: [try stack.itemID(Self.largeRows / 2)])
              let objects = try context.fetch(request)
              guard objects.count == 1 else { throw RawError(description: "the row is missing") }
            }
            try stack.close()
          }
        },
      ])
  }

  /// Cairn makes the store, raw SQLite its rows.
  private func fillLarge(_ file: URL) throws {
    let stack = try CairnStack(file, history: false)
    try stack.insert(Sample.rows(1))
    try stack.close()
    try RawDatabase(file).execute(
      """
      BEGIN;
      WITH RECURSIVE keys(key) AS (VALUES (2) UNION ALL
        SELECT key + 1 FROM keys WHERE key < \(Self.largeRows))
      INSERT INTO ZITEM (Z_PK, Z_ENT, Z_OPT, ZPAYLOAD)
        SELECT key, (SELECT Z_ENT FROM ZITEM WHERE Z_PK = 1), 1, randomblob(4000) FROM keys;
      UPDATE Z_PRIMARYKEY SET Z_MAX = \(Self.largeRows) WHERE Z_NAME = 'Item';
      COMMIT;
      PRAGMA wal_checkpoint(TRUNCATE);
      """)
  }
}
