import CairnModel
import CairnStore

extension StoreAccess {
  /// The rows of objects, also of those that a program has made rows of another entity of their table.
  func rowsOfAnyEntity(of objects: [ManagedObjectID]) throws -> [RowSnapshot?] {
    var rows = try store.snapshots(for: objects)
    let missing = rows.indices.filter { rows[$0] == nil && objects[$0].entity.superentity != nil }
    if missing.isEmpty { return rows }
    let asRoots = missing.map { place in
      store.objectID(for: objects[place].entity.rootEntity, rowKey: objects[place].rowKey ?? 0)
    }
    for (place, row) in zip(missing, try store.snapshots(for: asRoots)) { rows[place] = row }
    return rows
  }
}
