// To-many relationships changed in place.
import CairnContext
import CairnModel
import CairnStore
import Foundation
import Testing

/// Chapter 8.3 and 8.4 of the specification: mutable collections that maintain inverses.
@Suite struct MutableSetTests {
  private func parts(
    _ count: Int, _ body: (ManagedObjectContext, ManagedObject, [ManagedObject]) throws -> Void
  ) throws {
    try WorkshopStack().use { context in
      let whole = context.make("Piece")
      let parts = (0..<count).map { context.make("Piece", ["title": "\($0)"]) }
      whole.setValue(NSOrderedSet(array: parts), forKey: "parts")
      try context.save()
      try body(context, whole, parts)
    }
  }

  private func order(_ whole: ManagedObject) -> String {
    let parts = whole.value(forKey: "parts") as? NSOrderedSet
    return (parts?.array ?? []).compactMap { ($0 as? ManagedObject)?.text("title") }.joined()
  }

  @Test func theSetIsFoundationsMutableSet() throws {
    try WorkshopStack().use { context in
      let worker = context.make("Worker")
      let (a, b) = (context.make("Piece"), context.make("Piece"))
      let set: NSMutableSet = worker.mutableSetValue(forKey: "pieces")
      set.addObjects(from: [a, b])
      #expect(set.count == 2 && set.contains(a) && a.one("maker") === worker)
      #expect(Set(set.allObjects.compactMap { $0 as? ManagedObject }) == [a, b])
      #expect(set.compactMap { $0 as? ManagedObject }.count == 2)
      #expect(worker.mutableSetValue(forKey: "pieces").members == [a, b])
      #expect(set.isEqual(NSSet(array: [a, b])))
      set.minus([a])
      #expect(a.one("maker") == nil)
      set.union([a])
      set.intersect([a])
      #expect(worker.many("pieces") == [a] && b.one("maker") == nil)
      set.setSet([b])
      #expect(worker.many("pieces") == [b] && set.anyObject() as? ManagedObject === b)
      set.removeAllObjects()
      #expect(set.count == 0 && b.one("maker") == nil)
    }
  }

  @Test func theSetShowsChangesMadeElsewhere() throws {
    try WorkshopStack().use { context in
      let worker = context.make("Worker")
      let set = worker.mutableSetValue(forKey: "pieces")
      let piece = context.make("Piece", ["maker": worker])
      #expect(set.contains(piece))
      context.delete(piece)
      context.processPendingChanges()
      #expect(set.count == 0)
    }
  }

  @Test func aCopyOfTheSetIsPlain() throws {
    try WorkshopStack().use { context in
      let worker = context.make("Worker")
      let piece = context.make("Piece", ["maker": worker])
      let copy = try #require(
        worker.mutableSetValue(forKey: "pieces").mutableCopy() as? NSMutableSet)
      copy.remove(piece)
      #expect(copy.count == 0 && worker.many("pieces") == [piece])
    }
  }

  @Test func theOrderedSetIsFoundationsMutableOrderedSet() throws {
    try parts(4) { _, whole, parts in
      let set: NSMutableOrderedSet = whole.mutableOrderedSetValue(forKey: "parts")
      #expect(set.array as? [ManagedObject] == parts && set.count == 4)
      #expect(set.firstObject as? ManagedObject === parts[0])
      #expect(set.lastObject as? ManagedObject === parts[3])
      #expect(set.index(of: parts[2]) == 2 && set[1] as? ManagedObject === parts[1])
      #expect(set.contains(parts[0]) && set.set == Set<AnyHashable>(parts))
      #expect(set.reversed.array as? [ManagedObject] == parts.reversed())
      #expect(set.map { ($0 as? ManagedObject)?.text("title") } == ["0", "1", "2", "3"])
    }
  }

  @Test func insertingMovingExchangingAndReplacingKeepInversesAndOrder() throws {
    try parts(4) { context, whole, parts in
      let set = whole.mutableOrderedSetValue(forKey: "parts")
      set.exchangeObject(at: 0, withObjectAt: 3)
      #expect(order(whole) == "3120")
      set.moveObjects(at: [0, 1], to: 2)
      #expect(order(whole) == "2031")
      let new = context.make("Piece", ["title": "n"])
      set.replaceObject(at: 1, with: new)
      #expect(order(whole) == "2n31" && new.one("whole") === whole)
      #expect(parts[0].one("whole") == nil)
      set.insert(parts[0], at: 0)
      #expect(order(whole) == "02n31" && parts[0].one("whole") === whole)
      set.insert(parts[0], at: 4)
      #expect(order(whole) == "02n31", "a member stays where it is")
      set.removeObjects(at: [0, 4])
      #expect(order(whole) == "2n3" && parts[1].one("whole") == nil)
      set.setObject(parts[1], at: 3)
      set.remove(new)
      #expect(order(whole) == "231")
      set.sort { a, b in
        let (a, b) = ((a as? ManagedObject)?.text("title"), (b as? ManagedObject)?.text("title"))
        return (a ?? "") < (b ?? "") ? .orderedAscending : .orderedDescending
      }
      #expect(order(whole) == "123")
      set.removeAllObjects()
      #expect(order(whole) == "" && parts.allSatisfy { $0.one("whole") == nil })
    }
  }

  @Test func theOrderedSetFollowsChangesMadeElsewhere() throws {
    try parts(3) { context, whole, parts in
      let set = whole.mutableOrderedSetValue(forKey: "parts")
      parts[1].setValue(nil, forKey: "whole")
      #expect(set.array as? [ManagedObject] == [parts[0], parts[2]])
      parts[1].setValue(whole, forKey: "whole")
      #expect(set.lastObject as? ManagedObject === parts[1])
      whole.setValue(NSOrderedSet(array: parts), forKey: "parts")
      #expect(set.array as? [ManagedObject] == parts)
      context.rollback()
      #expect(set.array as? [ManagedObject] == parts)
      context.delete(parts[0])
      context.processPendingChanges()
      #expect(set.firstObject as? ManagedObject === parts[1] && set.count == 2)
    }
  }

  @Test func aNewOrderIsAChangeAndIsSaved() throws {
    let stack = try WorkshopStack()
    let id = try stack.use { context in
      let whole = context.make("Piece")
      let parts = (0..<3).map { context.make("Piece", ["title": "\($0)"]) }
      whole.setValue(NSOrderedSet(array: parts), forKey: "parts")
      try context.save()
      whole.mutableOrderedSetValue(forKey: "parts").moveObjects(at: [2], to: 0)
      #expect(whole.hasPersistentChangedValues && context.updatedObjects.contains(whole))
      try context.save()
      return whole.objectID
    }
    try stack.use { context in
      let whole = try context.existingObject(with: id)
      #expect(order(whole) == "201")
    }
  }

  @Test func reachingTheSetAgainAndAgainCostsNothing() throws {
    try WorkshopStack().use { context in
      let whole = context.make("Piece")
      let start = Date()
      for _ in 0..<3000 {
        whole.mutableOrderedSetValue(forKey: "parts").add(context.make("Piece"))
      }
      #expect(whole.mutableOrderedSetValue(forKey: "parts").count == 3000)
      #expect(Date().timeIntervalSince(start) < 20, "copying the members each time takes minutes")
    }
  }

  @Test func aKeyPathLeadsToTheSetOfItsLastObject() throws {
    try parts(1) { context, whole, parts in
      let worker = context.make("Worker")
      whole.setValue(worker, forKey: "maker")
      whole.mutableSetValue(forKeyPath: "maker.pieces").add(parts[0])
      #expect(parts[0].one("maker") === worker)
    }
  }

  @Test func aMemberOfAnotherEntityTraps() async {
    await #expect(processExitsWith: .failure) {
      try WorkshopStack().use { context in
        let worker = context.make("Worker")
        worker.mutableSetValue(forKey: "pieces").add(context.make("Worker"))
      }
    }
  }

  @Test func objectIDsOfARelationshipMakeNoObjects() throws {
    let stack = try WorkshopStack()
    let id = try stack.use { context in
      let worker = context.make("Worker")
      for _ in 0..<3 { context.make("Piece", ["maker": worker]) }
      try context.save()
      return worker.objectID
    }
    try stack.use { context in
      let worker = try context.existingObject(with: id)
      #expect(worker.objectIDs(forRelationshipNamed: "pieces").count == 3)
      #expect(context.registeredObjects == [worker])
      #expect(worker.hasFault(forRelationshipNamed: "pieces"))
      let new = context.make("Piece", ["maker": worker])
      #expect(worker.objectIDs(forRelationshipNamed: "pieces").count == 4)
      new.setValue(nil, forKey: "maker")
      #expect(worker.objectIDs(forRelationshipNamed: "pieces").count == 3)
    }
  }
}
