// A program's own atomic store: which calls it gets, when, and what becomes of its nodes.

import Cairn
import Foundation
import Testing

/// Chapters 21.1 and 21.2 of the specification.
@Suite struct AtomicStoreTests {
  private func error(_ body: () throws -> Void) -> (any Error)? {
    do {
      try body()
      return nil
    } catch {
      return error
    }
  }

  @Test func openingLoadsMetadataThenNodes() throws {
    try Library.withFile { url in
      let (coordinator, store) = try Library.stack(TextShelf.storeType, at: url)
      #expect(TextShelfCalls.take(url) == ["init", "loadMetadata", "load", "didAdd"])
      #expect(store.persistentStoreCoordinator === coordinator)
      try coordinator.remove(store)
      #expect(TextShelfCalls.take(url) == ["willRemove"])
    }
  }

  @Test func aSaveGoesThroughTheDocumentedCalls() throws {
    try Library.withFile { url in
      let (coordinator, _) = try Library.stack(TextShelf.storeType, at: url)
      let context = Library.context(coordinator)
      try context.performAndWait { () throws -> Void in
        let author = Library.insert("Author", ["name": "Ada"], into: context)
        let book = Library.insert("Book", ["title": "A"], into: context)
        _ = TextShelfCalls.take(url)
        try context.save()
        #expect(
          TextShelfCalls.take(url) == [
            "newReferenceObject", "newReferenceObject", "newCacheNode", "updateCacheNode",
            "newCacheNode", "updateCacheNode", "save",
          ])
        book.setValue("B", forKey: "title")
        try context.save()
        #expect(TextShelfCalls.take(url) == ["updateCacheNode", "save"])
        context.delete(author)
        try context.save()
        #expect(TextShelfCalls.take(url) == ["willRemoveCacheNodes 1", "save"])
      }
    }
  }

  @Test func whatWasSavedIsThereAfterOpeningAgain() throws {
    try Library.withFile { url in
      var uuid = ""
      do {
        let (coordinator, store) = try Library.stack(TextShelf.storeType, at: url)
        uuid = store.identifier
        let context = Library.context(coordinator)
        try context.performAndWait { () throws -> Void in
          let author = Library.insert("Author", ["name": "Ada"], into: context)
          Library.insert("Book", ["title": "A", "pages": 3, "writer": author], into: context)
          Library.insert("Book", ["title": "B", "writer": author], into: context)
          try context.save()
        }
        try coordinator.remove(store)
      }
      let (coordinator, store) = try Library.stack(TextShelf.storeType, at: url)
      #expect(store.identifier == uuid)
      let context = Library.context(coordinator)
      try context.performAndWait { () throws -> Void in
        let author = try #require(try Library.fetch("Author", in: context).first)
        let books = author.value(forKey: "books") as? Set<ManagedObject>
        #expect(books?.count == 2)
        #expect(
          books?.allSatisfy { $0.value(forKey: "writer") as? ManagedObject == author } ?? false)
        let request = FetchRequest<ManagedObject>(entityName: "Book")
        request.predicate = ObjectPredicate(format: "writer.name = 'Ada' AND pages = 3")
        #expect(try context.fetch(request).map { $0.value(forKey: "title") as? String } == ["A"])
      }
    }
  }

  @Test func bothSidesOfALinkBetweenNewObjectsReachTheNodes() throws {
    try Library.withFile { url in
      let (coordinator, store) = try Library.stack(TextShelf.storeType, at: url)
      let atomic = try #require(store as? AtomicStore)
      let context = Library.context(coordinator)
      try context.performAndWait { () throws -> Void in
        let author = Library.insert("Author", ["name": "Ada"], into: context)
        let book = Library.insert("Book", ["title": "A", "writer": author], into: context)
        try context.save()
        let authorNode = try #require(atomic.cacheNode(for: author.objectID))
        let bookNode = try #require(atomic.cacheNode(for: book.objectID))
        #expect(bookNode.value(forKey: "writer") as? AtomicStoreCacheNode === authorNode)
        #expect((authorNode.value(forKey: "books") as? NSSet)?.contains(bookNode) ?? false)
        book.setValue(nil, forKey: "writer")
        try context.save()
        #expect(bookNode.value(forKey: "writer") == nil)
        #expect((authorNode.value(forKey: "books") as? NSSet)?.count == 0)
      }
    }
  }

  @Test func aSaveThatFailsLeavesNodesAndChangesAsTheyWere() throws {
    try Library.withFile { url in
      let (coordinator, store) = try Library.stack(TextShelf.storeType, at: url)
      let atomic = try #require(store as? AtomicStore)
      let context = Library.context(coordinator)
      try context.performAndWait { () throws -> Void in
        let book = Library.insert("Book", ["title": "A"], into: context)
        try context.save()
        let file = try Data(contentsOf: url)
        TextShelfCalls.setFailing(true, at: url)
        book.setValue("B", forKey: "title")
        Library.insert("Author", ["name": "Ada"], into: context)
        #expect(error { try context.save() } is CocoaError)
        #expect(context.hasChanges)
        #expect(atomic.cacheNodes().count == 1)
        #expect(atomic.cacheNode(for: book.objectID)?.value(forKey: "title") as? String == "A")
        #expect(try Data(contentsOf: url) == file)
        TextShelfCalls.setFailing(false, at: url)
        try context.save()
        #expect(atomic.cacheNodes().count == 2)
      }
    }
  }

  @Test func twoContextsConflictAsOnAnyStore() throws {
    try Library.withFile { url in
      let (coordinator, _) = try Library.stack(TextShelf.storeType, at: url)
      let first = Library.context(coordinator)
      let second = Library.context(coordinator)
      let id = try first.performAndWait {
        let book = Library.insert("Book", ["title": "A"], into: first)
        try first.save()
        return book.objectID
      }
      try second.performAndWait { () throws -> Void in
        let book = try second.existingObject(with: id)
        try first.performAndWait { () throws -> Void in
          try first.existingObject(with: id).setValue("B", forKey: "title")
          try first.save()
        }
        book.setValue("C", forKey: "title")
        #expect((error { try second.save() } as? CoreDataError)?.code == .managedObjectMerge)
      }
    }
  }

  @Test func aUniqueValueIsRefusedASecondTimeBeforeTheStoreIsAsked() throws {
    try Library.withFile { url in
      let model = Library.model()
      model.entitiesByName["Author"]?.uniquenessConstraints = [["name"]]
      let (coordinator, store) = try Library.stack(TextShelf.storeType, at: url, model: model)
      let atomic = try #require(store as? AtomicStore)
      let context = Library.context(coordinator)
      try context.performAndWait { () throws -> Void in
        Library.insert("Author", ["name": "Ada"], into: context)
        try context.save()
        let second = Library.insert("Author", ["name": "Ada"], into: context)
        try context.obtainPermanentIDs(for: [second])
        _ = TextShelfCalls.take(url)
        let refused = error { try context.save() } as? CoreDataError
        #expect(refused?.code == .managedObjectConstraintMerge)
        #expect(TextShelfCalls.take(url).isEmpty && atomic.cacheNodes().count == 1)
        second.setValue("Bea", forKey: "name")
        try context.save()
        #expect(atomic.cacheNodes().count == 2)
      }
    }
  }

  @Test func metadataOfAClosedStoreIsTheClasss() throws {
    try Library.withFile { url in
      let (coordinator, store) = try Library.stack(TextShelf.storeType, at: url)
      let context = Library.context(coordinator)
      try context.performAndWait { () throws -> Void in
        coordinator.setMetadata(["mood": "good"], for: store)
        Library.insert("Book", ["title": "A"], into: context)
        try context.save()
      }
      let metadata = try PersistentStoreCoordinator.metadataForPersistentStore(
        ofType: TextShelf.storeType, at: url)
      #expect(metadata["mood"] as? String == "good")
      #expect(metadata["NSStoreUUID"] as? String == store.identifier)
      #expect(metadata["NSStoreType"] as? String == TextShelf.storeType)
    }
  }

  @Test func aDamagedFileIsTheStoresError() throws {
    try Library.withFile { url in
      try Data("nonsense".utf8).write(to: url)
      #expect(error { _ = try Library.stack(TextShelf.storeType, at: url) } != nil)
      #expect(try Data(contentsOf: url) == Data("nonsense".utf8))
    }
  }

  @Test func aValueOfTheWrongClassIsAnError() throws {
    try Library.withFile { url in
      let (coordinator, store) = try Library.stack(TextShelf.storeType, at: url)
      let atomic = try #require(store as? AtomicStore)
      let entity = try #require(coordinator.managedObjectModel.entitiesByName["Book"])
      let node = AtomicStoreCacheNode(
        objectID: atomic.objectID(for: entity, withReferenceObject: "x"))
      node.setValue(Date(), forKey: "pages")
      atomic.addCacheNodes([node])
      let context = Library.context(coordinator)
      context.performAndWait { () -> Void in
        let failed = error { _ = try Library.fetch("Book", in: context) } as? CoreDataError
        #expect(failed?.code == .persistentStoreOperation)
      }
    }
  }
}
