// Faults without rows, entities by name, transformable values: what contexts answer.

@_spi(Generated) import CairnStack
import CoreData
import Testing

/// Chapters 3.3, 3.5, 6 and II.4 of the specification.
@Suite struct FaultAndEntityTests {
  /// A context that notes which property met a row that has gone.
  private final class Watching: NSManagedObjectContext, @unchecked Sendable {
    var asked: [String] = []
    override func shouldHandleInaccessibleFault(
      _ fault: NSManagedObject, for oid: NSManagedObjectID,
      triggeredByProperty property: NSPropertyDescription?
    ) -> Bool {
      asked.append("\(oid.entity.name ?? "") \(property?.name ?? "nil")")
      return super.shouldHandleInaccessibleFault(fault, for: oid, triggeredByProperty: property)
    }
  }

  /// Faults whose rows another program deletes.
  private func orphans(_ count: Int) throws -> (Watching, [NSManagedObjectID]) {
    let coordinator = try Company.coordinator()
    let writer = Company.context(coordinator)
    let ids = try writer.performAndWait { () throws -> [NSManagedObjectID] in
      let clerks = try (0..<count).map { try Company.clerk("Ada \($0)", in: writer) }
      try writer.save()
      return clerks.map(\.objectID)
    }
    let reader = Watching(concurrencyType: .privateQueueConcurrencyType)
    reader.persistentStoreCoordinator = coordinator
    reader.performAndWait { () -> Void in
      reader.retainsRegisteredObjects = true
      for id in ids { _ = reader.object(with: id) }
    }
    try writer.performAndWait { () throws -> Void in
      for id in ids { writer.delete(writer.object(with: id)) }
      try writer.save()
    }
    return (reader, ids)
  }

  @Test func aFaultWithoutRowTellsThePropertyThatWasRead() throws {
    let (context, ids) = try orphans(4)
    #expect(context.shouldDeleteInaccessibleFaults)
    context.performAndWait { () -> Void in
      #expect(context.object(with: ids[0]).value(forKey: "age") == nil)
      #expect(context.object(with: ids[0]).isDeleted)
      context.object(with: ids[1]).setValue("x", forKey: "name")
      context.object(with: ids[2]).willAccessValue(forKey: nil)
      _ = context.object(with: ids[3]).value(forKey: "office")
      #expect(
        context.asked == ["Clerk age", "Clerk name", "Clerk nil", "Clerk office"])
    }
  }

  @Test func entitiesAreFoundThroughTheParent() throws {
    let context = Company.context(try Company.coordinator())
    let child = NSManagedObjectContext(concurrencyType: .privateQueueConcurrencyType)
    child.parent = context
    let grandchild = NSManagedObjectContext(concurrencyType: .privateQueueConcurrencyType)
    grandchild.parent = child
    let found = NSEntityDescription.entity(forEntityName: "Clerk", in: grandchild)
    #expect(found?.name == "Clerk")
    #expect(found === NSEntityDescription.entity(forEntityName: "Clerk", in: context))
    #expect(NSEntityDescription.entity(forEntityName: "Nobody", in: grandchild) == nil)
    grandchild.performAndWait { () -> Void in
      let made = NSEntityDescription.insertNewObject(forEntityName: "Clerk", into: grandchild)
      #expect(made.entity === found && made is Clerk)
    }
  }

  @Test func aContextWithoutCoordinatorFindsNoEntityAndSaysSo() async {
    await #expect(processExitsWith: .failure) {
      let context = NSManagedObjectContext(concurrencyType: .privateQueueConcurrencyType)
      _ = NSEntityDescription.entity(forEntityName: "Clerk", in: context)
    }
  }

  @Test func anUnknownEntityCannotBeInserted() async {
    await #expect(processExitsWith: .failure) {
      let context = Company.context(try Company.coordinator())
      context.performAndWait { () -> Void in
        _ = NSEntityDescription.insertNewObject(forEntityName: "Nobody", into: context)
      }
    }
  }

  @Test func aTransformableValueIsTheSameObjectUntilItIsRefreshed() throws {
    try Company.use { context in
      let clerk = try Company.clerk("Ada", in: context)
      let tags = NSMutableArray(array: ["a", "b"])
      clerk.setValue(tags, forKey: "tags")
      #expect(clerk.value(forKey: "tags") as AnyObject === tags)
      try context.save()
      #expect(clerk.value(forKey: "tags") as AnyObject === tags)

      context.refresh(clerk, mergeChanges: false)
      let first = clerk.value(forKey: "tags") as? NSArray
      #expect(first == ["a", "b"] && first !== tags)
      #expect(clerk.value(forKey: "tags") as AnyObject === first)
      #expect(clerk.primitiveValue(forKey: "tags") as AnyObject === first)
      #expect(!clerk.hasChanges)

      clerk.setValue(nil, forKey: "tags")
      #expect(clerk.value(forKey: "tags") == nil)
      context.rollback()
      #expect(clerk.value(forKey: "tags") as? [String] == ["a", "b"])
    }
  }

  @Test func collectionsOfObjectsAreCastAsAtApple() throws {
    try Company.use { context in
      let office = Office(context: context)
      let ada = try Company.clerk("Ada", in: context)
      let bea = try Company.clerk("Bea", in: context)
      office.mutableSetValue(forKey: "clerks").addObjects(from: [ada, bea])
      #expect(office.value(forKey: "clerks") as? Set<Clerk> == [ada, bea])
      #expect(office.value(forKey: "clerks") as? Set<NSManagedObject> == [ada, bea])
      let plain: NSSet? = office.managedValue("clerks")
      #expect(plain as? Set<Clerk> == [ada, bea])
      #expect(Set(plain?.allObjects as? [Clerk] ?? []) == [ada, bea])
      let proxy: NSMutableSet = office.mutableSetValue(forKey: "clerks")
      #expect(Set(proxy.allObjects as? [Clerk] ?? []) == [ada, bea])
      #expect(Set(proxy.compactMap { $0 as? Clerk }) == [ada, bea])
      #expect(proxy.copy() as? Set<Clerk> == [ada, bea])
      #expect(proxy.contains(ada) && (proxy.anyObject() as? Clerk) != nil)
    }
  }
}
