// What merge policies are told and may do (chapter 12).
import CairnContext
import CairnModel
import CairnStore
import Foundation
import Testing

/// Chapter 12: conflicts and merge policies.
@Suite struct MergePolicyTests {
  /// A policy of the program's own: keeps what it was asked, and adds the pages of both sides.
  private final class Adding: MergePolicy, @unchecked Sendable {
    var conflicts: [MergeConflict] = []
    var constraints: [ConstraintConflict] = []
    var entries = 0

    override func resolve(mergeConflicts list: [Any]) throws {
      entries += 1
      try super.resolve(mergeConflicts: list)
    }

    override func resolve(optimisticLockingConflicts list: [MergeConflict]) throws {
      conflicts += list
      for conflict in list {
        let newer = conflict.persistedSnapshot ?? conflict.cachedSnapshot
        let (mine, theirs) = (conflict.sourceObject.number("pages"), newer?["pages"] as? NSNumber)
        conflict.sourceObject.setValue((mine ?? 0) + (theirs?.intValue ?? 0), forKey: "pages")
      }
      try super.resolve(optimisticLockingConflicts: list)
    }

    override func resolve(constraintConflicts list: [ConstraintConflict]) throws {
      constraints += list
      try super.resolve(constraintConflicts: list)
    }
  }

  private struct Refusal: Error {}

  private final class Refusing: MergePolicy, @unchecked Sendable {
    override func resolve(optimisticLockingConflicts list: [MergeConflict]) throws {
      throw Refusal()
    }
  }

  /// Changes `pages` of one book from 1, to 10 in another context and to 2 in the one given.
  ///
  /// With `elsewhere` the other context has a coordinator of its own on the same file.
  private func conflict(
    _ policy: MergePolicy, elsewhere: Bool = false, isDeleted: Bool = false,
    _ check: (ManagedObjectContext, ManagedObject, (any Error)?) throws -> Void
  ) throws {
    let stack = try Stack(in: .sqlite)
    try stack.use(policy: policy) { context in
      let book = context.make("Book", ["title": "t", "pages": 1])
      try context.save()
      let change: (ManagedObjectContext) throws -> Void = { other in
        let same = try #require(try other.all("Book").first)
        if isDeleted { other.delete(same) } else { same.setValue(10, forKey: "pages") }
        try other.save()
      }
      if elsewhere { try stack.useElsewhere(change) } else { try stack.use(change) }
      book.setValue(2, forKey: "pages")
      var failure: (any Error)?
      do { try context.save() } catch { failure = error }
      try check(context, book, failure)
    }
  }

  @Test func aConflictWithTheCoordinatorHasNoPersistedSnapshot() throws {
    let policy = Adding(merge: .mergeByPropertyObjectTrumpMergePolicyType)
    try conflict(policy) { _, book, error in
      #expect(error == nil)
      let conflict = try #require(policy.conflicts.first)
      #expect(conflict.sourceObject === book && conflict.persistedSnapshot == nil)
      #expect((conflict.objectSnapshot?["pages"] as? NSNumber)?.intValue == 1)
      #expect((conflict.cachedSnapshot?["pages"] as? NSNumber)?.intValue == 10)
      #expect(conflict.oldVersionNumber == 1 && conflict.newVersionNumber == 2)
      #expect(conflict.cachedSnapshot?["tags"] == nil)
    }
  }

  @Test func aConflictWithTheStoreHasWhatTheCoordinatorBelievedAndWhatIsStored() throws {
    let policy = Adding(merge: .mergeByPropertyObjectTrumpMergePolicyType)
    try conflict(policy, elsewhere: true) { _, _, error in
      #expect(error == nil)
      let conflict = try #require(policy.conflicts.first)
      #expect(conflict.objectSnapshot == nil)
      #expect((conflict.cachedSnapshot?["pages"] as? NSNumber)?.intValue == 1)
      #expect((conflict.persistedSnapshot?["pages"] as? NSNumber)?.intValue == 10)
    }
  }

  @Test func aDeletedRowHasTheNewVersionZero() throws {
    let policy = Adding(merge: .mergeByPropertyStoreTrumpMergePolicyType)
    try conflict(policy, isDeleted: true) { _, book, error in
      #expect(error == nil && policy.conflicts.first?.newVersionNumber == 0)
      #expect(policy.conflicts.first?.cachedSnapshot == nil)
      #expect(book.managedObjectContext == nil)
    }
  }

  @Test func aPolicyOfTheProgramsOwnDecidesTheValues() throws {
    let policy = Adding(merge: .mergeByPropertyObjectTrumpMergePolicyType)
    try conflict(policy) { context, book, error in
      #expect(error == nil && policy.entries == 1 && book.number("pages") == 12)
      try Library.reading(context) { reader in
        let pages = try reader.all("Book").first?.number("pages")
        #expect(pages == 12)
      }
    }
  }

  @Test func whatAPolicyThrowsTheSaveThrows() throws {
    try conflict(Refusing(merge: .overwriteMergePolicyType)) { context, book, error in
      #expect(error is Refusal && context.hasChanges && book.number("pages") == 2)
    }
  }

  @Test func resolvedObjectsAreTold() throws {
    let stack = try Stack()
    try stack.use(policy: .mergeByPropertyObjectTrump) { context in
      let author = try #require(context.make("Author") as? Author)
      try context.save()
      try stack.use { other in
        try other.all("Author").first?.setValue("theirs", forKey: "name")
        try other.save()
      }
      author.setValue("mine", forKey: "name")
      try context.save()
      #expect(author.calls.contains("awakeFromSnapshotEvents 64"))
    }
  }

  @Test func constraintConflictsSayWhatCollides() throws {
    let policy = Adding(merge: .mergeByPropertyStoreTrumpMergePolicyType)
    let stack = try Stack(in: .sqlite)
    try stack.use { context in
      context.make("Tag", ["label": "x"])
      try context.save()
    }
    try stack.use(policy: policy) { context in
      let tag = context.make("Tag", ["label": "x"])
      try context.save()
      let conflict = try #require(policy.constraints.first)
      #expect(conflict.constraint == ["label"])
      #expect(conflict.constraintValues["label"] as? String == "x")
      #expect(conflict.conflictingObjects == [tag])
      #expect(conflict.databaseObject != nil && conflict.databaseObject !== tag)
      #expect(conflict.databaseSnapshot?["label"] as? String == "x")
    }
  }

  @Test func twoNewObjectsThatCollideHaveNoDatabaseObject() throws {
    let policy = Adding(merge: .mergeByPropertyObjectTrumpMergePolicyType)
    let stack = try Stack(in: .sqlite)
    try stack.use(policy: policy) { context in
      context.make("Tag", ["label": "x"])
      context.make("Tag", ["label": "x"])
      try context.save()
      #expect(policy.constraints.first?.databaseObject == nil)
      #expect(policy.constraints.first?.conflictingObjects.count == 2)
      let count = try context.all("Tag").count
      #expect(count == 1)
    }
  }

  @Test(arguments: [MergePolicy.mergeByPropertyObjectTrump, .overwrite])
  func aDeletionPrevailsWhenTheObjectWins(policy: MergePolicy) throws {
    let count = try deleteWhatWasChanged(policy)
    #expect(count == 0)
  }

  @Test(arguments: [MergePolicy.mergeByPropertyStoreTrump, .rollback])
  func aDeletionIsTakenBackWhenTheStoreWins(policy: MergePolicy) throws {
    let count = try deleteWhatWasChanged(policy)
    #expect(count == 1)
  }

  /// - Returns: How many books are stored afterwards.
  private func deleteWhatWasChanged(_ policy: MergePolicy) throws -> Int {
    let stack = try Stack(in: .sqlite)
    try stack.use(policy: policy) { context in
      let book = context.make("Book", ["title": "t"])
      try context.save()
      try stack.use { other in
        try other.all("Book").first?.setValue("theirs", forKey: "title")
        try other.save()
      }
      context.delete(book)
      try context.save()
      #expect(!context.hasChanges)
    }
    return try stack.use { try $0.all("Book").count }
  }

  @Test func additionsOfBothSidesToARelationshipAreKept() throws {
    let stack = try Stack(in: .sqlite)
    try stack.use(policy: .mergeByPropertyObjectTrump) { context in
      let book = context.make("Book", ["title": "t"])
      try context.save()
      try stack.use { other in
        let same = try #require(try other.all("Book").first)
        same.mutableSetValue(forKey: "tags").add(other.make("Tag", ["label": "theirs"]))
        try other.save()
      }
      book.mutableSetValue(forKey: "tags").add(context.make("Tag", ["label": "mine"]))
      book.setValue("changed", forKey: "title")
      try context.save()
    }
    let labels = try stack.use { context in
      Set(try context.all("Book").first?.many("tags").compactMap { $0.text("label") } ?? [])
    }
    #expect(labels == ["mine", "theirs"])
  }

  @Test func theStandardPoliciesAreSharedAndKnowTheirTypes() {
    #expect(MergePolicy.error === MergePolicy.error)
    #expect(NSErrorMergePolicy.mergeType == .errorMergePolicyType)
    #expect(NSMergeByPropertyStoreTrumpMergePolicy.mergeType.rawValue == 1)
    #expect(NSMergeByPropertyObjectTrumpMergePolicy.mergeType.rawValue == 2)
    #expect(NSOverwriteMergePolicy.mergeType.rawValue == 3)
    #expect(NSRollbackMergePolicy.mergeType.rawValue == 4)
    let context = ManagedObjectContext(.privateQueue)
    #expect((context.mergePolicy as? MergePolicy) === MergePolicy.error)
    context.mergePolicy = NSOverwriteMergePolicy as AnyObject
    #expect((context.mergePolicy as? MergePolicy) === MergePolicy.overwrite)
  }

  @Test func resolvingIsNoStepOfUndo() throws {
    let stack = try Stack(in: .sqlite)
    try stack.use(policy: .mergeByPropertyObjectTrump) { context in
      context.undoManager = UndoManager()
      context.make("Tag", ["label": "x"])
      context.make("Tag", ["label": "x"])
      context.processPendingChanges()
      context.undoManager?.endUndoGrouping()
      try context.save()
      #expect(context.undoManager?.undoCount == 1 && context.undoManager?.groupingLevel == 0)
    }
  }
}
