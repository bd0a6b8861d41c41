// The model that a store file keeps inside itself.

import CairnModel
import CairnSQLite
import CairnStore
import Foundation

extension ManagedObjectModel {
  /// The model with which a SQLite store was last written, as the store remembers it; nil when it
  /// does not (very old stores).
  ///
  /// - Throws: ``CoreDataError`` when the file is missing or not a Core Data store.
  public static func load(fromSQLiteStoreAt url: URL) throws -> ManagedObjectModel? {
    try SQLiteStore.inPlaceMigration?.cachedModel(at: url, options: StoreOptions())
  }
}
