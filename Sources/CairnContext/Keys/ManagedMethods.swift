import CairnModel
import Foundation

/// Runs the collection methods that Core Data makes for to-many relationships: `addToItems(_:)`,
/// `insertIntoItems(_:at:)` and so on, also in their older spellings (`addItemsObject(_:)`).
struct ManagedMethods {
  let object: ManagedObject

  func perform(_ name: String, _ arguments: [Any]) {
    let first = arguments.first.map { AttributeCoding.unwrapped($0) } ?? nil
    let second = arguments.dropFirst().first.map { AttributeCoding.unwrapped($0) } ?? nil
    if let index = relationship(name, "addTo") ?? relationship(name, "add", "Object") {
      return object.addMembers(members(first), toMany: index)
    }
    if let index = relationship(name, "removeFrom") ?? relationship(name, "remove", "Object") {
      guard let positions = positions(first) else {
        return object.removeMembers(members(first), toMany: index)
      }
      return object.orderedMembers(ofToMany: index).removeObjects(at: positions)
    }
    if let index = relationship(name, "insertInto"), let positions = positions(second) {
      return object.orderedMembers(ofToMany: index).insert(members(first), at: positions)
    }
    if let index = relationship(name, "replace"), let positions = positions(first) {
      return object.orderedMembers(ofToMany: index)
        .replaceObjects(at: positions, with: members(second))
    }
    if let index = relationship(name, "add") {
      return object.addMembers(members(first), toMany: index)
    }
    if let index = relationship(name, "remove") {
      return object.removeMembers(members(first), toMany: index)
    }
    // Programmer misuse: Core Data raises for a method that it cannot make either.
    fatalError(
      "Core Data makes no method \(name) for objects of entity \(object.entity.name ?? "?"): no "
        + "to-many relationship has that name.")
  }

  /// The relationship between the words of a method's name.
  private func relationship(_ name: String, _ prefix: String, _ suffix: String = "") -> Int? {
    guard name.hasPrefix(prefix), name.hasSuffix(suffix),
      name.count > prefix.count + suffix.count
    else { return nil }
    let middle = name.dropFirst(prefix.count).dropLast(suffix.count)
    let lower = middle.prefix(1).lowercased() + middle.dropFirst()
    return object.layout.toManyByName[lower] ?? object.layout.toManyByName[String(middle)]
  }

  private func members(_ value: Any?) -> [ManagedObject] {
    switch value {
    case let one as ManagedObject: return [one]
    case let set as NSSet: return set.allObjects.compactMap { $0 as? ManagedObject }
    case let ordered as NSOrderedSet: return ordered.array.compactMap { $0 as? ManagedObject }
    case let array as NSArray: return array.compactMap { $0 as? ManagedObject }
    case let set as Set<ManagedObject>: return Array(set)
    case let array as [Any]: return array.compactMap { $0 as? ManagedObject }
    default: return []
    }
  }

  private func positions(_ value: Any?) -> IndexSet? {
    switch value {
    case let position as Int: return IndexSet(integer: position)
    case let positions as IndexSet: return positions
    case let positions as NSIndexSet: return IndexSet(positions)
    default: return nil
    }
  }
}

extension ManagedObject {
  /// Runs a collection method declared with `@NSManaged`, for generated code.
  @_spi(Generated)
  public final func performManagedMethod(_ name: String, _ arguments: Any...) {
    ManagedMethods(object: self).perform(name, arguments)
  }
}
