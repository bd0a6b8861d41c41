// Stores that are one file, under a whole stack: contexts, migration, several kinds together.

import Cairn
import Foundation
import Testing

/// Chapters 20.1 to 20.5 and 22.2 of the specification.
@Suite struct FileStoreStackTests {
  static let types = ["XML", "Binary"]

  private func error(_ body: () throws -> Void) -> CoreDataError? {
    do {
      try body()
      return nil
    } catch {
      return error as? CoreDataError
    }
  }

  private func fill(_ url: URL, _ type: String) throws {
    let coordinator = PersistentStoreCoordinator(managedObjectModel: Library.model())
    try coordinator.addPersistentStore(ofType: type, configurationName: nil, at: url)
    let context = Library.context(coordinator)
    try context.performAndWait { () throws -> Void in
      let author = Library.insert("Author", ["name": "Ada"], into: context)
      Library.insert("Book", ["title": "A", "pages": 3, "writer": author], into: context)
      try context.save()
    }
  }

  @Test(arguments: types) func anObjectIsFoundAgainThroughItsURI(type: String) throws {
    try Library.withFile { url in
      try fill(url, type)
      var uri = URL(fileURLWithPath: "/")
      for round in 0..<2 {
        let coordinator = PersistentStoreCoordinator(managedObjectModel: Library.model())
        try coordinator.addPersistentStore(ofType: type, configurationName: nil, at: url)
        let context = Library.context(coordinator)
        try context.performAndWait { () throws -> Void in
          let book = try #require(try Library.fetch("Book", in: context).first)
          if round == 0 {
            uri = book.objectID.uriRepresentation()
          } else {
            let id = try #require(coordinator.managedObjectID(forURIRepresentation: uri))
            let found = try context.existingObject(with: id)
            #expect(found === book)
          }
        }
      }
    }
  }

  @Test(arguments: types) func anOlderFileIsMigratedObjectByObject(type: String) throws {
    try Library.withFile { url in
      try fill(url, type)
      let coordinator = PersistentStoreCoordinator(managedObjectModel: Library.model(extra: true))
      let refused = error {
        try coordinator.addPersistentStore(ofType: type, configurationName: nil, at: url)
      }
      #expect(refused?.code == .persistentStoreIncompatibleVersionHash)
      let description = PersistentStoreDescription(url: url)
      description.type = type
      description.migrationSourceModels = [Library.model()]
      var problem: (any Error)?
      coordinator.addPersistentStore(with: description) { _, error in problem = error }
      #expect(problem == nil)
      let context = Library.context(coordinator)
      try context.performAndWait { () throws -> Void in
        let book = try #require(try Library.fetch("Book", in: context).first)
        #expect(book.value(forKey: "title") as? String == "A")
        #expect(
          (book.value(forKey: "writer") as? ManagedObject)?.value(forKey: "name") as? String
            == "Ada")
        book.setValue("new", forKey: "extra")
        try context.save()
      }
    }
  }

  @Test func storesOfThreeKindsAnswerAsOne() throws {
    try Library.withFile { url in
      let folder = url.deletingLastPathComponent()
      let coordinator = PersistentStoreCoordinator(managedObjectModel: Library.model())
      let stores = try ["SQLite", "XML", "Binary"].map { type in
        try coordinator.addPersistentStore(
          ofType: type, configurationName: nil, at: folder.appendingPathComponent(type))
      }
      let context = Library.context(coordinator)
      try context.performAndWait { () throws -> Void in
        for (index, store) in stores.enumerated() {
          let book = Library.insert("Book", ["title": store.type, "pages": index], into: context)
          context.assign(book, to: store)
        }
        let first = Library.insert("Author", ["name": "default"], into: context)
        try context.save()
        #expect(first.objectID.persistentStore === stores[0], "the first store that can")
        let request = FetchRequest<ManagedObject>(entityName: "Book")
        request.sortDescriptors = [ObjectSortDescriptor(key: "pages", ascending: false)]
        func titles() throws -> [String] {
          try context.fetch(request).compactMap { $0.value(forKey: "title") as? String }
        }
        #expect(try titles() == ["Binary", "XML", "SQLite"])
        request.affectedStores = [stores[1], stores[2]]
        request.fetchLimit = 1
        #expect(try titles() == ["Binary"])
        let book = try #require(try context.fetch(request).first)
        book.setValue(first, forKey: "writer")
        #expect(error { try context.save() }?.code == .managedObjectExternalRelationship)
      }
    }
  }

  @Test func everyBuiltInTypeIsRegistered() {
    let types = PersistentStoreCoordinator.registeredStoreTypes
    #expect(Set(types.keys).isSuperset(of: ["SQLite", "XML", "Binary", "InMemory"]))
    #expect(types["XML"] != types["Binary"])
  }

  @Test(arguments: ["SQLite", "XML", "Binary"])
  func storeClassesTellTheMetadataOfTheirFiles(type: String) throws {
    try Library.withFile { url in
      let coordinator = PersistentStoreCoordinator(managedObjectModel: Library.model())
      let store = try coordinator.addPersistentStore(
        ofType: type, configurationName: nil, at: url)
      try coordinator.remove(store)
      let metadata = try Swift.type(of: store).metadataForPersistentStore(with: url)
      #expect(metadata["NSStoreUUID"] as? String == store.identifier)
      #expect(metadata["NSStoreType"] as? String == type)
    }
  }

  @Test(arguments: types) func aReadOnlyStoreOfAnotherKindTakesNoNewObjects(type: String) throws {
    try Library.withFile { url in
      try fill(url, type)
      let before = try Data(contentsOf: url)
      let coordinator = PersistentStoreCoordinator(managedObjectModel: Library.model())
      let store = try coordinator.addPersistentStore(
        ofType: type, configurationName: nil, at: url, options: [StoreOptionKey.readOnly: true])
      let memory = try coordinator.addPersistentStore(
        ofType: StoreTypeName.inMemory, configurationName: nil, at: nil)
      let context = Library.context(coordinator)
      try context.performAndWait { () throws -> Void in
        let author = Library.insert("Author", ["name": "new"], into: context)
        try context.save()
        #expect(author.objectID.persistentStore === memory)
        let old = try #require(
          try Library.fetch("Author", in: context).first {
            $0.objectID.persistentStore === store
          })
        old.setValue("changed", forKey: "name")
        #expect(error { try context.save() }?.code == .persistentStoreSave)
      }
      #expect(try Data(contentsOf: url) == before)
    }
  }
}
