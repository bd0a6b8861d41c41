// What objects cost once they are there: reading, writing, and a save among many.

import Cairn
import Foundation

extension ManagedObject {
  /// As the accessors that the build plugin generates.
  fileprivate var count: Int64 {
    get {
      guard case .integer(let value) = storedValue(at: ItemSlot.count) else { return 0 }
      return value
    }
    set { setStoredValue(.integer(newValue), at: ItemSlot.count) }
  }
}

extension Cases {
  private static let repetitions = 20

  private func withObjects(_ body: ([ManagedObject]) throws -> Double) throws -> Double {
    try withCairn(filled: true) { stack in
      let context = stack.newContext()
      return try context.performAndWait {
        try body(try stack.fetchAll(context, asFaults: false))
      }
    }
  }

  func getAttribute() throws -> CaseResult {
    try measure(
      "attribute get through a generated accessor", units: rows * Self.repetitions,
      rounds: rounds, must: 6, aim: 2,
      [
        Contestant(name: "Cairn") {
          try withObjects { objects in
            var sum: Int64 = 0
            let seconds = timed {
              for _ in 0..<Self.repetitions { for object in objects { sum &+= object.count } }
            }
            keep(sum)
            return seconds
          }
        }
      ])
  }

  func setAttribute() throws -> CaseResult {
    try measure(
      "attribute set through a generated accessor", units: rows * Self.repetitions,
      rounds: rounds, must: 12, aim: 3,
      [
        Contestant(name: "Cairn") {
          try withCairn(filled: false) { stack in
            let context = stack.newContext()
            return context.performAndWait {
              guard let entity = stack.coordinator.managedObjectModel.entitiesByName["Item"] else {
                return 0
              }
              let objects = (0..<rows).map { _ in
                ManagedObject(entity: entity, insertInto: context)
              }
              let seconds = timed {
                for round in 0..<Self.repetitions {
                  for object in objects { object.count = Int64(round) }
                }
              }
              keep(objects)
              return seconds
            }
          }
        }
      ])
  }

  /// One changed object among all those of the context.
  func saveOne() throws -> CaseResult {
    let saves = 200
    return try measure(
      "save of one object in a context of \(rows)", units: saves, rounds: rounds,
      [
        Contestant(name: "raw") {
          try withRaw(filled: true) { d in
            try timed { for id in 1...saves { try d.update([Int64(id)]) } }
          }
        },
        Contestant(name: "GRDB") {
          try withGRDB(filled: true) { d in
            let records = try d.fetchAll()
            return try timed { for record in records.prefix(saves) { try d.update([record]) } }
          }
        },
        Contestant(name: "Cairn") {
          try withCairn(filled: true) { stack in
            let context = stack.newContext()
            return try context.performAndWait {
              let objects = try stack.fetchAll(context, asFaults: false)
              let seconds = try timed {
                for (index, object) in objects.prefix(saves).enumerated() {
                  object.change(to: Int64(index))
                  try context.save()
                }
              }
              keep(objects)
              return seconds
            }
          }
        },
      ])
  }
}
