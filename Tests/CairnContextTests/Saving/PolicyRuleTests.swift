// Every kind of conflict under every merge policy (chapter 12).
import CairnModel
import CairnStore
import Foundation
import Testing

@testable import CairnContext

/// Chapter 12.1 and 12.2: optimistic locking and what each policy makes of a conflict.
@Suite struct PolicyRuleTests {
  static let types: [MergePolicyType] = [
    .errorMergePolicyType, .mergeByPropertyStoreTrumpMergePolicyType,
    .mergeByPropertyObjectTrumpMergePolicyType, .overwriteMergePolicyType,
    .rollbackMergePolicyType,
  ]

  /// How the other side gets at the row: through the same coordinator, or another on the file.
  enum Route: String, CaseIterable {
    case memory, sameCoordinator, otherCoordinator

    func stack() throws -> Stack { try Stack(in: self == .memory ? .memory : .sqlite) }
    func use(_ stack: Stack, _ body: (ManagedObjectContext) throws -> Void) throws {
      if self == .otherCoordinator { return try stack.useElsewhere(body) }
      try stack.use(body)
    }
  }

  /// A book, three authors and two tags; theirs changes are saved before mine.
  private struct Case {
    let stack: Stack
    let context: ManagedObjectContext
    let book: ManagedObject
    let authors: [ManagedObject]
    let tags: [ManagedObject]
  }

  /// Runs both sides' changes, saves, and hands over what came of it.
  private func collide(
    _ type: MergePolicyType, _ route: Route, mine: (Case) -> Void,
    theirs: (ManagedObjectContext, ManagedObject) throws -> Void,
    check: (Case, CoreDataError?) throws -> Void
  ) throws {
    let stack = try route.stack()
    try stack.use(policy: MergePolicy(merge: type)) { context in
      let authors = ["a", "b", "c"].map { context.make("Author", ["name": $0]) }
      let tags = ["x", "y"].map { context.make("Tag", ["label": $0]) }
      let book = context.make("Book", ["title": "old", "pages": 1, "author": authors[0]])
      try context.save()
      // Everything has been read, so that nothing newer is seen by accident.
      for author in authors { _ = author.many("books") }
      let now = Case(stack: stack, context: context, book: book, authors: authors, tags: tags)
      try route.use(stack) { other in
        try theirs(other, try #require(try other.all("Book").first))
        try other.save()
      }
      mine(now)
      var failure: (any Error)?
      do { try context.save() } catch { failure = error }
      try check(now, failure as? CoreDataError)
      // Whatever was decided: memory, inverses and the file agree.
      guard failure == nil else { return }
      #expect(!context.hasChanges)
      try agree(now)
    }
  }

  private func state(_ context: ManagedObjectContext) throws -> [String] {
    var lines: [String] = []
    for book in try context.all("Book") {
      let tags = book.many("tags").compactMap { $0.text("label") }.sorted()
      lines.append(
        "\(book.text("title") ?? "-") \(book.number("pages") ?? 0) "
          + "\(book.number("isRead") ?? 0) by \(book.one("author")?.text("name") ?? "-") \(tags)")
    }
    for author in try context.all("Author", sortedBy: "name") {
      lines.append(
        "\(author.text("name") ?? "") \(author.many("books").compactMap { $0.text("title") })")
    }
    for tag in try context.all("Tag", sortedBy: "label") {
      lines.append(
        "\(tag.text("label") ?? "") \(tag.many("works").compactMap { $0.text("title") })")
    }
    return lines
  }

  private func agree(_ now: Case) throws {
    let stored = try now.stack.use { try state($0) }
    for book in try now.context.all("Book") {
      if let author = book.one("author") { #expect(author.many("books").contains(book)) }
      for tag in book.many("tags") { #expect(tag.many("works").contains(book)) }
    }
    for author in now.authors where author.managedObjectContext != nil {
      for book in author.many("books") { #expect(book.one("author") === author) }
    }
    now.context.refreshAllObjects()
    let here = try state(now.context)
    #expect(here == stored)
  }

  // MARK: Both changed

  @Test(arguments: types, Route.allCases)
  func attributesGoPropertyByProperty(type: MergePolicyType, route: Route) throws {
    try collide(type, route) { now in
      now.book.setValue("mine", forKey: "title")
      now.book.setValue(2, forKey: "pages")
    } theirs: { _, book in
      book.setValue("theirs", forKey: "title")
      book.setValue(true, forKey: "isRead")
    } check: { now, error in
      let seen =
        "\(now.book.text("title") ?? "") \(now.book.number("pages") ?? 0) "
        + "\(now.book.number("isRead") ?? 0)"
      switch type {
      case .errorMergePolicyType:
        #expect(error?.code == .managedObjectMerge && seen == "mine 2 0")
        #expect((error?.userInfo["conflictList"] as? [MergeConflict])?.count == 1)
        #expect(now.context.updatedObjects == [now.book])
      case .mergeByPropertyStoreTrumpMergePolicyType: #expect(seen == "theirs 2 1")
      case .mergeByPropertyObjectTrumpMergePolicyType: #expect(seen == "mine 2 1")
      case .overwriteMergePolicyType: #expect(seen == "mine 2 0")
      case .rollbackMergePolicyType: #expect(seen == "theirs 1 1")
      }
    }
  }

  @Test(arguments: types, Route.allCases)
  func aToOneIsAPropertyAndItsOtherSideFollows(type: MergePolicyType, route: Route) throws {
    try collide(type, route) { now in
      now.book.setValue(now.authors[1], forKey: "author")
    } theirs: { other, book in
      let author: ManagedObject = try #require(try other.all("Author", "name == 'c'").first)
      book.setValue(author, forKey: "author")
    } check: { now, error in
      let name = now.book.one("author")?.text("name")
      switch type {
      case .errorMergePolicyType: #expect(error?.code == .managedObjectMerge && name == "b")
      case .mergeByPropertyStoreTrumpMergePolicyType, .rollbackMergePolicyType:
        #expect(name == "c")
        #expect(now.authors[0].many("books").isEmpty && now.authors[1].many("books").isEmpty)
        #expect(now.authors[2].many("books") == [now.book])
      case .mergeByPropertyObjectTrumpMergePolicyType, .overwriteMergePolicyType:
        #expect(name == "b")
        #expect(now.authors[0].many("books").isEmpty && now.authors[2].many("books").isEmpty)
        #expect(now.authors[1].many("books") == [now.book])
      }
    }
  }

  @Test(arguments: types.dropFirst(), Route.allCases)
  func additionsAndRemovalsOfBothSidesApplyUnlessMineAreDropped(
    type: MergePolicyType, route: Route
  ) throws {
    let stack = try route.stack()
    try stack.use(policy: MergePolicy(merge: type)) { context in
      let book = context.make("Book", ["title": "old"])
      let tags = ["a", "b", "c", "d"].map { context.make("Tag", ["label": $0]) }
      book.setValue(Set(tags[0...1]), forKey: "tags")
      try context.save()
      try route.use(stack) { other in
        let there = try other.all("Tag", sortedBy: "label")
        let same = try #require(try other.all("Book").first)
        same.setValue("theirs", forKey: "title")
        same.mutableSetValue(forKey: "tags").remove(there[0])
        same.mutableSetValue(forKey: "tags").add(there[2])
        try other.save()
      }
      book.mutableSetValue(forKey: "tags").remove(tags[1])
      book.mutableSetValue(forKey: "tags").add(tags[3])
      try context.save()
      let labels = book.many("tags").compactMap { $0.text("label") }.sorted()
      let expected = type == .rollbackMergePolicyType ? ["b", "c"] : ["c", "d"]
      #expect(labels == expected && !context.hasChanges)
      for tag in tags {
        #expect(tag.many("works") == (labels.contains(tag.text("label") ?? "") ? [book] : []))
      }
      let stored = try stack.use {
        try $0.all("Book").first?.many("tags").compactMap { $0.text("label") }.sorted()
      }
      #expect(stored == expected)
    }
  }

  // MARK: Deleted there

  @Test(arguments: types, Route.allCases)
  func changedHereAndDeletedThere(type: MergePolicyType, route: Route) throws {
    try collide(type, route) { now in
      now.book.setValue("mine", forKey: "title")
      now.book.mutableSetValue(forKey: "tags").add(now.tags[0])
    } theirs: { other, book in
      other.delete(book)
    } check: { now, error in
      switch type {
      case .errorMergePolicyType:
        let conflict = (error?.userInfo["conflictList"] as? [MergeConflict])?.first
        #expect(error?.code == .managedObjectMerge && conflict?.newVersionNumber == 0)
        #expect(conflict?.sourceObject === now.book || conflict?.sourceObject === now.tags[0])
      case .mergeByPropertyStoreTrumpMergePolicyType, .rollbackMergePolicyType:
        #expect(now.book.managedObjectContext == nil && now.tags[0].many("works").isEmpty)
        #expect(now.authors[0].many("books").isEmpty)
      case .mergeByPropertyObjectTrumpMergePolicyType, .overwriteMergePolicyType:
        #expect(now.book.text("title") == "mine" && !now.book.hasChanges)
        #expect(now.tags[0].many("works") == [now.book])
        #expect(now.authors[0].many("books") == [now.book])
      }
    }
  }

  @Test(arguments: types.dropFirst(), Route.allCases)
  func whatPointsToAnObjectThatWasDeletedThereDoesNotDangle(
    type: MergePolicyType, route: Route
  ) throws {
    try collide(type, route) { now in
      now.book.setValue(now.authors[1], forKey: "author")
    } theirs: { other, _ in
      for author in try other.all("Author", "name == 'b'") { other.delete(author) }
    } check: { now, error in
      #expect(error == nil)
      switch type {
      case .mergeByPropertyObjectTrumpMergePolicyType, .overwriteMergePolicyType:
        #expect(now.book.one("author") === now.authors[1] && !now.authors[1].isDeleted)
      case .mergeByPropertyStoreTrumpMergePolicyType, .rollbackMergePolicyType,
        .errorMergePolicyType:
        #expect(now.book.one("author") == nil && now.authors[1].managedObjectContext == nil)
      }
    }
  }

  // MARK: Deleted here

  @Test(arguments: types, Route.allCases)
  func deletedHereAndChangedThere(type: MergePolicyType, route: Route) throws {
    try collide(type, route) { now in
      now.context.delete(now.book)
    } theirs: { _, book in
      book.setValue("theirs", forKey: "title")
    } check: { now, error in
      switch type {
      case .errorMergePolicyType:
        #expect(error?.code == .managedObjectMerge && now.context.deletedObjects == [now.book])
      case .mergeByPropertyObjectTrumpMergePolicyType, .overwriteMergePolicyType:
        #expect(now.book.managedObjectContext == nil && now.authors[0].many("books").isEmpty)
      case .mergeByPropertyStoreTrumpMergePolicyType, .rollbackMergePolicyType:
        #expect(!now.book.isDeleted && now.book.text("title") == "theirs")
        #expect(now.authors[0].many("books") == [now.book])
      }
    }
  }

  @Test(arguments: types, Route.allCases)
  func deletedOnBothSidesIsNoConflict(type: MergePolicyType, route: Route) throws {
    try collide(type, route) { now in
      now.context.delete(now.book)
    } theirs: { other, book in
      other.delete(book)
    } check: { now, error in
      // Another program's deletion counts as a change of the row; only under the error policy it
      // has to be said.
      if type == .errorMergePolicyType {
        #expect(error?.code == .managedObjectMerge)
      } else {
        #expect(error == nil && now.book.managedObjectContext == nil)
      }
    }
  }

  // MARK: 12.1

  @Test func snapshotsHaveAttributesAndToOnesAsIDsButNoToManys() throws {
    try collide(.errorMergePolicyType, .sameCoordinator) { now in
      now.book.setValue("mine", forKey: "title")
    } theirs: { other, book in
      book.setValue(nil, forKey: "author")
    } check: { now, error in
      let list = try #require(error?.userInfo["conflictList"] as? [MergeConflict])
      let conflict = try #require(list.first { $0.sourceObject === now.book })
      #expect(conflict.objectSnapshot?["author"] as? ManagedObjectID == now.authors[0].objectID)
      #expect(conflict.cachedSnapshot?["author"] is NSNull)
      #expect(conflict.objectSnapshot?["title"] as? String == "old")
      #expect(conflict.objectSnapshot?["tags"] == nil && conflict.cachedSnapshot?["tags"] == nil)
      #expect(conflict.oldVersionNumber == 1 && conflict.newVersionNumber == 2)
    }
  }

  @Test(arguments: Route.allCases)
  func unchangedObjectsTakePartOnlyWhenAsked(route: Route) throws {
    let stack = try route.stack()
    try stack.use { context in
      let (watched, free) = (context.make("Author"), context.make("Author"))
      let changed = context.make("Book")
      try context.save()
      context.detectConflicts(for: watched)
      changed.setValue("x", forKey: "title")
      try context.save()
      // Only the save that follows is guarded.
      try route.use(stack) { other in
        for author in try other.all("Author") { author.setValue("theirs", forKey: "name") }
        try other.save()
      }
      changed.setValue("y", forKey: "title")
      try context.save()
      #expect(watched.text("name") == "Anonymous" && free.text("name") == "Anonymous")
      context.detectConflicts(for: watched)
      changed.setValue("z", forKey: "title")
      let error = #expect(throws: CoreDataError.self) { try context.save() }
      let list = error?.userInfo["conflictList"] as? [MergeConflict]
      #expect(list?.map(\.sourceObject) == [watched])
      context.stalenessInterval = 0
      context.refresh(watched, mergeChanges: true)
      try context.save()
      #expect(!context.hasChanges && watched.text("name") == "theirs")
    }
  }

  // MARK: After resolution

  @Test(arguments: types.dropFirst())
  func theStoredValuesAreTheCommittedOnesAfterwards(type: MergePolicyType) throws {
    try collide(type, .sameCoordinator) { now in
      now.book.setValue("mine", forKey: "title")
    } theirs: { _, book in
      book.setValue("theirs", forKey: "title")
    } check: { now, _ in
      let title = now.book.text("title")
      #expect(now.book.changedValues().isEmpty)
      #expect(now.book.committedValues(forKeys: ["title"])["title"] as? String == title)
      now.book.setValue("again", forKey: "title")
      try now.context.save()
      #expect(now.book.text("title") == "again")
    }
  }
}
