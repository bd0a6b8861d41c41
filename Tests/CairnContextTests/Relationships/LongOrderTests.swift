// Ordered relationships with more members than one piece of their list holds.
@_spi(Runtime) import CairnContext
import CairnModel
import CairnStore
import Foundation
import Testing

/// Chapter 8.3 of the specification: ordered members, changed in every way, against a plain array.
@Suite struct LongOrderTests {
  /// A whole with parts, a set that a program holds, and what they must be.
  private struct Duel {
    let context: ManagedObjectContext
    let whole: ManagedObject
    let set: ManagedObjectOrderedSet
    var list: [ManagedObject]
    var rest: [ManagedObject]
    var random: SeededGenerator

    mutating func place(_ count: Int) -> Int {
      [0, count, Int.random(in: 0...count, using: &random)].randomElement(using: &random) ?? 0
    }

    /// Some members, in their order.
    mutating func some() -> [ManagedObject] {
      let count = Int.random(in: 0...min(list.count, 40), using: &random)
      let start = Int.random(in: 0...(list.count - count), using: &random)
      return Array(list[start..<(start + count)])
    }

    mutating func step() throws -> String {
      let kind = Int.random(in: 0..<12, using: &random)
      switch kind {
      case 0, 1:
        let position = place(list.count)
        guard let new = rest.popLast() else { break }
        list.insert(new, at: position)
        set.insert(new, at: position)
      case 2, 3:
        guard !list.isEmpty else { break }
        let position = min(place(list.count), list.count - 1)
        rest.append(list.remove(at: position))
        if kind == 2 { set.removeObject(at: position) } else { set.remove(rest[rest.count - 1]) }
      case 4:
        guard let member = list.randomElement(using: &random) else { break }
        list.removeAll { $0 === member }
        member.setValue(nil, forKey: "whole")
        rest.append(member)
      case 5:
        guard let new = rest.popLast() else { break }
        list.append(new)
        new.setValue(whole, forKey: "whole")
      case 6:
        let gone = some()
        list.removeAll(where: Set(gone).contains)
        for member in gone { context.delete(member) }
        context.processPendingChanges()
      case 7:
        let gone = some()
        list.removeAll(where: Set(gone).contains)
        rest += gone
        set.removeObjects(in: gone)
      case 8:
        let new = Array(rest.suffix(20))
        rest.removeLast(new.count)
        list += new
        set.addObjects(from: new)
      case 9:
        guard list.count > 2 else { break }
        let (a, b) = (0, Int.random(in: 1..<list.count, using: &random))
        list.swapAt(a, b)
        set.exchangeObject(at: a, withObjectAt: b)
      case 10:
        list = list.filter { _ in Int.random(in: 0..<50, using: &random) > 0 }
        rest += set.members.filter { !Set(list).contains($0) }
        whole.setValue(NSOrderedSet(array: list), forKey: "parts")
      default: try takeBack()
      }
      return "kind \(kind)"
    }

    /// An event that is undone, redone and undone again, and one that is saved.
    private mutating func takeBack() throws {
      context.processPendingChanges()
      let manager = UndoManager()
      context.undoManager = manager
      let before = list
      for member in some() { set.remove(member) }
      set.insert(context.make("Piece"), at: place(set.count))
      context.processPendingChanges()
      let after = set.members
      context.undo()
      #expect(set.members == before)
      context.redo()
      #expect(set.members == after)
      context.undo()
      context.undoManager = nil
      try context.save()
    }

    /// What of the set and of the object is not as in the list.
    mutating func differences() -> [String] {
      var found: [String] = []
      func check(_ holds: Bool, _ what: String) { if !holds { found.append(what) } }
      let value = whole.value(forKey: "parts") as? NSOrderedSet
      check(value?.array as? [ManagedObject] == list, "value")
      check(set.members == list, "members")
      check(set.array as? [ManagedObject] == list, "array")
      check(set.compactMap { $0 as? ManagedObject } == list, "sequence")
      check(set.reversed.array as? [ManagedObject] == list.reversed(), "reversed")
      check(set.count == list.count, "count")
      check(set.firstObject as? ManagedObject === list.first, "first")
      check(set.lastObject as? ManagedObject === list.last, "last")
      if let place = list.indices.randomElement(using: &random) {
        check(set.index(of: list[place]) == place, "index")
        check(set.object(at: place) as? ManagedObject === list[place], "object")
        check(set.contains(list[place]) && list[place].one("whole") === whole, "inverse")
      }
      if let stranger = rest.last {
        check(!set.contains(stranger) && stranger.one("whole") == nil, "stranger")
        check(set.index(of: stranger) == NSNotFound, "no index")
      }
      return found
    }
  }

  @Test(arguments: RandomisedTests.seeds)
  func everyWayToChangeALongOrderIsAsWithAnArray(seed: UInt64) throws {
    print("seed \(seed)")
    let stack = try WorkshopStack()
    let (id, keys) = try stack.use { context in
      let whole = context.make("Piece")
      let parts = (0..<1600).map { context.make("Piece", ["weight": Double($0)]) }
      whole.setValue(NSOrderedSet(array: Array(parts[..<1400])), forKey: "parts")
      try context.save()
      var duel = Duel(
        context: context, whole: whole, set: whole.mutableOrderedSetValue(forKey: "parts"),
        list: Array(parts[..<1400]), rest: Array(parts[1400...]),
        random: SeededGenerator(seed: seed))
      for number in 0..<160 {
        let what = try duel.step()
        if number % 5 > 0 { continue }
        try #require(duel.differences() == [], "seed \(seed), step \(number), \(what)")
      }
      try context.save()
      return (whole.objectID, duel.list.map { $0.number("weight") })
    }
    try stack.use { context in
      let parts = try context.existingObject(with: id).value(forKey: "parts") as? NSOrderedSet
      #expect(parts?.array.map { ($0 as? ManagedObject)?.number("weight") } == keys)
    }
  }

  @Test func theValueBeforeALongEventIsKnown() throws {
    try WorkshopStack().use { context in
      let whole = context.make("Piece")
      let parts = (0..<1300).map { _ in context.make("Piece") }
      whole.setValue(NSOrderedSet(array: parts), forKey: "parts")
      try context.save()
      let set = whole.mutableOrderedSetValue(forKey: "parts")
      for member in parts[600..<900] { set.remove(member) }
      set.insert(parts[650], at: 0)
      set.insert(context.make("Piece"), at: 500)
      set.exchangeObject(at: 3, withObjectAt: 1000)
      for _ in 0..<400 { set.removeObject(at: 0) }
      let old = whole.changedValuesForCurrentEvent()["parts"] as? NSOrderedSet
      #expect(old?.array as? [ManagedObject] == parts)
    }
  }

  @Test func foundationsOtherWayToAddReachesTheObject() throws {
    try WorkshopStack().use { context in
      let whole = context.make("Piece")
      let parts: [AnyObject] = [context.make("Piece"), context.make("Piece")]
      let set: NSMutableOrderedSet = whole.mutableOrderedSetValue(forKey: "parts")
      parts.withUnsafeBufferPointer { set.add($0.baseAddress, count: $0.count) }
      #expect(set.count == 2 && (whole.value(forKey: "parts") as? NSOrderedSet)?.count == 2)
      #expect((parts[1] as? ManagedObject)?.one("whole") === whole)
    }
  }

  @Test func aMethodOfTheProgramSeesTheOrderAsItIsInTheMiddleOfAnEvent() throws {
    Watchman.registerClass(forEntityName: "Watchman")
    let (post, watchman) = (EntityDescription(name: "Post"), EntityDescription(name: "Watchman"))
    let gate = EntityDescription(name: "Gate")
    let (posts, owner) = (Workshop.toMany("posts", ordered: true), Workshop.toOne("gate"))
    Workshop.link(posts, to: post, owner, to: gate)
    let (watchmen, place) = (Workshop.toMany("watchmen", .cascade), Workshop.toOne("post"))
    Workshop.link(watchmen, to: watchman, place, to: post)
    (gate.properties, post.properties, watchman.properties) = ([posts], [owner, watchmen], [place])
    let model = ManagedObjectModel()
    model.entities = [post, watchman, gate]
    try WorkshopStack(model: model).use { context in
      let gate = context.make("Gate")
      let posts = (0..<4).map { _ in context.make("Post") }
      gate.setValue(NSOrderedSet(array: posts), forKey: "posts")
      let set = gate.mutableOrderedSetValue(forKey: "posts")
      let guards = (0..<2).map { number in
        let guardian = context.make("Watchman", ["post": posts[number * 2]])
        (guardian as? Watchman)?.watched = set
        return guardian
      }
      try context.save()
      for post in posts[..<3] { context.delete(post) }
      context.processPendingChanges()
      // Each was asked when the posts up to its own had left.
      let seen = guards.map { ($0 as? Watchman)?.seen ?? [] }
      #expect(seen == [Array(posts[1...]), Array(posts[3...])])
      #expect(set.firstObject as? ManagedObject === posts[3] && set.array.count == 1)
    }
  }
}

/// Notes which members an ordered set shows, without any method that could be overridden, when it is
/// about to be deleted.
final class Watchman: ManagedObject {
  var watched: NSMutableOrderedSet?
  var seen: [ManagedObject] = []

  override func prepareForDeletion() {
    seen = watched?.compactMap { $0 as? ManagedObject } ?? []
  }
}
