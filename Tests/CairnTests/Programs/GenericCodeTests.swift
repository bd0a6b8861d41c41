// Helpers over any class of managed objects, as many projects have them.

import CoreData
import Testing

extension NSManagedObjectContext {
  fileprivate func create<Object: NSManagedObject>(_ type: Object.Type) -> Object {
    Object(context: self)
  }
  fileprivate func make<Object: NSManagedObject>(_ type: Object.Type) -> Object {
    Object(entity: Object.entity(), insertInto: self)
  }
  fileprivate func all<Object: NSManagedObject>(_ type: Object.Type) throws -> [Object] {
    let request = Object.fetchRequest() as NSFetchRequest<Object>
    return try fetch(request)
  }
  fileprivate func untyped<Object: NSManagedObject>(_ type: Object.Type) throws -> [Object] {
    let request: NSFetchRequest<any NSFetchRequestResult> = Object.fetchRequest()
    return try fetch(request) as? [Object] ?? []
  }
}

extension NSManagedObject {
  fileprivate class func new(in context: NSManagedObjectContext) -> Self {
    self.init(context: context)
  }
}

private protocol Repository {
  associatedtype Entity: NSManagedObject
  var context: NSManagedObjectContext { get }
}

extension Repository {
  func create() -> Entity { Entity(context: context) }
  func fetchAll() throws -> [Entity] { try context.fetch(Entity.fetchRequest()) }
  func removeAll() throws {
    try context.execute(NSBatchDeleteRequest(fetchRequest: Entity.fetchRequest()))
  }
}

private struct Authors: Repository {
  typealias Entity = ProgramAuthor
  let context: NSManagedObjectContext
}

/// Chapters 4 and 16 of the specification: making and fetching objects of a class that is a parameter.
@Suite struct GenericCodeTests {
  @Test func aClassThatIsAParameterMakesAndFetchesItsObjects() throws {
    let context = try Programs.container().newBackgroundContext()
    try context.performAndWait { () throws -> Void in
      context.create(ProgramAuthor.self).name = "Ada"
      context.make(ProgramAuthor.self).name = "Bob"
      ProgramAuthor.new(in: context).name = "Cid"
      #expect(try context.all(ProgramAuthor.self).count == 3)
      #expect(try context.untyped(ProgramAuthor.self).count == 3)
      #expect(try context.all(ProgramBook.self).isEmpty)
      let names = try context.fetch(ProgramAuthor.fetchRequest()).compactMap(\.name)
      #expect(names.sorted() == ["Ada", "Bob", "Cid"], "requests of a class are typed")
    }
  }

  @Test func aRepositoryOverAnAssociatedTypeWorks() throws {
    let authors = Authors(context: try Programs.container().newBackgroundContext())
    try authors.context.performAndWait { () throws -> Void in
      authors.create().name = "Ada"
      try authors.context.save()
      #expect(try authors.fetchAll().map(\.name) == ["Ada"])
      try authors.removeAll()
      #expect(try authors.fetchAll().isEmpty)
    }
  }

  @Test func aSubclassMayOverrideTheDesignatedInitializer() throws {
    let container = try Programs.container(Programs.furniture())
    let context = container.newBackgroundContext()
    try context.performAndWait { () throws -> Void in
      let shelf = ProgramShelf(label: "tall", context: context)
      #expect(shelf.made.timeIntervalSince1970 == 7)
      #expect(context.create(ProgramShelf.self).made.timeIntervalSince1970 == 7)
      context.delete(try #require(context.insertedObjects.first { $0 !== shelf }))
      try context.save()
      context.reset()
      let fetched = try context.all(ProgramShelf.self)
      #expect(fetched.map { $0.value(forKey: "label") as? String } == ["tall"])
      #expect(fetched.first?.made.timeIntervalSince1970 == 7, "objects that are read get it too")
    }
    let child = NSManagedObjectContext(concurrencyType: .privateQueueConcurrencyType)
    child.parent = context
    try child.performAndWait { () throws -> Void in
      _ = ProgramShelf(label: "of a child", context: child)
      try child.save()
    }
    context.performAndWait {
      let arrived = context.insertedObjects.first as? ProgramShelf
      #expect(arrived?.made.timeIntervalSince1970 == 7, "objects that come up from a child too")
    }
  }

  @Test func aSubclassMayHaveAnInitializerForAContextOfItsOwn() throws {
    let context = try Programs.container(Programs.furniture()).newBackgroundContext()
    context.performAndWait {
      #expect(ProgramMark(context: context).value(forKey: "label") as? String == "marked")
    }
  }

  @Test func aClassFindsItsEntityAmongSeveralModels() throws {
    let library = try Programs.container()
    let furniture = try Programs.container(Programs.furniture())
    #expect(ProgramShelf.entity().name == "ProgramShelf")
    #expect(ProgramAuthor.entity().name == "ProgramAuthor", "of the model used before")
    let context = library.newBackgroundContext()
    let count = try context.performAndWait { try context.count(for: ProgramAuthor.fetchRequest()) }
    #expect(count == 0)
    withExtendedLifetime(furniture) {}
  }

  @Test func anEntityOfACopyOfTheModelStandsForTheOneHere() throws {
    let first = try Programs.container()
    let second = try Programs.container()
    let foreign = try #require(second.managedObjectModel.entitiesByName["ProgramAuthor"])
    let context = first.newBackgroundContext()
    try context.performAndWait { () throws -> Void in
      let author = ProgramAuthor(entity: foreign, insertInto: context)
      #expect(author.entity === first.managedObjectModel.entitiesByName["ProgramAuthor"])
      author.name = "Ada"
      try context.save()
      #expect(try context.all(ProgramAuthor.self) == [author])
    }
  }
}
