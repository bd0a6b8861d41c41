// Deleting parents with everything that cascades from them: as objects, and without any.

import Cairn
import Foundation

extension Cases {
  /// Deletes parents, object by object; children go with them.
  ///
  /// - Parameter isTold: Whether GRDB's program learns which children went, as a context does.
  func cascade(isTold: Bool) throws -> CaseResult {
    let parents = max(rows / 10, 1)
    let name = "delete \(parents) with a cascade to \(parents * 10)"
    return try measure(
      isTold ? "\(name), GRDB's objects too" : name, units: parents * 11, rounds: rounds,
      must: 2.5, aim: 1.6,
      [
        rawDeletion(of: parents),
        Contestant(name: "GRDB") {
          try withGRDBFamily(parents: parents) { database in
            let records = try database.fetchParents()
            guard isTold else { return try timed { try database.delete(records) } }
            let table = ItemObjects()
            var children: [ItemObject] = []
            let seconds = try timed { children = try database.delete(records, telling: table) }
            keep(children)
            return seconds
          }
        },
        Contestant(name: "Cairn") {
          try withCairnFamily(parents: parents) { try timedCascade($0) }
        },
      ])
  }

  func timedCascade(_ context: ManagedObjectContext) throws -> Double {
    let request = FetchRequest<ManagedObject>(entityName: "Parent")
    let objects = try context.fetch(request)
    return try timed {
      for object in objects { context.delete(object) }
      try context.save()
    }
  }

  /// A batch request that deletes parents with everything that cascades from them.
  func batchDelete() throws -> CaseResult {
    let parents = max(rows / 10, 1)
    return try measure(
      "batch delete of \(parents) with a cascade to \(parents * 10)", units: parents * 11,
      rounds: rounds, must: 1.0, aim: 0.7,
      [
        rawDeletion(of: parents),
        Contestant(name: "GRDB") {
          try withGRDBFamily(parents: parents) { database in
            try timed { try database.deleteAllParents() }
          }
        },
        Contestant(name: "Cairn") {
          try withCairnFamily(parents: parents) { context in
            let request = FetchRequest<ManagedObject>(entityName: "Parent")
            request.predicate = ObjectPredicate(format: "name == 'p'")
            let batch = BatchDeleteRequest(fetchRequest: request)
            return try timed { _ = try context.execute(batch) }
          }
        },
      ])
  }

  private func rawDeletion(of parents: Int) -> Contestant {
    Contestant(name: "raw") {
      try withRawFamily(parents: parents) { d in try timed { try d.deleteParents(parents) } }
    }
  }
}
