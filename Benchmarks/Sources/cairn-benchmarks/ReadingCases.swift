// Reading by an index and along relationships.

@_spi(Generated) import Cairn
import Foundation

extension Cases {
  /// Fifty rows at a time, by an index.
  func rangeQueries() throws -> CaseResult {
    let groups = max(rows / 50, 1)
    let samples = Sample.rows(groups * 50)
    return try measure(
      "indexed range query, \(groups) of 50 rows", units: groups * 50, rounds: rounds,
      must: 2.5, aim: 1.8,
      [
        Contestant(name: "raw") {
          try withRaw(filled: false) { d in
            try d.insert(samples)
            try d.execute("CREATE INDEX item_grp ON item(grp)")
            return try timed { keep(try d.ranges(0..<groups)) }
          }
        },
        Contestant(name: "GRDB") {
          try withGRDB(filled: false) { d in
            try d.insert(samples)
            try d.queue.write { try $0.execute(sql: "CREATE INDEX item_grp ON item(grp)") }
            var records: [[ItemRecord]] = []
            let seconds = try timed { records = try d.ranges(groups) }
            keep(records)
            return seconds
          }
        },
        Contestant(name: "Cairn") {
          try withCairn(filled: false, isIndexed: true) { stack in
            try stack.insert(samples)
            let context = stack.newContext()
            return try context.performAndWait {
              var found: [[ManagedObject]] = []
              let seconds = try timed { found = try stack.ranges(0..<groups, in: context) }
              keep(found)
              return seconds
            }
          }
        },
      ])
  }

  /// Ten children of each parent, and their names.
  func traverse(prefetched: Bool) throws -> CaseResult {
    let parents = max(rows / 10, 1)
    return try measure(
      "traverse \(parents) x 10, \(prefetched ? "prefetched" : "lazy")", units: parents * 10,
      rounds: rounds, must: prefetched ? 3 : 4, aim: prefetched ? 2 : 2.5,
      [
        Contestant(name: "raw") {
          try withRawFamily(parents: parents) { d in try timed { keep(try d.traverse()) } }
        },
        Contestant(name: "GRDB") {
          try withGRDBFamily(parents: parents) { database in
            var result: (families: [FamilyRecord], sum: Int) = ([], 0)
            let seconds = try timed { result = try database.traverse(together: prefetched) }
            keep(result)
            return seconds
          }
        },
        Contestant(name: "Cairn") {
          try withCairnFamily(parents: parents) { context in
            let request = FetchRequest<ManagedObject>(entityName: "Parent")
            if prefetched { request.relationshipKeyPathsForPrefetching = ["children"] }
            var objects: [ManagedObject] = []
            let seconds = try timed {
              objects = try context.fetch(request)
              var sum = 0
              for parent in objects {
                for child in parent.members(ofToMany: 0) {
                  if case .string(let name) = child.storedValue(at: ChildSlot.name) {
                    sum += name.utf8.count
                  }
                }
              }
              keep(sum)
            }
            keep(objects)
            return seconds
          }
        },
      ])
  }
}
