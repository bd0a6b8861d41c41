// Classes that override the announcements of reads and changes hear of them.

@_spi(Generated) import CairnStack
import CoreData
import Testing

/// Chapter 5 of the specification: accessors and key-value access announce what they do.
@Suite struct ChangeAnnouncementTests {
  @Test func settingByKeyGoesThroughTheOverriddenAnnouncements() throws {
    try Company.use { context in
      let clerk = try Company.clerk("Ada", in: context)
      try context.save()
      _ = clerk.takeCalls()
      clerk.listens = true
      clerk.setValue("Bea", forKey: "name")
      #expect(clerk.takeCalls() == ["will name Ada", "did name Bea"])
      #expect(clerk.changedValues().count == 1 && clerk.value(forKey: "name") as? String == "Bea")
    }
  }

  @Test func generatedAccessorsGoThroughTheOverriddenAnnouncements() throws {
    try Company.use { context in
      let clerk = try Company.clerk("Ada", in: context)
      try context.save()
      _ = clerk.takeCalls()
      clerk.listens = true
      // What the accessors behind `@NSManaged` call.
      clerk.setManagedValue("Bea" as String?, "name")
      clerk.setManagedValue(Int32(40), "age")
      #expect(clerk.takeCalls() == ["will name Ada", "did name Bea", "will age 20", "did age 40"])
      let age: Int32 = clerk.managedValue("age")
      #expect(age == 40)
      #expect(clerk.takeCalls() == ["willAccess age", "didAccess age"])
    }
  }

  @Test func aRelationshipIsAnnouncedOnceAndItsInverseFollows() throws {
    try Company.use { context in
      let clerk = try Company.clerk("Ada", in: context)
      let office = Office(context: context)
      try context.save()
      _ = clerk.takeCalls()
      clerk.listens = true
      clerk.setValue(office, forKey: "office")
      let calls = clerk.takeCalls()
      #expect(calls.count == 2 && calls[0] == "will office nil")
      #expect(calls[1].hasPrefix("did office <"))
      #expect((office.value(forKey: "clerks") as? Set<Clerk>) == [clerk])
    }
  }

  @Test func changesOfASetTellTheirKindAndMembers() throws {
    try Company.use { context in
      let office = Office(context: context)
      let ada = try Company.clerk("Ada", in: context)
      let bea = try Company.clerk("Bea", in: context)
      let clerks = office.mutableSetValue(forKey: "clerks")
      clerks.add(ada)
      clerks.remove(ada)
      clerks.setSet([ada, bea])
      let union = NSKeyValueSetMutationKind.union.rawValue
      let minus = NSKeyValueSetMutationKind.minus.rawValue
      let set = NSKeyValueSetMutationKind.set.rawValue
      #expect((union, minus, set) == (1, 2, 4))
      #expect(
        office.mutations == [
          "will clerks 1 1", "did clerks 1 1", "will clerks 2 1", "did clerks 2 1",
          "will clerks 4 2", "did clerks 4 2",
        ])
      #expect(ada.value(forKey: "office") as? Office === office)
    }
  }

  @Test func anAnnouncementMayChangeOtherProperties() throws {
    try Company.use { context in
      let clerk = try Company.clerk("Ada", age: 1, in: context)
      try context.save()
      clerk.reaction = { [unowned clerk] key in
        if key == "name" { clerk.setValue(99, forKey: "age") }
        // A custom accessor, within the announcement of another change.
        if key == "age" {
          clerk.willChangeValue(forKey: "tags")
          clerk.setPrimitiveValue(["x"] as NSArray, forKey: "tags")
          clerk.didChangeValue(forKey: "tags")
        }
      }
      clerk.setValue("Bea", forKey: "name")
      #expect(Set(clerk.changedValues().keys) == ["name", "age", "tags"])
      try context.save()
      context.refresh(clerk, mergeChanges: false)
      #expect(clerk.value(forKey: "age") as? Int == 99)
      #expect(clerk.value(forKey: "tags") as? [String] == ["x"])
    }
  }

  @Test func undoTakesAnAnnouncedChangeBackOnce() throws {
    try Company.use { context in
      let clerk = try Company.clerk("Ada", in: context)
      try context.save()
      let manager = UndoManager()
      context.undoManager = manager
      clerk.setValue("Bea", forKey: "name")
      context.processPendingChanges()
      context.undo()
      #expect(clerk.value(forKey: "name") as? String == "Ada")
      #expect(!clerk.hasPersistentChangedValues)
    }
  }
}
