// The stack end to end, with models built in code as in Core Data's tutorials.

import Cairn
import Foundation
import TestSupport
import Testing

@Suite struct TutorialTests {
  private let folder: TemporaryFolder

  init() throws { folder = try TemporaryFolder() }

  /// Departments have employees; a department's employees go with it, its building stays.
  private static func model(withEmail: Bool = false) -> ManagedObjectModel {
    let employee = EntityDescription(
      name: "Employee",
      properties: [
        AttributeDescription(name: "name", type: .string, isOptional: false),
        AttributeDescription(name: "salary", type: .integer64, defaultValue: 0),
      ])
    if withEmail { employee.properties += [AttributeDescription(name: "email", type: .string)] }
    let department = EntityDescription(
      name: "Department", properties: [AttributeDescription(name: "name", type: .string)])
    let building = EntityDescription(
      name: "Building", properties: [AttributeDescription(name: "street", type: .string)])

    func relate(
      _ name: String, _ source: EntityDescription, _ inverse: String,
      _ destination: EntityDescription, rule: DeleteRule
    ) {
      let toMany = RelationshipDescription()
      toMany.name = name
      toMany.destinationEntity = destination
      toMany.deleteRule = rule
      let toOne = RelationshipDescription()
      toOne.name = inverse
      toOne.destinationEntity = source
      toOne.maxCount = 1
      toOne.deleteRule = .nullify
      toMany.inverseRelationship = toOne
      toOne.inverseRelationship = toMany
      source.properties += [toMany]
      destination.properties += [toOne]
    }
    relate("employees", department, "department", employee, rule: .cascade)
    relate("departments", building, "building", department, rule: .deny)
    let model = ManagedObjectModel()
    model.entities = [employee, department, building]
    return model
  }

  private func container(
    type: String, file: String = "company.sqlite", model: ManagedObjectModel = model()
  ) throws -> PersistentContainer {
    let container = PersistentContainer(name: "Company", managedObjectModel: model)
    let description = PersistentStoreDescription(url: folder.fileURL(file))
    description.type = type
    container.persistentStoreDescriptions = [description]
    var problems: [any Error] = []
    container.loadPersistentStores { _, error in if let error { problems.append(error) } }
    if let problem = problems.first { throw problem }
    return container
  }

  private func insert(
    _ entity: String, _ values: [String: Any], _ context: ManagedObjectContext
  ) -> ManagedObject {
    let object = EntityDescription.insertNewObject(forEntityName: entity, into: context)
    for (key, value) in values { object.setValue(value, forKey: key) }
    return object
  }

  private func names(
    _ entity: String, _ context: ManagedObjectContext, _ predicate: ObjectPredicate? = nil
  ) throws -> [String] {
    let request = FetchRequest<ManagedObject>(entityName: entity)
    request.predicate = predicate
    request.sortDescriptors = [ObjectSortDescriptor(key: "name", ascending: true)]
    return try context.fetch(request).map { $0.value(forKey: "name") as? String ?? "nil" }
  }

  /// Two departments with three people.
  private func fill(_ container: PersistentContainer) throws {
    let context = container.newBackgroundContext()
    try context.performAndWait { () throws -> Void in
      let building = insert("Building", ["street": "Main"], context)
      let sales = insert("Department", ["name": "Sales", "building": building], context)
      let research = insert("Department", ["name": "Research", "building": building], context)
      for (name, salary, department) in [
        ("Ada", 3, research), ("Bob", 1, sales), ("Cid", 2, sales),
      ] {
        _ = insert(
          "Employee", ["name": name, "salary": salary, "department": department], context)
      }
      try context.save()
    }
  }

  @Test(arguments: ["SQLite", "InMemory"])
  func insertSaveFetch(type: String) throws {
    let container = try container(type: type)
    try fill(container)
    let context = container.newBackgroundContext()
    try context.performAndWait { () throws -> Void in
      #expect(try names("Employee", context) == ["Ada", "Bob", "Cid"])
      let rich = ObjectPredicate(format: "salary >= %d AND department.name BEGINSWITH %@", 2, "S")
      #expect(try names("Employee", context, rich) == ["Cid"])
      let big = ObjectPredicate(format: "employees.@count > 1 OR ANY employees.name = 'Zoe'")
      #expect(try names("Department", context, big) == ["Sales"])
    }
  }

  @Test(arguments: ["SQLite", "InMemory"])
  func relationshipsAreReadFromBothSides(type: String) throws {
    let container = try container(type: type)
    try fill(container)
    let context = container.newBackgroundContext()
    try context.performAndWait { () throws -> Void in
      let request = FetchRequest<ManagedObject>(entityName: "Department")
      request.predicate = ObjectPredicate(format: "name = 'Sales'")
      let sales = try #require(try context.fetch(request).first)
      let people = try #require(sales.value(forKey: "employees") as? Set<ManagedObject>)
      #expect(Set(people.compactMap { $0.value(forKey: "name") as? String }) == ["Bob", "Cid"])
      for person in people {
        #expect(person.value(forKey: "department") as? ManagedObject == sales)
      }
      let bob = try #require(people.first { $0.value(forKey: "name") as? String == "Bob" })
      bob.setValue(nil, forKey: "department")
      #expect((sales.value(forKey: "employees") as? Set<ManagedObject>)?.count == 1)
      try context.save()
    }
    let other = container.newBackgroundContext()
    try other.performAndWait { () throws -> Void in
      let alone = ObjectPredicate(format: "department = nil")
      #expect(try names("Employee", other, alone) == ["Bob"])
    }
  }

  @Test(arguments: ["SQLite", "InMemory"])
  func deleteRulesCascadeAndDeny(type: String) throws {
    let container = try container(type: type)
    try fill(container)
    let context = container.newBackgroundContext()
    try context.performAndWait { () throws -> Void in
      let building = try #require(
        try context.fetch(FetchRequest<ManagedObject>(entityName: "Building")).first)
      context.delete(building)
      do {
        try context.save()
        Issue.record("a denied delete was saved")
      } catch let error as CoreDataError {
        #expect(error.code == .validationRelationshipDeniedDelete)
      }
      context.rollback()
      let request = FetchRequest<ManagedObject>(entityName: "Department")
      request.predicate = ObjectPredicate(format: "name = 'Sales'")
      context.delete(try #require(try context.fetch(request).first))
      try context.save()
      #expect(try names("Employee", context) == ["Ada"])
    }
  }

  @Test func aStoreIsThereAfterReopening() throws {
    let first = try container(type: "SQLite")
    try fill(first)
    let uri = try first.newBackgroundContext().objectURI(named: "Ada")
    for store in first.persistentStoreCoordinator.persistentStores {
      try first.persistentStoreCoordinator.remove(store)
    }
    let second = try container(type: "SQLite")
    let context = second.newBackgroundContext()
    try context.performAndWait { () throws -> Void in
      #expect(try names("Employee", context) == ["Ada", "Bob", "Cid"])
      let id = try #require(
        second.persistentStoreCoordinator.managedObjectID(forURIRepresentation: uri))
      #expect(try context.existingObject(with: id).value(forKey: "name") as? String == "Ada")
    }
  }

  @Test func anAdditiveModelChangeMigratesOnLoading() throws {
    let first = try container(type: "SQLite")
    try fill(first)
    for store in first.persistentStoreCoordinator.persistentStores {
      try first.persistentStoreCoordinator.remove(store)
    }
    let second = try container(type: "SQLite", model: Self.model(withEmail: true))
    let context = second.newBackgroundContext()
    try context.performAndWait { () throws -> Void in
      #expect(try names("Employee", context) == ["Ada", "Bob", "Cid"])
      let ada = try #require(
        try context.fetch(FetchRequest<ManagedObject>(entityName: "Employee")).first)
      #expect(ada.value(forKey: "email") == nil)
      ada.setValue("ada@example.org", forKey: "email")
      try context.save()
    }
    for store in second.persistentStoreCoordinator.persistentStores {
      try second.persistentStoreCoordinator.remove(store)
    }
    // The older program must leave the newer store alone.
    do {
      _ = try container(type: "SQLite")
      Issue.record("a newer store was opened with an older model")
    } catch let error as CoreDataError {
      #expect(error.code == .migrationMissingSourceModel)
      #expect(error.message.contains("Employee.email"))
    }
  }

  @Test func twoStoresActAsOne() throws {
    let coordinator = PersistentStoreCoordinator(managedObjectModel: Self.model())
    let stores = try ["a", "b"].map {
      try coordinator.addPersistentStore(
        type: .sqlite, at: folder.fileURL("\($0).sqlite"))
    }
    let context = ManagedObjectContext(.privateQueue)
    context.persistentStoreCoordinator = coordinator
    try context.performAndWait { () throws -> Void in
      for (name, store) in [("Cid", stores[0]), ("Ada", stores[1]), ("Bob", stores[0])] {
        context.assign(insert("Employee", ["name": name], context), to: store)
      }
      try context.save()
      #expect(try names("Employee", context) == ["Ada", "Bob", "Cid"])
      let request = FetchRequest<ManagedObject>(entityName: "Employee")
      request.affectedStores = [stores[1]]
      #expect(try context.fetch(request).map { $0.value(forKey: "name") as? String } == ["Ada"])
      #expect(try context.count(for: FetchRequest<ManagedObject>(entityName: "Employee")) == 3)
    }
  }
}

extension ManagedObjectContext {
  /// The URI of the employee of a name.
  fileprivate func objectURI(named name: String) throws -> URL {
    try performAndWait {
      let request = FetchRequest<ManagedObject>(entityName: "Employee")
      request.predicate = ObjectPredicate(format: "name = %@", name)
      return try #require(try fetch(request).first).objectID.uriRepresentation()
    }
  }
}
