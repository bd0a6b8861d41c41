// What objects cost once they are there: reading, writing, and a save among many.

import CHeap
@_spi(Generated) import Cairn
import Foundation

/// As the class that the build plugin generates for the entity, and tells of.
private final class Item: ManagedObject {
  static let isRegistered: Void = registerClass(Item.self, named: "Item", overriding: [])
}

extension ManagedObject {
  /// As the accessors that the build plugin generates.
  fileprivate var count: Int64 {
    get { storedInteger(at: ItemSlot.count) ?? 0 }
    set { setStoredValue(.integer(newValue), at: ItemSlot.count) }
  }

  /// The one text that is too long to be kept in place, in memory of its own.
  fileprivate var copiedTitle: String {
    guard case .string(let text) = storedValue(at: ItemSlot.title) else { return "" }
    return String(decoding: Array(text.utf8), as: UTF8.self)
  }

  fileprivate var copiedPayload: Data? {
    guard case .data(let data) = storedValue(at: ItemSlot.payload) else { return nil }
    return data.withUnsafeBytes { Data($0) }
  }
}

/// The bytes that the process has from the heap now.
private func heapBytes() -> Int { Int(cheap_bytes()) }

extension Cases {
  /// The same thousand objects over and over: what an access costs, not what a processor waits for
  /// memory that it has not seen lately.
  private static let hotObjects = 1000
  private static let repetitions = 2000

  private func withObjects(_ body: ([ManagedObject]) throws -> Double) throws -> Double {
    try withCairn(filled: true) { stack in
      let context = stack.newContext()
      return try context.performAndWait {
        let objects = try stack.fetchAll(context, asFaults: false)
        return try body(Array(objects.prefix(Self.hotObjects)))
      }
    }
  }

  func getAttribute() throws -> CaseResult {
    try measure(
      "attribute get through a generated accessor",
      units: min(rows, Self.hotObjects) * Self.repetitions,
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
      "attribute set through a generated accessor",
      units: min(rows, Self.hotObjects) * Self.repetitions,
      rounds: rounds, must: 12, aim: 3,
      [
        Contestant(name: "Cairn") {
          try withCairn(filled: false) { stack in
            let context = stack.newContext()
            Item.isRegistered
            return context.performAndWait {
              guard let entity = stack.coordinator.managedObjectModel.entitiesByName["Item"] else {
                return 0
              }
              let objects = (0..<min(rows, Self.hotObjects)).map { _ in
                Item(entity: entity, insertInto: context)
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

  /// What a clean object that was fetched takes from the heap, its entries in tables included, and
  /// texts and data excluded.
  func memory() throws -> CaseResult {
    try measure(
      "memory of a clean fetched object", units: rows, rounds: rounds, must: 450, aim: 300,
      unit: "bytes",
      [
        Contestant(name: "Cairn") {
          try withCairn(filled: true) { stack in
            let context = stack.newContext()
            return try context.performAndWait {
              // What a first fetch makes for good is there before it is counted.
              _ = try stack.fetchAll(context, asFaults: false).count
              context.reset()
              let before = heapBytes()
              let objects = try stack.fetchAll(context, asFaults: false)
              let between = heapBytes()
              var contents: [(String, Data?)] = []
              contents.reserveCapacity(objects.count)
              let start = heapBytes()
              for object in objects {
                contents.append((object.copiedTitle, object.copiedPayload))
              }
              let content = heapBytes() - start
              keep(objects)
              keep(contents)
              return Double(between - before - content)
            }
          }
        }
      ])
  }

  /// One changed object among all those of the context.
  func saveOne() throws -> CaseResult {
    try measure(
      "save of one object in a context of \(rows)", units: Self.singleSaves, rounds: rounds,
      [
        Contestant(name: "raw") {
          try withRaw(filled: true) { d in
            try timed { for id in 1...Self.singleSaves { try d.update([Int64(id)]) } }
          }
        },
        Contestant(name: "GRDB") {
          try withGRDB(filled: true) { d in
            let records = try d.fetchAll()
            return try timed {
              for record in records.prefix(Self.singleSaves) { try d.update([record]) }
            }
          }
        },
        Contestant(name: "Cairn") {
          try withCairn(filled: true) { stack in try timedSaves(stack) }
        },
      ])
  }

  static let singleSaves = 200

  func timedSaves(_ stack: CairnStack) throws -> Double {
    let context = stack.newContext()
    return try context.performAndWait {
      let objects = try stack.fetchAll(context, asFaults: false)
      let seconds = try timed {
        for (index, object) in objects.prefix(Self.singleSaves).enumerated() {
          object.change(to: Int64(index))
          try context.save()
        }
      }
      keep(objects)
      return seconds
    }
  }
}
