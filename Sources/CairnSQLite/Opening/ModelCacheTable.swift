import CairnModel
import CairnStore
import Foundation

/// Reads and writes `Z_MODELCACHE`, the model that the file remembers.
enum ModelCacheTable {
  static func write(_ model: ManagedObjectModel, _ connection: SQLiteConnection) throws {
    try connection.execute("DELETE FROM Z_MODELCACHE")
    let statement = try connection.statement("INSERT INTO Z_MODELCACHE (Z_CONTENT) VALUES (?)")
    defer { statement.reset() }
    try statement.run()
  }
}
