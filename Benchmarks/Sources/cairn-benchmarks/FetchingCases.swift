// Fetching everything: as objects with their values, and as faults.

import Cairn
import Foundation

extension Cases {
  /// - Parameter uniqued: Whether GRDB makes objects as well, one for each row, and not values.
  func fetchObjects(uniqued: Bool) throws -> CaseResult {
    try measure(
      "fetch into uniqued, filled objects" + (uniqued ? ", GRDB's too" : ""), units: rows,
      rounds: rounds, must: 3.0, aim: 2.2,
      [
        Contestant(name: "raw") {
          try withRaw(filled: true) { d in try timed { keep(try d.readAll()) } }
        },
        Contestant(name: "GRDB") {
          try withGRDB(filled: true) { d in
            if uniqued { return try timedFetch { try d.fetchUniqued(into: $0) } }
            var records: [ItemRecord] = []
            let seconds = try timed { records = try d.fetchAll() }
            keep(records)
            return seconds
          }
        },
        Contestant(name: "Cairn") { try timedFetch(asFaults: false) },
      ])
  }

  /// - Parameter uniqued: Whether GRDB makes objects as well, with nothing but a key, and not
  ///   integers.
  func fetchFaults(uniqued: Bool) throws -> CaseResult {
    try measure(
      "fetch as faults" + (uniqued ? ", GRDB's objects too" : "") + " (to a full raw read)",
      units: rows, rounds: rounds, must: 0.8, aim: 0.55,
      [
        Contestant(name: "raw") {
          try withRaw(filled: true) { d in try timed { keep(try d.readAll()) } }
        },
        Contestant(name: "GRDB") {
          try withGRDB(filled: true) { d in
            if uniqued { return try timedFetch { try d.fetchFaults(into: $0) } }
            var ids: [Int64] = []
            let seconds = try timed { ids = try d.fetchIDs() }
            keep(ids)
            return seconds
          }
        },
        Contestant(name: "Cairn") { try timedFetch(asFaults: true) },
      ])
  }

  /// Into a new table of objects, which lives on like what was fetched.
  private func timedFetch(_ fetch: (ItemObjects) throws -> [ItemObject]) throws -> Double {
    let table = ItemObjects()
    var objects: [ItemObject] = []
    let seconds = try timed { objects = try fetch(table) }
    keep((table, objects))
    return seconds
  }

  private func timedFetch(asFaults: Bool) throws -> Double {
    try withCairn(filled: true) { try timedFetch($0, asFaults: asFaults) }
  }

  func timedFetch(_ stack: CairnStack, asFaults: Bool) throws -> Double {
    let context = stack.newContext()
    return try context.performAndWait {
      var objects: [ManagedObject] = []
      let seconds = try timed { objects = try stack.fetchAll(context, asFaults: asFaults) }
      keep(objects)
      return seconds
    }
  }
}
