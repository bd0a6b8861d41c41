// Two contexts change one row: what each merge policy makes of it.
import CairnContext
import CairnModel
import CairnStore
import Testing

@Suite struct ConflictTests {
  /// One context changes title and pages, another one has saved title and price before.
  private func conflict(
    _ policy: MergePolicy,
    _ check: (ManagedObjectContext, ManagedObject, (any Error)?) throws -> Void
  ) throws {
    let stack = try Stack()
    let mine = stack.context(policy: policy)
    try mine.performAndWait {
      let book = mine.make("Book", ["title": "old", "pages": 1, "isRead": false])
      try mine.save()
      book.setValue("mine", forKey: "title")
      book.setValue(2, forKey: "pages")
      try stack.use { other in
        let same = try other.existingObject(with: book.objectID)
        same.setValue("theirs", forKey: "title")
        same.setValue(true, forKey: "isRead")
        try other.save()
      }
      var failure: (any Error)?
      do { try mine.save() } catch { failure = error }
      try check(mine, book, failure)
      guard failure == nil else { return }
      try stack.use { reader in
        let stored = try reader.existingObject(with: book.objectID)
        for key in ["title", "pages", "isRead"] {
          #expect("\(stored.value(forKey: key) ?? "")" == "\(book.value(forKey: key) ?? "")")
        }
      }
    }
  }

  @Test func theErrorPolicyThrowsTheConflictsAndKeepsTheChanges() throws {
    try conflict(.error) { context, book, error in
      let error = try #require(error as? CoreDataError)
      #expect(error.code == .managedObjectMerge)
      let list = error.userInfo["conflictList"] as? [MergeConflict]
      #expect(list?.first?.sourceObject === book)
      #expect(list?.first?.objectSnapshot?["title"] as? String == "old")
      #expect(list?.first?.cachedSnapshot?["title"] as? String == "theirs")
      #expect(context.hasChanges && book.text("title") == "mine")
    }
  }

  @Test func storeTrumpKeepsTheStoredValueWhereBothChanged() throws {
    try conflict(.mergeByPropertyStoreTrump) { context, book, error in
      #expect(error == nil && !context.hasChanges)
      #expect(book.text("title") == "theirs" && book.number("pages") == 2)
      #expect(book.number("isRead") == 1)
    }
  }

  @Test func objectTrumpKeepsTheLocalValueWhereBothChanged() throws {
    try conflict(.mergeByPropertyObjectTrump) { _, book, error in
      #expect(error == nil)
      #expect(book.text("title") == "mine" && book.number("pages") == 2)
      #expect(book.number("isRead") == 1)
    }
  }

  @Test func overwriteWritesAllLocalValues() throws {
    try conflict(.overwrite) { _, book, error in
      #expect(error == nil)
      #expect(book.text("title") == "mine" && book.number("isRead") == 0)
    }
  }

  @Test func rollbackDropsTheLocalChanges() throws {
    try conflict(.rollback) { context, book, error in
      #expect(error == nil && !context.hasChanges)
      #expect(book.text("title") == "theirs" && book.number("pages") == 1)
    }
  }

  /// One context changes a row that another one has deleted.
  private func changeOfDeleted(_ policy: MergePolicy) throws -> (
    stored: [ManagedObjectID], isGone: Bool
  ) {
    let stack = try Stack()
    let mine = stack.context(policy: policy)
    return try mine.performAndWait {
      let book = mine.make("Book", ["title": "old"])
      try mine.save()
      book.setValue("mine", forKey: "title")
      try stack.use { other in
        other.delete(try other.existingObject(with: book.objectID))
        try other.save()
      }
      try mine.save()
      let stored = try stack.use { try $0.all("Book").map(\.objectID) }
      return (stored, book.managedObjectContext == nil)
    }
  }

  @Test func aDeletedRowStaysDeletedWhenTheStoreWins() throws {
    let result = try changeOfDeleted(.mergeByPropertyStoreTrump)
    #expect(result.stored.isEmpty && result.isGone)
  }

  @Test func aDeletedRowComesBackWhenTheObjectWins() throws {
    let result = try changeOfDeleted(.mergeByPropertyObjectTrump)
    #expect(result.stored.count == 1 && !result.isGone)
  }

  @Test func detectConflictsGuardsAnUnchangedObject() throws {
    let stack = try Stack()
    let mine = stack.context()
    try mine.performAndWait {
      let guarded = mine.make("Author")
      let changed = mine.make("Author")
      try mine.save()
      mine.detectConflicts(for: guarded)
      changed.setValue("x", forKey: "name")
      try stack.use { other in
        try other.existingObject(with: guarded.objectID).setValue("y", forKey: "name")
        try other.save()
      }
      #expect(throws: CoreDataError.self) { try mine.save() }
    }
  }

  /// Two objects with the same unique label, the second in another context.
  private func duplicate(_ policy: MergePolicy) throws -> (labels: [String], works: Int, code: Int?)
  {
    let stack = try Stack()
    try stack.use { context in
      context.make("Tag", ["label": "x"])
      try context.save()
    }
    var code: Int?
    try stack.use(policy: policy) { context in
      let tag = context.make("Tag", ["label": "x"])
      tag.mutableSetValue(forKey: "works").add(context.make("Book"))
      do { try context.save() } catch { code = (error as? CoreDataError)?.code.rawValue }
    }
    return try stack.use { context in
      let tags = try context.all("Tag")
      return (tags.compactMap { $0.text("label") }, tags.first?.many("works").count ?? 0, code)
    }
  }

  @Test func aViolatedConstraintIsAnErrorUnderTheErrorPolicy() throws {
    let result = try duplicate(.error)
    #expect(result.labels == ["x"] && result.works == 0 && result.code == 133021)
  }

  @Test(arguments: [
    MergePolicy.mergeByPropertyObjectTrump, .mergeByPropertyStoreTrump, .overwrite, .rollback,
  ])
  func theStoredObjectSurvivesADuplicateAndTakesOverWhatPointedToIt(policy: MergePolicy) throws {
    let result = try duplicate(policy)
    #expect(result.labels == ["x"] && result.works == 1 && result.code == nil)
  }
}
