import CairnModel
import CairnModelCache
import CairnSQL
import CairnStore
import Foundation

/// Reads and writes `Z_MODELCACHE`, the model that the file remembers.
enum ModelCacheTable {
  static func write(_ model: ManagedObjectModel, _ connection: SQLiteConnection) throws {
    try connection.execute("CREATE TABLE IF NOT EXISTS Z_MODELCACHE (Z_CONTENT BLOB)")
    try connection.execute("DELETE FROM Z_MODELCACHE")
    let statement = try connection.statement("INSERT INTO Z_MODELCACHE (Z_CONTENT) VALUES (?)")
    defer { statement.reset() }
    // A model that no archive can hold, such as one with block predicates, is not remembered.
    if let content = try? ModelCache.encode(model) { statement.bind(content, at: 1) }
    try statement.run()
  }

  /// Names of entities and properties become names in SQL; those of indexes are quoted there.
  ///
  /// Models of programs are not asked: nothing but the program made them.
  private static func checkNames(of model: ManagedObjectModel) throws {
    for entity in model.entities {
      let names = [entity.name ?? ""] + entity.properties.map(\.name)
      guard let name = names.first(where: { !SQLNaming.isPlain($0) }) else { continue }
      throw ModelFileError(
        file: ModelCache.fileName, .malformed,
        "\"\(name)\" in entity \(entity.name ?? "") is no name that Core Data allows")
    }
  }

  /// The model of the file, nil when it remembers none.
  static func read(_ connection: SQLiteConnection, path: String) throws -> ManagedObjectModel? {
    guard try connection.hasTable("Z_MODELCACHE") else { return nil }
    let statement = try connection.statement("SELECT Z_CONTENT FROM Z_MODELCACHE LIMIT 1")
    defer { statement.reset() }
    guard try statement.step(), !statement.isNull(0) else { return nil }
    let content = statement.data(0)
    if content.isEmpty { return nil }
    do {
      let model = try ModelCache.decode(content)
      try checkNames(of: model)
      return model
    } catch {
      throw CoreDataError(
        .migrationMissingSourceModel,
        "The model that the store at \(path) remembers cannot be read; give its model in the "
          + "option \(StoreOptionKey.migrationSourceModels).",
        userInfo: [NSFilePathErrorKey: path], underlyingError: error)
    }
  }
}
