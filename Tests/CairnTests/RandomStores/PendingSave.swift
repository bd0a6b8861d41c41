// What a save of a random store is about to write, and what must hold of the file afterwards.

import Cairn
import Foundation

/// The changes of a context, noted before it saves.
///
/// Whatever the merge policy: what the context shows of them after a save that was acknowledged is
/// what is stored, and nothing else that was stored before has changed.
struct PendingSave {
  typealias Contents = [String: [String: String]]
  private let policy: MergePolicyType
  private let inserted: [ManagedObject]
  private let updated: [(object: ManagedObject, names: Set<String>)]
  private let deleted: Set<String>
  private let entities: [String: EntityDescription]
  /// Whether a merge policy may give way to a uniqueness constraint, at the cost of others' objects.
  private let mayYield: Bool

  init(_ context: ManagedObjectContext, hasUniqueValues: Bool) {
    policy = (context.mergePolicy as? MergePolicy)?.mergeType ?? .errorMergePolicyType
    mayYield = hasUniqueValues && policy != .errorMergePolicyType
    inserted = Array(context.insertedObjects)
    updated = context.updatedObjects.map { ($0, Set($0.changedValues().keys)) }
    deleted = Set(context.deletedObjects.map(RandomValues.key))
    entities = context.persistentStoreCoordinator?.managedObjectModel.entitiesByName ?? [:]
  }

  /// What does not hold after the save was acknowledged; called before the context forgets what it
  /// has in memory.
  func problems(before: Contents, after: Contents) -> [String] {
    var problems: [String] = []
    for (object, names) in inserted.map({ ($0, nil as Set<String>?) })
      + updated.map({ ($0.object, $0.names) })
    where object.managedObjectContext != nil && !object.isDeleted {
      let key = RandomValues.key(object)
      guard let stored = after[key] else {
        // Another program's deletion may have won.
        if names == nil || before[key] != nil { problems.append("\(key) was saved and is gone") }
        continue
      }
      let shown = RandomValues.contents(of: object, isFresh: false)
      for (name, value) in shown where names?.contains(name) ?? true {
        if isToMany(name, key) || stored[name] == value { continue }
        problems.append("\(key) \(name) was saved as \(value) and is \(stored[name] ?? "nothing")")
      }
    }
    return problems + bystanders(before: before, after: after)
  }

  /// Whether a deletion that prevails over another program's changes takes along what those have
  /// related to the object.
  private var mayCascade: Bool {
    !deleted.isEmpty && policy != .errorMergePolicyType
  }

  /// What has changed without the save's having changed it.
  private func bystanders(before: Contents, after: Contents) -> [String] {
    var changed: [String: Set<String>] = [:]
    for (object, names) in updated { changed[RandomValues.key(object)] = names }
    var problems: [String] = []
    for (key, old) in before where !mayYield {
      guard let new = after[key] else {
        if !deleted.contains(key), !mayCascade {
          problems.append("\(key) was not deleted and is gone")
        }
        continue
      }
      // The row of an object that is overwritten is the object's.
      if policy == .overwriteMergePolicyType, changed[key] != nil { continue }
      for (name, value) in old where isPlain(name, key) && new[name] != value {
        if changed[key]?.contains(name) == true { continue }
        problems.append("\(key) \(name) was not changed and is \(new[name] ?? "nothing")")
      }
    }
    return problems
  }

  private func property(_ name: String, _ key: String) -> PropertyDescription? {
    entities[String(key.split(separator: "/").first ?? "")]?.propertiesByName[name]
  }

  private func isToMany(_ name: String, _ key: String) -> Bool {
    (property(name, key) as? RelationshipDescription)?.isToMany == true
  }

  private func isPlain(_ name: String, _ key: String) -> Bool {
    guard let attribute = property(name, key) as? AttributeDescription else { return false }
    return !(attribute is DerivedAttributeDescription)
  }
}
