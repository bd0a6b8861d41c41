// Long results are read batch by batch.

import Cairn
import CairnControl
import Foundation
import TestSupport
import Testing

@testable import CairnRecords

@Suite struct RecordCursorTests {
  private let folder: TemporaryFolder
  private let coordinator: PersistentStoreCoordinator
  private let context: ManagedObjectContext

  /// Three batches and a half.
  private static let count = RecordFetch.batchSize * 7 / 2

  init() throws {
    folder = try TemporaryFolder()
    let item = EntityDescription(
      name: "Item",
      properties: [
        AttributeDescription(name: "number", type: .integer32),
        AttributeDescription(name: "text", type: .string),
        AttributeDescription(name: "cost", type: .decimal),
        AttributeDescription(name: "day", type: .date),
        AttributeDescription(name: "mark", type: .uuid),
      ])
    let partner = RelationshipDescription()
    (partner.name, partner.destinationEntity, partner.maxCount) = ("partner", item, 1)
    partner.inverseRelationship = partner
    item.properties.append(partner)
    let model = ManagedObjectModel()
    model.entities = [item]
    coordinator = PersistentStoreCoordinator(managedObjectModel: model)
    _ = try coordinator.addPersistentStore(
      ofType: StoreTypeName.sqlite, configurationName: nil,
      at: folder.fileURL("Items.sqlite"))
    context = ManagedObjectContext(concurrencyType: .privateQueueConcurrencyType)
    context.persistentStoreCoordinator = coordinator
    try context.performAndWait { [context] in
      var last: ManagedObject?
      for number in 0..<Self.count {
        let object = ManagedObject(entity: item, insertInto: context)
        object.setValue(number, forKey: "number")
        // Few values, so that many rows have the same, and some have none.
        let few = number % 7
        if few < 6 { object.setValue(NSDecimalNumber(string: "\(few).1"), forKey: "cost") }
        if few % 2 == 0 {
          object.setValue(Date(timeIntervalSinceReferenceDate: Double(few) / 3), forKey: "day")
        }
        if number % 3 == 0 { object.setValue(UUID(), forKey: "mark") }
        if number % 2 == 1 { object.setValue(last, forKey: "partner") }
        last = object
      }
      try context.save()
      context.reset()
    }
  }

  private func cursor(
    _ parameters: FetchRecords.Parameters, pageSize: Int = RecordCursor.pageSize
  ) throws -> RecordCursor {
    try RecordFetch(
      parameters, model: coordinator.managedObjectModel, naming: URINaming(coordinator: coordinator)
    ).start(in: context, stores: nil, pageSize: pageSize)
  }

  private func numbers(_ replies: [FetchRecords.Reply]) -> [Int64] {
    replies.flatMap(\.rows).compactMap { $0["number"]?.exactInteger }
  }

  private func rest(of cursor: RecordCursor) throws -> [FetchRecords.Reply] {
    var replies: [FetchRecords.Reply] = []
    while let reply = try cursor.next() { replies.append(reply) }
    return replies
  }

  @Test func batchesEndAtAMegabyteAndALongerRowGoesAlone() throws {
    let sizes = [10, 400_000, 400_000, 400_000, 3_000_000, 10, 10, 1_500_000]
    try context.performAndWait { [context] in
      for object in try context.fetch(FetchRequest<ManagedObject>(entityName: "Item")) {
        let number = object.value(forKey: "number") as? Int ?? 0
        if sizes.indices.contains(number) {
          object.setValue(String(repeating: "x", count: sizes[number]), forKey: "text")
        }
      }
      try context.save()
      context.reset()
    }
    let replies = try rest(of: cursor(.init(entity: "Item", sort: ["number"])))
    #expect(numbers(replies) == Array(0..<Int64(Self.count)))
    for reply in replies where reply.rows.count > 1 {
      let bytes = reply.rows.reduce(0) { $0 + JSONValue.object($1).bytes().count }
      #expect(bytes < 1_100_000)
    }
    #expect(replies.contains { $0.rows.count == 1 })
    #expect(replies.count < 20)
  }

  @Test func batchesComeInTheOrderThatWasAskedForAndLeaveNoObjects() throws {
    let cursor = try cursor(.init(entity: "Item", sort: ["-number"]))
    var replies: [FetchRecords.Reply] = []
    while let reply = try cursor.next() {
      replies.append(reply)
      let held = context.performAndWait { [context] in context.registeredObjects.count }
      #expect(held == 0)
    }
    #expect(numbers(replies) == (0..<Int64(Self.count)).reversed())
    #expect(replies.map(\.rows.count) == [100, 100, 100, 50])
    #expect(replies.map { $0.properties == nil } == [false, true, true, true])
    #expect(replies.first?.rows.first?["partner"]?.stringValue != nil, "references are named")
    #expect(replies.allSatisfy { $0.last == nil })
  }

  @Test func aCutStreamGoesOnBehindItsLastRow() throws {
    let all = try cursor(.init(entity: "Item"))
    let first = try #require(try all.next())
    let after = try #require(first.last)
    let rest = try rest(of: cursor(.init(entity: "Item", after: after)))
    #expect(numbers([first] + rest) == Array(0..<Int64(Self.count)))
  }

  @Test func whatIsDeletedMeanwhileIsLeftOutAndTheRestComes() throws {
    let cursor = try cursor(.init(entity: "Item"))
    let first = try #require(try cursor.next())
    // Behind what was read ahead: a hundred in a row, and every second one of fifty.
    let other = ManagedObjectContext(concurrencyType: .privateQueueConcurrencyType)
    other.persistentStoreCoordinator = coordinator
    try other.performAndWait {
      let request = FetchRequest<ManagedObject>(entityName: "Item")
      for object in try other.fetch(request) {
        let number = object.value(forKey: "number") as? Int ?? 0
        if (150..<250).contains(number) || (250..<300).contains(number) && number % 2 == 0 {
          other.delete(object)
        }
      }
      try other.save()
    }
    let rest = try rest(of: cursor)
    #expect(rest.allSatisfy { !$0.rows.isEmpty }, "an empty batch is the end")
    let wanted = (0..<150) + (250..<300).filter { $0 % 2 == 1 } + (300..<350)
    #expect(numbers([first] + rest) == wanted.map(Int64.init))
  }

  private static let orders: [[String]?] = [
    nil, ["-number"], ["text"], ["cost"], ["-cost"], ["cost", "-day", "mark"], ["-mark", "number"],
    ["partner"], ["-partner.cost", "day"], ["-day", "-cost"],
  ]

  @Test(arguments: orders, [nil, "number > 20 AND (cost > 2 OR cost = nil)"] as [String?])
  func aFetchHoldsOnePageOfItsRowsAndLeavesNoneOut(_ sort: [String]?, _ predicate: String?) throws {
    let parameters = FetchRecords.Parameters(
      entity: "Item", predicate: predicate, sort: sort, properties: ["number"])
    let all = numbers(try rest(of: cursor(parameters)))
    #expect(predicate == nil ? all.count == Self.count : all.count > 90)
    let store = try #require(coordinator.persistentStores.first)
    let snapshot = try RecordSnapshot(of: store, model: coordinator.managedObjectModel)
    defer { snapshot.close() }
    // A row a page takes a fetch a row: once is enough.
    let smallest = sort == nil ? 1 : 40
    for size in [smallest, 50, all.count - 1, all.count, all.count + 1] {
      let exported = try snapshot.cursor(
        .init(entity: "Item", predicate: predicate, sort: sort, properties: ["number"]),
        pageSize: size)
      for cursor in [try cursor(parameters, pageSize: size), exported] {
        var found: [Int64] = []
        while let reply = try cursor.next() {
          #expect(cursor.found.count <= size)
          found += numbers([reply])
        }
        #expect(found == all, "\(size)")
      }
    }
  }

  @Test(arguments: [(0, 0), (5, 0), (120, 0), (0, 3), (120, 17), (1000, 340), (10, 350)])
  func aPartOfTheRowsIsTheSameByPages(_ limit: Int, _ offset: Int) throws {
    for sort in [nil, ["-cost"]] as [[String]?] {
      let all = numbers(try rest(of: cursor(.init(entity: "Item", sort: sort))))
      let parameters = FetchRecords.Parameters(
        entity: "Item", sort: sort, limit: limit, offset: offset)
      for size in [1, 40, 120, 500] {
        let part = numbers(try rest(of: cursor(parameters, pageSize: size)))
        #expect(part == Array(all.dropFirst(offset).prefix(limit == 0 ? .max : limit)), "\(size)")
      }
    }
  }

  @Test func pagesInAnOrderAreOfOneMoment() throws {
    let cursor = try cursor(.init(entity: "Item", sort: ["number"]), pageSize: 60)
    var found = numbers([try #require(try cursor.next())])
    // What was read goes behind the rest, and what was not before it.
    let other = ManagedObjectContext(concurrencyType: .privateQueueConcurrencyType)
    other.persistentStoreCoordinator = coordinator
    try other.performAndWait {
      for object in try other.fetch(FetchRequest<ManagedObject>(entityName: "Item")) {
        let number = object.value(forKey: "number") as? Int ?? 0
        object.setValue(1000 - number, forKey: "number")
        if number % 10 == 0 { other.delete(object) }
      }
      try other.save()
    }
    found += numbers(try rest(of: cursor))
    #expect(found == Array(0..<Int64(Self.count)))
  }

  @Test func pagesGoOnBehindRowsThatAreGone() throws {
    let cursor = try cursor(.init(entity: "Item"), pageSize: 150)
    let first = try #require(try cursor.next())
    let other = ManagedObjectContext(concurrencyType: .privateQueueConcurrencyType)
    other.persistentStoreCoordinator = coordinator
    try other.performAndWait {
      for object in try other.fetch(FetchRequest<ManagedObject>(entityName: "Item")) {
        let number = object.value(forKey: "number") as? Int ?? 0
        if (120..<320).contains(number) { other.delete(object) }
      }
      try other.save()
    }
    let found = numbers([first] + (try rest(of: cursor)))
    // Two batches were read ahead at most.
    #expect(found.starts(with: Array(0..<120)) && found.suffix(30) == Array(320..<350))
  }

  @Test func aResultWithoutRowsNamesItsPropertiesOnce() throws {
    let replies = try rest(of: cursor(.init(entity: "Item", predicate: "number < 0")))
    #expect(replies.count == 1 && replies[0].rows.isEmpty)
    #expect(
      Set(replies[0].properties ?? []) == ["number", "text", "cost", "day", "mark", "partner"])
  }
}
