// Columns that a caller names are checked against the model before anything is read.

import Cairn
import CairnControl
import CairnRecords
import Testing

@Suite struct RecordColumnTests {
  private static func model() throws -> ManagedObjectModel {
    let team = EntityDescription(
      name: "Team", properties: [AttributeDescription(name: "name", type: .string)])
    let person = EntityDescription(
      name: "Person",
      properties: [
        AttributeDescription(name: "name", type: .string),
        AttributeDescription(name: "age", type: .integer32),
      ])
    let members = RelationshipDescription()
    members.name = "members"
    members.destinationEntity = person
    let home = RelationshipDescription()
    home.name = "team"
    home.destinationEntity = team
    home.maxCount = 1
    members.inverseRelationship = home
    home.inverseRelationship = members
    team.properties.append(members)
    person.properties.append(home)
    let model = ManagedObjectModel()
    model.entities = [team, person]
    // A coordinator takes the model into use.
    _ = try PersistentStoreCoordinator(managedObjectModel: model).addPersistentStore(
      ofType: "InMemory", configurationName: nil, at: nil)
    return model
  }

  @Test(arguments: [
    "members.@bogus", "members.@sum.name", "members.@sum.nope", "members.@sum", "members.@max.team",
    "members.@count.age", "name.@count", "@count", "members.name", "", ".", "members.",
  ])
  func aPathThatMeansNothingIsRefusedBeforeItIsEvaluated(path: String) throws {
    let model = try Self.model()
    let naming = URINaming(coordinator: PersistentStoreCoordinator(managedObjectModel: model))
    for parameters in [
      FetchRecords.Parameters(entity: "Team", properties: [path]),
      FetchRecords.Parameters(entity: "Team", sort: [path]),
    ] {
      let error = #expect(throws: ControlError.self) {
        try RecordFetch(parameters, model: model, naming: naming)
      }
      #expect(error?.name == "io.cairn.Data.UnknownProperty")
      #expect(error?.fields["property"] == .string(path))
    }
  }

  @Test(arguments: ["members.@count", "members.@sum.age", "members.@max.name", "name"])
  func aPathThatFitsTheModelIsTaken(path: String) throws {
    let model = try Self.model()
    let naming = URINaming(coordinator: PersistentStoreCoordinator(managedObjectModel: model))
    _ = try RecordFetch(
      FetchRecords.Parameters(entity: "Team", sort: [path], properties: [path]), model: model,
      naming: naming)
  }
}
