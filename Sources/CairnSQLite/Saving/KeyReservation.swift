import CairnModel
import CairnSQL
import CairnStore

/// Hands out primary keys: the counter of the root entity in `Z_PRIMARYKEY`, advanced inside a
/// write transaction, so that no two processes ever get the same key.
enum KeyReservation {
  static func reserve(
    for entities: [EntityDescription], _ lookup: RowLookup
  ) throws -> [ManagedObjectID] {
    let runs = RowKeyRun.runs(of: entities)
    var result: [ManagedObjectID] = []
    result.reserveCapacity(entities.count)
    for (run, first) in zip(runs, try reserve(for: runs, lookup)) {
      let entity = lookup.schema.entity(run.entity)
      for key in first..<first + Int64(run.count) {
        result.append(lookup.reader.objectID(entity, key: key))
      }
    }
    return result
  }

  /// The first key of each run.
  static func reserve(for runs: [RowKeyRun], _ lookup: RowLookup) throws -> [Int64] {
    try firsts(of: runs, lookup) { root, count in
      try lookup.connection.reserveKeys(count, of: root)
    }
  }

  /// The first key that each run would have, behind what is claimed already; none is taken.
  static func next(
    for runs: [RowKeyRun], after claims: [RowKeyClaim], _ lookup: RowLookup
  ) throws -> [Int64] {
    let claimed = counts(claims.map { ($0.entity, $0.count) }, lookup)
    return try firsts(of: runs, lookup) { root, _ in
      try lookup.connection.lastKey(ofEntity: root.number, table: root.table) + 1
        + claimed[root.number, default: 0]
    }
  }

  /// Takes the keys that a save has claimed.
  ///
  /// - Returns: False where others took some of them before; nothing that was written counts then.
  static func take(_ claims: [RowKeyClaim], _ lookup: RowLookup) throws -> Bool {
    for (number, count) in counts(claims.map { ($0.entity, $0.count) }, lookup) {
      guard let root = lookup.schema.entity(number: number) else { continue }
      let first = claims.lazy.filter { lookup.schema.entity($0.entity).rootNumber == number }
        .map(\.first).min()
      guard try lookup.connection.reserveKeys(count, of: root) == first else { return false }
    }
    return true
  }

  /// - Parameter keys: Gives the first of so many keys of a root entity.
  private static func firsts(
    of runs: [RowKeyRun], _ lookup: RowLookup,
    _ keys: (_ root: SQLEntity, _ count: Int64) throws -> Int64
  ) throws -> [Int64] {
    var next: [Int: Int64] = [:]
    for (number, count) in counts(runs.map { ($0.entity, $0.count) }, lookup) {
      guard let root = lookup.schema.entity(number: number) else { continue }
      next[number] = try keys(root, count)
    }
    return runs.map { run in
      let root = lookup.schema.entity(run.entity).rootNumber
      let first = next[root] ?? 1
      next[root] = first + Int64(run.count)
      return first
    }
  }

  /// By the number of the root entity, how many keys.
  private static func counts(
    _ runs: [(entity: EntityDescription, count: Int)], _ lookup: RowLookup
  ) -> [Int: Int64] {
    var counts: [Int: Int64] = [:]
    for run in runs {
      counts[lookup.schema.entity(run.entity).rootNumber, default: 0] += Int64(run.count)
    }
    return counts
  }
}
