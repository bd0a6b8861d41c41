// Parent and child changed the same object: every merge policy (chapter 14).
import CairnModel
import CairnStore
import Foundation
import Testing

@testable import CairnContext

/// Chapter 14: a child compares with the parent's state, and its own policy decides.
@Suite struct TreeConflictTests {
  private struct Case {
    let root: ManagedObjectContext
    let leaf: ManagedObjectContext
    let above: Kept
    let book: ManagedObject
    let error: CoreDataError?
  }

  private func collide(
    _ type: MergePolicyType, above change: (ManagedObject) -> Void,
    below: (ManagedObject) -> Void, check: (Case) throws -> Void
  ) throws {
    let root = try Stack().context()
    let leaf = ManagedObjectContext(.privateQueue)
    leaf.parent = root
    leaf.mergePolicy = MergePolicy(merge: type)
    let above = try root.performAndWait {
      let authors = ["a", "b", "c"].map { root.make("Author", ["name": $0]) }
      let book = root.make("Book", ["title": "old", "pages": 1, "author": authors[0]])
      try root.save()
      return Kept(object: book)
    }
    try leaf.performAndWait {
      let book = try leaf.existingObject(with: above.object.objectID)
      for author in try leaf.all("Author") { _ = author.many("books") }
      root.performAndWait { change(above.object) }
      below(book)
      var failure: (any Error)?
      do { try leaf.save() } catch { failure = error }
      try check(
        Case(root: root, leaf: leaf, above: above, book: book, error: failure as? CoreDataError))
      guard failure == nil else { return }
      #expect(!leaf.hasChanges)
      let here = try state(leaf)
      let there = try root.performAndWait { try state(root) }
      #expect(here == there)
    }
    try root.performAndWait { try root.save() }
  }

  private func state(_ context: ManagedObjectContext) throws -> [String] {
    let books = try context.all("Book").map {
      "\($0.text("title") ?? "") \($0.number("pages") ?? 0) \($0.one("author")?.text("name") ?? "")"
    }
    let authors = try context.all("Author", sortedBy: "name").map { author in
      "\(author.text("name") ?? "") \(author.many("books").compactMap { $0.text("title") })"
    }
    return books + authors
  }

  private func author(_ name: String, of book: ManagedObject) -> ManagedObject? {
    try? book.managedObjectContext?.all("Author", "name == '\(name)'").first
  }

  @Test(arguments: PolicyRuleTests.types)
  func changesOfBothGoPropertyByProperty(type: MergePolicyType) throws {
    try collide(type) { above in
      above.setValue("parent", forKey: "title")
    } below: { book in
      book.setValue("child", forKey: "title")
      book.setValue(2, forKey: "pages")
    } check: { now in
      let seen = "\(now.book.text("title") ?? "") \(now.book.number("pages") ?? 0)"
      switch type {
      case .errorMergePolicyType:
        #expect(now.error?.code == .managedObjectMerge && seen == "child 2")
        let title = now.root.performAndWait { now.above.object.text("title") }
        #expect(title == "parent", "nothing was pushed")
      case .mergeByPropertyStoreTrumpMergePolicyType: #expect(seen == "parent 2")
      case .mergeByPropertyObjectTrumpMergePolicyType, .overwriteMergePolicyType:
        #expect(seen == "child 2")
      case .rollbackMergePolicyType: #expect(seen == "parent 1")
      }
    }
  }

  @Test(arguments: PolicyRuleTests.types.dropFirst())
  func aToOneFollowsWithItsOtherSide(type: MergePolicyType) throws {
    try collide(type) { above in
      above.setValue(author("b", of: above), forKey: "author")
    } below: { book in
      book.setValue(author("c", of: book), forKey: "author")
    } check: { now in
      let storeWins =
        type == .mergeByPropertyStoreTrumpMergePolicyType
        || type == .rollbackMergePolicyType
      #expect(now.book.one("author")?.text("name") == (storeWins ? "b" : "c"))
    }
  }

  @Test(arguments: PolicyRuleTests.types)
  func deletedAboveAndChangedBelow(type: MergePolicyType) throws {
    try collide(type) { above in
      above.managedObjectContext?.delete(above)
      above.managedObjectContext?.processPendingChanges()
    } below: { book in
      book.setValue("child", forKey: "title")
    } check: { now in
      switch type {
      case .errorMergePolicyType: #expect(now.error?.code == .managedObjectMerge)
      case .mergeByPropertyStoreTrumpMergePolicyType, .rollbackMergePolicyType:
        #expect(now.book.managedObjectContext == nil)
      case .mergeByPropertyObjectTrumpMergePolicyType, .overwriteMergePolicyType:
        #expect(now.book.text("title") == "child")
        #expect(now.root.performAndWait { !now.above.object.isDeleted })
      }
    }
  }

  @Test(arguments: PolicyRuleTests.types)
  func changedAboveAndDeletedBelow(type: MergePolicyType) throws {
    try collide(type) { above in
      above.setValue("parent", forKey: "title")
    } below: { book in
      book.managedObjectContext?.delete(book)
    } check: { now in
      switch type {
      case .errorMergePolicyType: #expect(now.error?.code == .managedObjectMerge)
      case .mergeByPropertyStoreTrumpMergePolicyType, .rollbackMergePolicyType:
        #expect(!now.book.isDeleted && now.book.text("title") == "parent")
        #expect(now.book.one("author")?.many("books") == [now.book])
      case .mergeByPropertyObjectTrumpMergePolicyType, .overwriteMergePolicyType:
        #expect(now.root.performAndWait { now.above.object.isDeleted })
      }
    }
  }

  @Test func whatTheParentRelatedMeanwhileLosesWhatTheChildMoves() throws {
    let root = try Stack().context()
    let leaf = ManagedObjectContext(.privateQueue)
    leaf.parent = root
    leaf.mergePolicy = MergePolicy.mergeByPropertyObjectTrump
    let kept = try root.performAndWait {
      let books = ["a", "b", "c"].map { root.make("Book", ["title": $0]) }
      let chapter = root.make("Chapter", ["book": books[0]])
      let tag = root.make("Tag", ["label": "x"])
      try root.save()
      return (books + [chapter, tag]).map { Kept(object: $0) }
    }
    try leaf.performAndWait {
      let here = kept.map { leaf.object(with: $0.object.objectID) }
      here[3].setValue(here[1], forKey: "book")
      here[4].mutableSetValue(forKey: "works").add(here[1])
      root.performAndWait {
        kept[3].object.setValue(kept[2].object, forKey: "book")
        kept[4].object.mutableSetValue(forKey: "works").add(kept[2].object)
      }
      try leaf.save()
    }
    root.performAndWait {
      let objects = kept.map(\.object)
      #expect(objects[3].one("book") === objects[1] && objects[1].many("chapters") == [objects[3]])
      #expect(objects[0].many("chapters").isEmpty && objects[2].many("chapters").isEmpty)
      #expect(objects[4].many("works") == [objects[1], objects[2]])
      #expect(objects[1].many("tags") == [objects[4]] && objects[2].many("tags") == [objects[4]])
    }
  }
}
