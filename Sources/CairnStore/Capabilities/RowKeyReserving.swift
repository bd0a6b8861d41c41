import CairnModel

/// A capability of a store that tells its objects apart by numbers: it reserves these instead of whole IDs, for
/// many new objects at once.
package protocol RowKeyReserving: AnyObject, Sendable {
  /// Row keys for runs of new objects, each run of one entity: the first key of each; the others
  /// follow it.
  ///
  /// Final, even when the rows are never saved. Nil when the store wants to be asked for IDs.
  func reserveRowKeys(for runs: [RowKeyRun]) throws -> [Int64]?

  /// What would be reserved now, behind what is claimed already; nil where keys are reserved alone.
  ///
  /// Nothing is taken: a save that has these keys in its ``SaveChangesRequest/rowKeyClaims`` takes them, and
  /// its outcome is ``SaveOutcome/rowKeysTaken`` where another one did so before.
  func nextRowKeys(for runs: [RowKeyRun], after claims: [RowKeyClaim]) throws -> [Int64]?
}

extension RowKeyReserving {
  package func nextRowKeys(
    for runs: [RowKeyRun], after claims: [RowKeyClaim]
  ) throws -> [Int64]? { nil }
}

/// Keys that a save wants for new rows of one entity.
package struct RowKeyClaim: Sendable {
  package let entity: EntityDescription
  package let first: Int64
  package let count: Int

  package init(_ run: RowKeyRun, first: Int64) {
    (entity, count) = (run.entity, run.count)
    self.first = first
  }
}

/// New objects of one entity in a row.
package struct RowKeyRun {
  package let entity: EntityDescription
  package var count: Int

  package init(entity: EntityDescription, count: Int) {
    self.entity = entity
    self.count = count
  }

  /// The runs of new objects whose entities follow each other so.
  package static func runs(of entities: [EntityDescription]) -> [RowKeyRun] {
    var runs: [RowKeyRun] = []
    for entity in entities {
      if let last = runs.last, last.entity === entity {
        runs[runs.count - 1].count += 1
      } else {
        runs.append(RowKeyRun(entity: entity, count: 1))
      }
    }
    return runs
  }
}
