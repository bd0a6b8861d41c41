// Conditions that are short and take for ever.

import Cairn
import CairnControl
import CairnRecords
import Foundation
import TestSupport
import Testing

@Suite struct CostlyFetchTests {
  private let folder: TemporaryFolder
  private let coordinator: PersistentStoreCoordinator

  /// A team with many members.
  init() throws {
    folder = try TemporaryFolder()
    let person = EntityDescription(
      name: "Person", properties: [AttributeDescription(name: "age", type: .integer32)])
    let team = EntityDescription(
      name: "Team", properties: [AttributeDescription(name: "name", type: .string)])
    let (members, home) = (RelationshipDescription(), RelationshipDescription())
    (members.name, members.destinationEntity) = ("members", person)
    (home.name, home.destinationEntity, home.maxCount) = ("team", team, 1)
    (members.inverseRelationship, home.inverseRelationship) = (home, members)
    team.properties.append(members)
    person.properties.append(home)
    let model = ManagedObjectModel()
    model.entities = [team, person]
    coordinator = PersistentStoreCoordinator(managedObjectModel: model)
    _ = try coordinator.addPersistentStore(
      ofType: StoreTypeName.sqlite, configurationName: nil,
      at: folder.fileURL("Teams.sqlite"))
    let context = context()
    try context.performAndWait {
      let all = ManagedObject(entity: team, insertInto: context)
      all.setValue("all", forKey: "name")
      for age in 0..<1500 {
        let one = ManagedObject(entity: person, insertInto: context)
        one.setValue(age, forKey: "age")
        one.setValue(all, forKey: "team")
      }
      try context.save()
    }
  }

  private func context() -> ManagedObjectContext {
    let context = ManagedObjectContext(concurrencyType: .privateQueueConcurrencyType)
    context.persistentStoreCoordinator = coordinator
    return context
  }

  private func rows(_ predicate: String, within limit: Duration?) throws -> Int {
    let fetch = try RecordFetch(
      FetchRecords.Parameters(entity: "Team", predicate: predicate),
      model: coordinator.managedObjectModel, naming: URINaming(coordinator: coordinator))
    let context = context()
    let cursor = try context.performAndWait {
      try fetch.start(in: context, stores: nil, within: limit)
    }
    return try cursor.next()?.rows.count ?? 0
  }

  /// 1,500 members, each beside each, beside each: thousands of millions of looks.
  private static let cubic = """
    SUBQUERY(members, $a, SUBQUERY(members, $b, $b.age > $a.age AND \
    SUBQUERY(members, $c, $c.age > $b.age + $a.age).@count > 1400).@count > 1400).@count > 0
    """

  @Test(.timeLimit(.minutes(2)))
  func aConditionThatTakesTooLongIsEnded() throws {
    let error = #expect(throws: ControlError.self) {
      try rows(Self.cubic, within: .seconds(1))
    }
    #expect(error?.name == "io.cairn.Data.LimitExceeded", "\(String(describing: error))")
    #expect(error?.fields["limit"] == .integer(1))
    // The store is read as before.
    #expect(try rows("members.@count > 10", within: .seconds(30)) == 1)
    #expect(try rows("name = 'all'", within: nil) == 1)
  }

  /// What SQL cannot say is tested row by row, and no row behind the limit.
  @Test func whatMemoryTestsIsReadNoFurtherThanTheLimit() throws {
    let context = context()
    try context.performAndWait {
      let request = FetchRequest<ManagedObject>(entityName: "Person")
      var tested = 0
      request.predicate = ObjectPredicate { _, _ in
        tested += 1
        return tested.isMultiple(of: 2)
      }
      request.sortDescriptors = [ObjectSortDescriptor(key: "age", ascending: true)]
      (request.fetchOffset, request.fetchLimit) = (3, 4)
      let ages = try context.fetch(request).map { "\($0.value(forKey: "age") ?? "-")" }
      #expect(ages == ["7", "9", "11", "13"])
      #expect(tested == 14)
      request.fetchLimit = 0
      tested = 0
      #expect(try context.count(for: request) == 747)
    }
  }
}
