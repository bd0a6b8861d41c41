// The tables of a store as other programs meet them: names that are alike, values that no index holds.

import CairnModel
import TestSupport
@_spi(Stores) import CairnStore
import Foundation
import TestServers
import Testing

@testable import CairnPostgreSQL

@Suite(.needsServer) struct LayoutTests {
  let words: StoreWords

  init() throws { words = try StoreWords() }

  @Test func rootEntitiesWhoseNamesDifferInCaseOnlyHaveTablesOfTheirOwn() throws {
    let entities = ["Item", "item", "ITEM"].map { name in
      EntityDescription(name: name, properties: [LibraryModel.attribute("title", .string)])
    }
    let owner = relationship("owner", to: entities[0])
    let owned = relationship("owned", to: entities[1], isToMany: true)
    connect(owner, owned)
    entities[1].properties.append(owner)
    entities[0].properties.append(owned)
    let store = try words.openRecording(model: LibraryModel.schema(entities).model)
    let first = try words.insert("Item", ["title": .string("Item")], in: store)
    let second = try words.insert(
      "item", ["title": .string("item"), "owner": .object(first.objectID)], in: store)
    let third = try words.insert("ITEM", ["title": .string("ITEM")], in: store)
    for row in [first, second, third] {
      let entity = row.objectID.entity
      let found = try #require(try store.fetch(StoreFetchRequest(entity: entity)).snapshots)
      #expect(found.map(\.objectID) == [row.objectID])
      let slot = try #require(entity.layout.slotByName["title"])
      #expect(found.first?[slot] == .string(entity.name ?? ""))
    }
    let relationship = try #require(
      store.managedObjectModel.entitiesByName["Item"]?.relationshipsByName["owned"])
    #expect(
      try store.members(of: relationship, owners: [first.objectID]) == [[second.objectID]])
    #expect(try store.verifyIntegrity() == [])
    let tables = try words.sql(
      "SELECT table_name FROM @cairn_name WHERE column_name = '' ORDER BY table_name",
      on: try words.foreign())
    #expect((0..<tables.count).map { tables.text($0, 0) } == ["item", "item_2", "item_3"])
  }

  @Test(arguments: [true, false])
  func aValueThatIsTooLongForAnIndexIsRefusedWithWhatToDo(_ isUnique: Bool) throws {
    let model = try LibraryModel.make { entities in
      guard !isUnique, let author = entities["Author"],
        let name = author.attributesByName["firstName"]
      else { return }
      author.indexes = [
        FetchIndexDescription(
          name: "byName",
          elements: [
            FetchIndexElementDescription(
              property: name, collationType: .binary)
          ])
      ]
    }.model
    let store = try words.open(model: model)
    let (entity, name) = isUnique ? ("Book", "ISBN13") : ("Author", "firstName")
    // What can be compressed fits.
    let long = (0..<4000).map { _ in String(Int.random(in: 0..<36), radix: 36) }.joined()
    let error = #expect(throws: CoreDataError.self) {
      try words.insert(entity, [name: .string(long)], in: store)
    }
    #expect(error?.code == .managedObjectValidation)
    #expect(error?.message.contains("2,700 bytes") == true)
    try words.insert(entity, [name: .string(String(repeating: "x", count: 9000))], in: store)
    try words.insert(entity, [name: .string(String(long.prefix(2000)))], in: store)
  }
}
