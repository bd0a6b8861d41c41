// A migration by a program that looked at the store before another one had migrated it.

import Cairn
import CairnCoordinator
import CairnMigration
import CairnSQLite
import CairnStore
import Foundation

enum LateMigration {
  static func run(
    at url: URL, from source: ManagedObjectModel, to model: ManagedObjectModel,
    metadata: [String: Any], options: [AnyHashable: Any]
  ) throws {
    let request = StoreMigrationRequest(
      kind: SQLiteStoreKind(), url: url, options: StoreOptions(options), configurationName: nil,
      model: model, metadata: metadata)
    let migrator = StoreMigrator(storeKinds: [SQLiteStoreKind()]) { _, _ in
      throw CoreDataError(.migration, "There are no stages here.")
    }
    try source.prepareForUse()
    try model.prepareForUse()
    // With objects, then in place.
    _ = try migrator.migrate(request, from: source)
    try SQLiteStore.migrateInPlace(at: url, from: source, to: model, options: request.options)
  }
}
