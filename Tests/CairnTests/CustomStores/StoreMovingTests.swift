// "Save as": a store goes on at another place, in another type, and contexts follow.

import Cairn
import Foundation
import Synchronization
import TestSupport
import Testing

/// Chapter 20.2 of the specification, and the sequence of notifications in 2.3.
@Suite struct StoreMovingTests {
  static let types = ["SQLite", "XML", "Binary", "InMemory"]

  private func error(_ body: () throws -> Void) -> CoreDataError? {
    do {
      try body()
      return nil
    } catch {
      return error as? CoreDataError
    }
  }

  /// A model with each kind of relationship.
  private static func model() -> ManagedObjectModel {
    let author = EntityDescription(
      name: "Author", properties: [AttributeDescription(name: "name", type: .string)])
    let book = EntityDescription(
      name: "Book",
      properties: [
        AttributeDescription(name: "title", type: .string),
        AttributeDescription(name: "pages", type: .integer32),
      ])
    let novel = EntityDescription(name: "Novel", properties: [])
    book.subentities = [novel]
    let books = relationship("books", to: book, isToMany: true, isOrdered: true)
    let writer = relationship("writer", to: author)
    connect(books, writer)
    let fans = relationship("fans", to: author, isToMany: true)
    let likes = relationship("likes", to: book, isToMany: true)
    connect(fans, likes)
    let friends = relationship("friends", to: author, isToMany: true)
    friends.inverseRelationship = friends
    author.properties += [books, likes, friends]
    book.properties += [writer, fans]
    let model = ManagedObjectModel()
    model.entities = [author, book, novel]
    return model
  }

  private func fill(_ context: ManagedObjectContext) throws {
    try context.performAndWait { () throws -> Void in
      let ada = Library.insert("Author", ["name": "Ada"], into: context)
      let bob = Library.insert("Author", ["name": "Bob"], into: context)
      let books = ["z", "a", "m"].map { title in
        Library.insert(title == "m" ? "Novel" : "Book", ["title": title], into: context)
      }
      ada.setValue(NSOrderedSet(array: books), forKey: "books")
      bob.setValue(Set(books.prefix(2)), forKey: "likes")
      ada.setValue(Set([bob]), forKey: "friends")
      try context.save()
    }
  }

  /// What is in the store, as text.
  private func contents(_ context: ManagedObjectContext) throws -> [String] {
    try context.performAndWait { () throws -> [String] in
      let authors = FetchRequest<ManagedObject>(entityName: "Author")
      authors.sortDescriptors = [ObjectSortDescriptor(key: "name", ascending: true)]
      return try context.fetch(authors).map { author in
        func names(_ key: String, _ name: String) -> [String] {
          let value = author.value(forKey: key)
          let members =
            (value as? NSOrderedSet)?.array.compactMap { $0 as? ManagedObject }
            ?? (value as? Set<ManagedObject>).map(Array.init) ?? []
          let texts = members.compactMap { $0.value(forKey: name) as? String }
          return value is NSOrderedSet ? texts : texts.sorted()
        }
        let kinds = (author.value(forKey: "books") as? NSOrderedSet)?.array.compactMap {
          ($0 as? ManagedObject)?.entity.name
        }
        return
          "\(author.value(forKey: "name") ?? "") \(names("books", "title")) \(kinds ?? []) "
          + "\(names("likes", "title")) \(names("friends", "name"))"
      }
    }
  }

  @Test(arguments: types, types)
  func everyTypeBecomesEveryType(from: String, to: String) throws {
    try TemporaryFolder.with { folder in
      let coordinator = PersistentStoreCoordinator(managedObjectModel: Self.model())
      let old = try coordinator.addPersistentStore(
        ofType: from, configurationName: nil, at: folder.appendingPathComponent("old"))
      let context = Library.context(coordinator)
      try fill(context)
      let before = try contents(context)
      #expect(
        before == [
          #"Ada ["z", "a", "m"] ["Book", "Book", "Novel"] [] ["Bob"]"#,
          #"Bob [] [] ["a", "z"] ["Ada"]"#,
        ])
      coordinator.setMetadata(["mood": "good"], for: old)
      let new = try coordinator.migratePersistentStore(
        old, to: folder.appendingPathComponent("new"), withType: to)
      #expect(new.type == to)
      #expect(coordinator.persistentStores.map { $0 === new } == [true])
      #expect(try contents(Library.context(coordinator)) == before)
      #expect(coordinator.metadata(for: new)["mood"] as? String == "good")
      #expect(new.identifier != old.identifier)
      if from != "InMemory" {
        #expect(FileManager.default.fileExists(atPath: folder.appendingPathComponent("old").path))
      }
    }
  }

  @Test func objectsOfContextsGoOnUnderNewIDs() throws {
    try TemporaryFolder.with { folder in
      let coordinator = PersistentStoreCoordinator(managedObjectModel: Self.model())
      let old = try coordinator.addPersistentStore(
        ofType: "SQLite", configurationName: nil, at: folder.appendingPathComponent("old"))
      let context = Library.context(coordinator)
      try fill(context)
      try context.performAndWait { () throws -> Void in
        let authors = try Library.fetch("Author", in: context)
        let ada = try #require(authors.first { $0.value(forKey: "name") as? String == "Ada" })
        let book = try #require((ada.value(forKey: "books") as? NSOrderedSet)?.firstObject)
        let oldID = ada.objectID
        ada.setValue("Ada L.", forKey: "name")
        let fresh = Library.insert("Book", ["title": "new", "writer": ada], into: context)
        let new = try coordinator.migratePersistentStore(
          old, to: folder.appendingPathComponent("new.xml"), withType: "XML")
        #expect(ada.objectID != oldID)
        #expect(ada.objectID.persistentStore === new)
        #expect(ada.value(forKey: "name") as? String == "Ada L.", "unsaved changes stay")
        #expect((book as? ManagedObject)?.value(forKey: "title") as? String == "z")
        #expect(context.registeredObject(for: ada.objectID) === ada)
        #expect(context.registeredObject(for: oldID) == nil)
        try context.save()
        #expect(fresh.objectID.persistentStore === new)
      }
      let titles = try contents(Library.context(coordinator))
      #expect(titles.first?.hasPrefix(#"Ada L. ["z", "a", "m", "new"]"#) ?? false, "\(titles)")
    }
  }

  @Test func notificationsNameBothStoresAndAllIDs() throws {
    try TemporaryFolder.with { folder in
      let coordinator = PersistentStoreCoordinator(managedObjectModel: Self.model())
      let old = try coordinator.addPersistentStore(
        ofType: "XML", configurationName: nil, at: folder.appendingPathComponent("old"))
      let context = Library.context(coordinator)
      try fill(context)
      let oldIDs = try context.performAndWait {
        Set(try Library.fetch("Author", in: context).map(\.objectID))
      }
      let seen = Mutex<[String]>([])
      let pairs = Mutex<[ManagedObjectID]>([])
      let center = NotificationCenter.default
      let tokens = [
        center.addObserver(
          forName: .NSPersistentStoreCoordinatorWillRemoveStore, object: old, queue: nil
        ) { _ in seen.withLock { $0.append("will remove") } },
        center.addObserver(
          forName: .NSPersistentStoreCoordinatorStoresDidChange, object: coordinator, queue: nil
        ) { note in
          let keys = (note.userInfo ?? [:]).keys.compactMap { $0 as? String }
          seen.withLock { $0 += keys }
          guard let list = note.userInfo?[PersistentStoreKey.uuidChanged] as? [Any] else { return }
          #expect(list.count == 3 && list.first as? PersistentStore === old)
          pairs.withLock { $0 = list.last as? [ManagedObjectID] ?? [] }
        },
      ]
      defer { for token in tokens { center.removeObserver(token) } }
      let new = try coordinator.migratePersistentStore(
        old, to: folder.appendingPathComponent("new"), withType: "Binary")
      #expect(
        seen.withLock { $0 } == [
          "added", "will remove", "NSUUIDChangedPersistentStoresKey", "removed",
        ])
      let ids = pairs.withLock { $0 }
      #expect(ids.count == 10)
      #expect(Set(stride(from: 0, to: ids.count, by: 2).map { ids[$0] }).isSuperset(of: oldIDs))
      #expect(
        stride(from: 1, to: ids.count, by: 2).allSatisfy { ids[$0].persistentStore === new })
    }
  }

  @Test(arguments: ["SQLite", "XML", "Binary"])
  func aMoveThatFailsLeavesEverythingAsItWas(type: String) throws {
    try TemporaryFolder.with { folder in
      // Uniqueness that the program's own store does not keep stops the way to one that does.
      let model = Library.model()
      model.entitiesByName["Author"]?.uniquenessConstraints = [["name"]]
      let (coordinator, old) = try Library.stack(
        RemoteShelf.storeType, at: try Library.remoteURL(), model: model)
      let context = Library.context(coordinator)
      try context.performAndWait { () throws -> Void in
        for _ in 0..<2 { Library.insert("Author", ["name": "same"], into: context) }
        try context.save()
      }
      let failed = error {
        try coordinator.migratePersistentStore(
          old, to: folder.appendingPathComponent("new"), withType: type)
      }
      #expect(failed?.code == .managedObjectConstraintMerge)
      #expect(try FileManager.default.contentsOfDirectory(atPath: folder.path).isEmpty)
      #expect(coordinator.persistentStores.map { $0 === old } == [true])
      try context.performAndWait { () throws -> Void in
        Library.insert("Author", ["name": "other"], into: context)
        try context.save()
        #expect(try Library.fetch("Author", in: context).count == 3)
      }
    }
  }

  @Test func whatIsThereIsNotOverwritten() throws {
    try TemporaryFolder.with { folder in
      let coordinator = PersistentStoreCoordinator(managedObjectModel: Self.model())
      let old = try coordinator.addPersistentStore(
        ofType: "XML", configurationName: nil, at: folder.appendingPathComponent("old"))
      let precious = folder.appendingPathComponent("new")
      try Data("precious".utf8).write(to: precious)
      let refused = error {
        try coordinator.migratePersistentStore(old, to: precious, withType: "Binary")
      }
      #expect(refused?.code == .persistentStoreOpen)
      #expect(try Data(contentsOf: precious) == Data("precious".utf8))
      #expect(coordinator.persistentStores.first === old)
      let foreign = PersistentStoreCoordinator(managedObjectModel: Self.model())
      let notOurs = error {
        try foreign.migratePersistentStore(
          old, to: folder.appendingPathComponent("x"), type: .binary)
      }
      #expect(notOurs?.code == .coreData)
    }
  }

  @Test func aStoreOfTheProgramsOwnIsMovedToo() throws {
    try Library.withFile { url in
      let (coordinator, old) = try Library.stack(TextShelf.storeType, at: url)
      let context = Library.context(coordinator)
      try context.performAndWait { () throws -> Void in
        let author = Library.insert("Author", ["name": "Ada"], into: context)
        Library.insert("Book", ["title": "A", "writer": author], into: context)
        try context.save()
      }
      let remote = try coordinator.migratePersistentStore(
        old, to: try Library.remoteURL(), withType: RemoteShelf.storeType)
      let memory = try coordinator.migratePersistentStore(
        remote, to: URL(fileURLWithPath: "/dev/null"), type: .inMemory)
      let other = Library.context(coordinator)
      try other.performAndWait { () throws -> Void in
        let book = try #require(try Library.fetch("Book", in: other).first)
        #expect(book.objectID.persistentStore === memory)
        let writer = book.value(forKey: "writer") as? ManagedObject
        #expect(writer?.value(forKey: "name") as? String == "Ada")
        #expect((writer?.value(forKey: "books") as? Set<ManagedObject>)?.count == 1)
      }
    }
  }
}
