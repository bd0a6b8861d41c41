// How a context differs from the dictionaries.
import CairnModel
import CairnStore
import Foundation

@testable import CairnContext

extension ContextTwin {
  private func record(_ key: Int, _ kind: Kind) -> PlainRecord {
    let object = object(key)
    func keys(_ name: String) -> Set<Int> { Set(object.many(name).map(key(of:))) }
    switch kind {
    case .author:
      return PlainRecord(
        text: object.text("name"), sets: ["books": keys("books"), "friends": keys("friends")])
    case .book:
      let chapters = object.mutableOrderedSetValue(forKey: "chapters").members
      return PlainRecord(
        text: object.text("title"), number: object.number("pages"),
        one: object.one("author").map(key(of:)), sets: ["tags": keys("tags")],
        list: chapters.map(key(of:)))
    case .tag: return PlainRecord(text: object.text("label"), sets: ["works": keys("works")])
    case .chapter:
      return PlainRecord(text: object.text("title"), one: object.one("book").map(key(of:)))
    }
  }

  /// The differences between the context and the dictionaries.
  func differences(reading: Bool) throws -> [String] {
    var found: [String] = []
    if reading {
      for kind in Kind.allCases {
        let objects = try context.all(kind.rawValue)
        let fetched = Set(objects.map(key(of:)))
        if fetched != Set(current.keys(kind)) {
          found.append("fetched \(kind) \(fetched.sorted()), not \(current.keys(kind))")
        }
      }
      for (key, kind) in current.kinds {
        let seen = record(key, kind)
        if let wanted = current.record(key), seen != wanted {
          found.append("\(kind) \(key) is \(seen), not \(wanted)")
        }
      }
    }
    let inserted = Set(context.insertedObjects.map(key(of:)))
    let deleted = Set(context.deletedObjects.map(key(of:)))
    let (now, before) = (Set(current.kinds.keys), Set(committed.kinds.keys))
    if inserted != now.subtracting(before) { found.append("inserted \(inserted.sorted())") }
    if deleted != before.subtracting(now) { found.append("deleted \(deleted.sorted())") }
    let changed = Set(now.intersection(before).filter { !isSaved($0) })
    let updated = Set(
      context.updatedObjects.filter(\.hasPersistentChangedValues).map(key(of:)))
    if !updated.isSuperset(of: changed) {
      found.append("updated \(updated.sorted()) lacks some of \(changed.sorted())")
    }
    // A list put back into its old order still counts as reordered.
    let surplus = updated.subtracting(changed).filter { current.kinds[$0] != .book }
    if !surplus.isEmpty {
      found.append(
        "updated without a difference: "
          + surplus.sorted().map { "\($0) \(object($0).changedValues().keys.sorted())" }
          .joined(separator: ", "))
    }
    let ids = context.registry.objects.map(\.objectID)
    if Set(ids).count != ids.count { found.append("an ID is registered twice") }
    return found
  }

  /// What a context that knows nothing reads.
  func committedDifferences() throws -> [String] {
    let fresh = reader()
    return try fresh.context.performAndWait { try fresh.differences(reading: true) }
  }
}
