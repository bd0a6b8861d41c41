// Deleting many rows without objects.

import Cairn
import Foundation

extension Cases {
  /// A batch request that deletes parents with everything that cascades from them.
  func batchDelete() throws -> CaseResult {
    let parents = max(rows / 10, 1)
    return try measure(
      "batch delete of \(parents) with a cascade to \(parents * 10)", units: parents * 11,
      rounds: rounds, must: 1.0, aim: 0.7,
      [
        Contestant(name: "raw") {
          try withRaw(filled: false) { d in
            try d.createFamily(parents: parents, children: 10)
            return try timed { try d.deleteParents(parents) }
          }
        },
        Contestant(name: "GRDB") {
          let file = workspace.newFile()
          defer { workspace.remove(file) }
          try RawDatabase(file).createFamily(parents: parents, children: 10)
          let database = try GRDBDatabase(file)
          return try timed { try database.deleteAllParents() }
        },
        Contestant(name: "Cairn") {
          try withCairn(filled: false) { stack in
            try stack.createFamily(parents: parents, children: 10)
            let context = stack.newContext()
            return try context.performAndWait {
              let request = FetchRequest<ManagedObject>(entityName: "Parent")
              request.predicate = ObjectPredicate(format: "name == 'p'")
              let batch = BatchDeleteRequest(fetchRequest: request)
              return try timed { _ = try context.execute(batch) }
            }
          }
        },
      ])
  }
}
