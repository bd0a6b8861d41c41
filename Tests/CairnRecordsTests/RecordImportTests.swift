// What a batch of an import takes, and what it refuses.

import Cairn
import CairnControl
import Foundation
import TestSupport
import Testing

@testable import CairnRecords

@Suite struct RecordImportTests {
  private let folder: TemporaryFolder
  private let coordinator: PersistentStoreCoordinator
  private let store: PersistentStore

  init() throws {
    folder = try TemporaryFolder()
    let place = EntityDescription(
      name: "Place", properties: [AttributeDescription(name: "name", type: .string)])
    place.isAbstract = true
    let town = EntityDescription(name: "Town")
    place.subentities = [town]
    let person = EntityDescription(name: "Person")
    let (home, people) = (RelationshipDescription(), RelationshipDescription())
    (home.name, home.destinationEntity, home.maxCount) = ("home", place, 1)
    (people.name, people.destinationEntity) = ("people", person)
    (home.inverseRelationship, people.inverseRelationship) = (people, home)
    person.properties.append(home)
    place.properties.append(people)
    let model = ManagedObjectModel()
    model.entities = [place, town, person]
    coordinator = PersistentStoreCoordinator(managedObjectModel: model)
    store = try coordinator.addPersistentStore(
      ofType: StoreTypeName.sqlite, configurationName: nil, at: folder.fileURL("Places.sqlite"))
  }

  private func add(
    _ entity: String, _ rows: [String: JSONValue]..., key: [String]? = nil
  ) throws -> ImportRecords.Reply {
    let context = ManagedObjectContext(concurrencyType: .privateQueueConcurrencyType)
    context.persistentStoreCoordinator = coordinator
    return try RecordImport(
      .init(entity: entity, rows: rows, lines: Array(1...rows.count), key: key),
      model: coordinator.managedObjectModel,
      naming: URINaming(coordinator: coordinator)
    ).run(in: context, store: store)
  }

  @Test func twoSpellingsOfAKeyAreTwoRecords() throws {
    let reply = try add(
      "Town", ["name": "M\u{FC}nchen"], ["name": "Mu\u{308}nchen"], ["name": "M\u{FC}nchen"],
      key: ["name"])
    #expect(reply.inserted == 2)
  }

  @Test func aReferenceToAnAbstractEntityFindsItsSubentitiesRecordsAndMakesNone() throws {
    let row: [String: JSONValue] = ["home": .object(["name": "Ulm"])]
    let error = #expect(throws: ControlError.self) { try add("Person", row) }
    guard case .importFailed(1, let reason)? = error else {
      Issue.record("\(String(describing: error))")
      return
    }
    #expect(reason.contains("name=Ulm") && reason.contains("subentities first"), "\(reason)")
    _ = try add("Town", ["name": "Ulm"])
    let reply = try add("Person", row)
    #expect(reply.inserted == 1 && reply.created == 0)
  }
}
