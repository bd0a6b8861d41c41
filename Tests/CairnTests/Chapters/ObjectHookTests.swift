// What managed objects call in classes of a program.

import CoreData
import Testing

extension NSManagedObject {
  /// As many programs have one.
  fileprivate convenience init(named name: String, in context: NSManagedObjectContext) {
    self.init(context: context)
    setValue(name, forKey: "name")
  }
}

/// A class whose own properties count as changes.
final class Diary: NSManagedObject {
  override class var contextShouldIgnoreUnmodeledPropertyChanges: Bool { false }
  var mood = "" {
    willSet { willChangeValue(forKey: "mood") }
    didSet { didChangeValue(forKey: "mood") }
  }
}

/// Chapters 4, 5 and II.3 of the specification.
@Suite struct ObjectHookTests {
  @Test func theHooksOfALifeAreCalledInOrder() throws {
    try Company.use { context in
      let clerk = try Company.clerk("Ada", in: context)
      #expect(clerk.takeCalls() == ["awakeFromInsert 20"])
      try context.save()
      #expect(clerk.takeCalls() == ["willSave", "didSave"])
      context.refresh(clerk, mergeChanges: false)
      #expect(clerk.takeCalls() == ["willTurnIntoFault", "didTurnIntoFault"])
      #expect(clerk.isFault && clerk.faultingState != 0)
      #expect(clerk.value(forKey: "name") as? String == "Ada")
      #expect(clerk.takeCalls() == ["awakeFromFetch"])
      #expect(!clerk.isFault && clerk.faultingState == 0)
      context.delete(clerk)
      #expect(clerk.takeCalls() == ["prepareForDeletion"])
      try context.save()
      #expect(clerk.takeCalls() == ["willSave", "didSave"])
      #expect(clerk.managedObjectContext == nil)
    }
  }

  @Test func eventsThatChangeManyValuesSayWhichTheyWere() throws {
    // Raw values of Apple's.
    #expect(NSSnapshotEventType(rawValue: 2) == .undoInsertion)
    #expect(NSSnapshotEventType(rawValue: 4) == .undoDeletion)
    #expect(NSSnapshotEventType(rawValue: 8) == .undoUpdate)
    #expect(NSSnapshotEventType(rawValue: 16) == .rollback)
    #expect(NSSnapshotEventType(rawValue: 32) == .refresh)
    #expect(NSSnapshotEventType(rawValue: 64) == .mergePolicy)
    try Company.use { context in
      let manager = UndoManager()
      manager.groupsByEvent = false
      func asOneStep(_ body: () throws -> Void) rethrows {
        manager.beginUndoGrouping()
        try body()
        context.processPendingChanges()
        manager.endUndoGrouping()
      }
      let clerk = try Company.clerk("Ada", in: context)
      try context.save()
      context.undoManager = manager
      func events(_ body: () -> Void) -> NSSnapshotEventType {
        clerk.events = []
        body()
        return clerk.events
      }
      asOneStep { clerk.setValue(30, forKey: "age") }
      #expect(events { context.undo() }.contains(.undoUpdate))
      asOneStep { context.delete(clerk) }
      #expect(events { context.undo() }.contains(.undoDeletion))
      clerk.setValue(31, forKey: "age")
      #expect(events { context.rollback() }.contains(.rollback))
      clerk.setValue(32, forKey: "age")
      #expect(events { context.refresh(clerk, mergeChanges: true) }.contains(.refresh))
      context.undoManager = nil
      #expect(clerk.value(forKey: "age") as? Int == 32)
    }
  }

  @Test func aClassMayRefuseASaveForReasonsOfItsOwn() throws {
    try Company.use { context in
      let boss = try Company.clerk("Boss", in: context)
      try context.save()
      boss.setValue(0, forKey: "age")
      #expect(Company.error { try context.save() }?.code == 4)
      #expect(Company.error { try boss.validateForUpdate() }?.code == 4)
      boss.setValue(1, forKey: "age")
      context.delete(boss)
      let refused = Company.error { try context.save() }
      #expect(refused?.domain == "Company" && refused?.code == 3)
      #expect(Company.error { try boss.validateForDelete() }?.code == 3)
      context.rollback()
      #expect(!boss.isDeleted && boss.managedObjectContext === context)
    }
  }

  @Test func aClassKnowsItsEntityAndItsRequest() throws {
    try Company.use { context in
      let clerk = Clerk(context: context)
      #expect(clerk.entity.name == "Clerk" && Clerk.entity().name == "Clerk")
      let request: NSFetchRequest<NSFetchRequestResult> = Clerk.fetchRequest()
      #expect(request.entityName == "Clerk" && request.predicate == nil)
      request.predicate = NSPredicate(format: "name == %@", "Nobody")
      let found = try context.fetch(request).first as? Clerk
      #expect(found === clerk)
    }
  }

  /// As generic helpers of many programs do.
  private func make<T: NSManagedObject>(
    _ type: T.Type, in context: NSManagedObjectContext
  ) -> T {
    T(context: context)
  }

  @Test func genericCodeMakesObjectsOfTheTypeItIsAskedFor() throws {
    try Company.use { context in
      let clerk: Clerk = make(Clerk.self, in: context)
      #expect(clerk.entity.name == "Clerk" && clerk.isInserted)
      let types: [NSManagedObject.Type] = [Office.self, Clerk.self]
      let names = types.map { $0.init(context: context).entity.name }
      #expect(names == ["Office", "Clerk"])
      #expect(Clerk(named: "Cem", in: context).entity.name == "Clerk")
      try context.save()
    }
  }

  @Test func objectIDsAreKeysOfDictionaries() throws {
    try Company.use { context in
      let clerk = try Company.clerk("Ada", in: context)
      #expect(clerk.objectID.isTemporaryID)
      try context.save()
      let id: NSManagedObjectID = clerk.objectID
      let copy = try #require(id.copy() as? NSManagedObjectID)
      #expect(copy == id && [id: "Ada"][copy] == "Ada")
      #expect(!id.isTemporaryID && id.entity.name == "Clerk")
      #expect(
        context.persistentStoreCoordinator?.managedObjectID(
          forURIRepresentation: id.uriRepresentation()) == id)
    }
  }

  @Test func propertiesThatAreNotInTheModelCountWhenTheClassSaysSo() throws {
    #expect(NSManagedObject.contextShouldIgnoreUnmodeledPropertyChanges)
    let entity = NSEntityDescription()
    entity.name = "Diary"
    entity.managedObjectClassName = NSStringFromClass(Diary.self)
    entity.properties = [Company.attribute("page", .stringAttributeType)]
    let model = NSManagedObjectModel()
    model.entities = [entity]
    let context = Company.context(try Company.coordinator(model: model))
    try context.performAndWait { () throws -> Void in
      let diary = Diary(entity: entity, insertInto: context)
      let ignoring = Company.context(try Company.coordinator())
      try context.save()
      #expect(!diary.hasChanges)
      diary.mood = "good"
      #expect(diary.hasChanges && !diary.hasPersistentChangedValues)
      try ignoring.performAndWait { () throws -> Void in
        let clerk = try Company.clerk("Ada", in: ignoring)
        try ignoring.save()
        clerk.willChangeValue(forKey: "mood")
        clerk.didChangeValue(forKey: "mood")
        #expect(!clerk.hasChanges)
      }
    }
  }
}
