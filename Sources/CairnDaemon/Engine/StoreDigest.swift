// What a store is like, without a value of any record.

import Cairn
import CairnControl
import Foundation

/// A store as a support bundle describes it.
struct StoreDigest: Encodable {
  struct Entity: Encodable {
    let name: String
    let count: Int?
    let versionHash: String?
  }

  let name: String
  let path: String
  var problem: String?
  var bytes: Int?
  var logBytes: Int?
  var pageSize: Int?
  var journalMode: String?
  var versions: [String]?
  var transactions: Int?
  var lastTransaction: Int?
  var externalFiles: Int?
  var foreignTables: [String]?
  var entities: [Entity]?

  /// Looks at the file, and opens no store.
  init(name: String, path: String) {
    self.name = name
    self.path = path
    do {
      let found = try StoreInspection(
        contentsOf: URL(fileURLWithPath: path), checks: false, timeout: 5)
      bytes = Int(found.size)
      logBytes = Int(found.logSize)
      pageSize = found.pageSize
      journalMode = found.journalMode
      versions = found.versionIdentifiers
      transactions = found.history?.transactions
      lastTransaction = found.history?.lastTransaction.map(Int.init)
      externalFiles = found.externalData?.files
      foreignTables = found.foreignTables
      entities = found.entities.map {
        Entity(name: $0.name, count: $0.count, versionHash: $0.versionHash?.base64EncodedString())
      }
    } catch {
      problem = "\(error)"
    }
  }
}
