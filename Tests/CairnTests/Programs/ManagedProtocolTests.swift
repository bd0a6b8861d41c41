// The generic protocol of well-known books: every class says its entity and its usual order.

import CoreData
import Testing

private protocol Managed: NSFetchRequestResult {
  static var entityName: String { get }
  static var defaultSortDescriptors: [NSSortDescriptor] { get }
}

extension Managed {
  static var defaultSortDescriptors: [NSSortDescriptor] { [] }
  static var sortedFetchRequest: NSFetchRequest<Self> {
    let request = NSFetchRequest<Self>(entityName: entityName)
    request.sortDescriptors = defaultSortDescriptors
    return request
  }
}

extension Managed where Self: NSManagedObject {
  static var entityName: String { String(describing: self) }

  static func fetch(
    in context: NSManagedObjectContext, configure: (NSFetchRequest<Self>) -> Void = { _ in }
  ) throws -> [Self] {
    let request = sortedFetchRequest
    configure(request)
    return try context.fetch(request)
  }

  static func materializedObject(
    in context: NSManagedObjectContext, matching predicate: NSPredicate
  ) -> Self? {
    for object in context.registeredObjects where !object.isFault {
      guard let result = object as? Self, predicate.evaluate(with: result) else { continue }
      return result
    }
    return nil
  }

  static func findOrCreate(
    in context: NSManagedObjectContext, matching predicate: NSPredicate, configure: (Self) -> Void
  ) throws -> Self {
    if let known = materializedObject(in: context, matching: predicate) { return known }
    let fetched = try fetch(in: context) { request in
      request.predicate = predicate
      request.returnsObjectsAsFaults = false
      request.fetchLimit = 1
    }
    if let first = fetched.first { return first }
    let object: Self = context.insertObject()
    configure(object)
    return object
  }
}

extension NSManagedObjectContext {
  fileprivate func insertObject<Object: NSManagedObject & Managed>() -> Object {
    guard
      let object = NSEntityDescription.insertNewObject(
        forEntityName: Object.entityName, into: self) as? Object
    else { fatalError("Wrong object type") }
    return object
  }

  fileprivate func saveOrRollback() -> Bool {
    do {
      try save()
      return true
    } catch {
      rollback()
      return false
    }
  }
}

extension ProgramAuthor: Managed {
  fileprivate static var defaultSortDescriptors: [NSSortDescriptor] {
    [NSSortDescriptor(key: "name", ascending: true)]
  }
}

/// A notification with types.
private struct ContextDidSave {
  let notification: Notification
  var inserted: AnyIterator<NSManagedObject> { iterator(NSInsertedObjectsKey) }
  var updated: AnyIterator<NSManagedObject> { iterator(NSUpdatedObjectsKey) }

  private func iterator(_ key: String) -> AnyIterator<NSManagedObject> {
    guard let set = notification.userInfo?[key] as? NSSet else { return AnyIterator { nil } }
    let members = set.makeIterator()
    return AnyIterator { members.next() as? NSManagedObject }
  }
}

/// Chapters 4, 7, 11 and 16 of the specification, in the generic style.
@Suite struct ManagedProtocolTests {
  @Test func objectsAreFoundInTheContextThenInTheStoreOrMade() throws {
    let container = try Programs.container()
    let context = container.newBackgroundContext()
    try context.performAndWait { () throws -> Void in
      let ada = NSPredicate(format: "name == %@", "Ada")
      let made = try ProgramAuthor.findOrCreate(in: context, matching: ada) { $0.name = "Ada" }
      #expect(made.isInserted)
      #expect(ProgramAuthor.materializedObject(in: context, matching: ada) === made)
      #expect(context.saveOrRollback())
      let again = try ProgramAuthor.findOrCreate(in: context, matching: ada) { $0.name = "wrong" }
      #expect(again === made)
    }
    let other = container.newBackgroundContext()
    try other.performAndWait { () throws -> Void in
      let ada = NSPredicate(format: "name == %@", "Ada")
      #expect(ProgramAuthor.materializedObject(in: other, matching: ada) == nil)
      let fetched = try ProgramAuthor.findOrCreate(in: other, matching: ada) { $0.name = "wrong" }
      #expect(!fetched.isInserted && fetched.name == "Ada" && !fetched.isFault)
      let bob = NSPredicate(format: "name == %@", "Bob")
      _ = try ProgramAuthor.findOrCreate(in: other, matching: bob) { $0.name = "Bob" }
      #expect(try ProgramAuthor.fetch(in: other).map(\.name) == ["Ada", "Bob"])
    }
  }

  @Test func aSaveThatFailsIsRolledBack() throws {
    let context = try Programs.container().newBackgroundContext()
    try context.performAndWait { () throws -> Void in
      let _: ProgramAuthor = context.insertObject()
      #expect(!context.saveOrRollback(), "the name is missing")
      #expect(!context.hasChanges)
      #expect(try ProgramAuthor.fetch(in: context).isEmpty)
    }
  }

  @Test func setsOfNotificationsAreObjectiveCsSetsToo() throws {
    let context = try Programs.container().newBackgroundContext()
    // Unchecked: the observer runs on the context's queue, inside the blocks below.
    final class Seen: @unchecked Sendable { var notes: [ContextDidSave] = [] }
    let seen = Seen()
    let token = NotificationCenter.default.addObserver(
      forName: .NSManagedObjectContextDidSave, object: context, queue: nil
    ) { seen.notes.append(ContextDidSave(notification: $0)) }
    defer { NotificationCenter.default.removeObserver(token) }
    try context.performAndWait { () throws -> Void in
      let author: ProgramAuthor = context.insertObject()
      author.name = "Ada"
      try context.save()
      author.name = "Augusta"
      try context.save()
      #expect(seen.notes.count == 2)
      #expect(Array(try #require(seen.notes.first).inserted) == [author])
      #expect(Array(try #require(seen.notes.first).updated).isEmpty)
      #expect(Array(try #require(seen.notes.last).updated) == [author])
      let info = try #require(seen.notes.last).notification.userInfo
      #expect(info?[NSUpdatedObjectsKey] as? Set<ProgramAuthor> == [author])
    }
  }
}
