import Foundation

// Filtering and sorting collections in memory, as Foundation's collections do with `NSPredicate`
// and `NSSortDescriptor`.
//
// A predicate or key that does not fit the members is a programmer's error and traps, as
// `evaluate(with:)` does; `ObjectPredicate.test` and `ObjectSortDescriptor.order` throw instead.

extension Sequence {
  /// The members that fulfil the predicate, in their order.
  package func filtered(using predicate: ObjectPredicate) -> [Element] {
    filter { predicate.evaluate(with: $0) }
  }

  /// The members in the order of the descriptors, the first deciding first.
  ///
  /// Members that no descriptor tells apart keep their order. Each key is read once a member.
  package func sorted(using sortDescriptors: [ObjectSortDescriptor]) -> [Element] {
    ObjectSorting.sorted(Array(self), by: sortDescriptors)
  }
}

extension MutableCollection where Self: RandomAccessCollection {
  /// Puts the members in the order of the descriptors, the first deciding first.
  package mutating func sort(using sortDescriptors: [ObjectSortDescriptor]) {
    let sorted = ObjectSorting.sorted(Array(self), by: sortDescriptors)
    for (index, member) in zip(indices, sorted) { self[index] = member }
  }
}

extension NSArray {
  /// The members that fulfil the predicate, in their order.
  public func filtered(using predicate: ObjectPredicate) -> [Any] {
    filter { predicate.evaluate(with: $0) }
  }

  /// The members in the order of the descriptors.
  public func sortedArray(using sortDescriptors: [ObjectSortDescriptor]) -> [Any] {
    ObjectSorting.sorted(Array(self), by: sortDescriptors)
  }
}

extension NSMutableArray {
  /// Removes the members that do not fulfil the predicate.
  public func filter(using predicate: ObjectPredicate) {
    setArray(filtered(using: predicate))
  }

  /// Puts the members in the order of the descriptors.
  public func sort(using sortDescriptors: [ObjectSortDescriptor]) {
    setArray(sortedArray(using: sortDescriptors))
  }
}

extension NSSet {
  /// The members that fulfil the predicate.
  public func filtered(using predicate: ObjectPredicate) -> Set<AnyHashable> {
    Set(allObjects.filter { predicate.evaluate(with: $0) }.compactMap { $0 as? AnyHashable })
  }

  /// The members in the order of the descriptors.
  public func sortedArray(using sortDescriptors: [ObjectSortDescriptor]) -> [Any] {
    ObjectSorting.sorted(allObjects, by: sortDescriptors)
  }
}

extension NSMutableSet {
  /// Removes the members that do not fulfil the predicate.
  public func filter(using predicate: ObjectPredicate) {
    for member in allObjects where !predicate.evaluate(with: member) { remove(member) }
  }
}

extension NSOrderedSet {
  /// The members that fulfil the predicate, in their order.
  public func filtered(using predicate: ObjectPredicate) -> NSOrderedSet {
    NSOrderedSet(array: array.filter { predicate.evaluate(with: $0) })
  }

  /// The members in the order of the descriptors.
  public func sortedArray(using sortDescriptors: [ObjectSortDescriptor]) -> [Any] {
    ObjectSorting.sorted(array, by: sortDescriptors)
  }
}

extension NSMutableOrderedSet {
  /// Removes the members that do not fulfil the predicate.
  public func filter(using predicate: ObjectPredicate) {
    let kept = array.filter { predicate.evaluate(with: $0) }
    removeAllObjects()
    addObjects(from: kept)
  }

  /// Puts the members in the order of the descriptors.
  public func sort(using sortDescriptors: [ObjectSortDescriptor]) {
    let sorted = sortedArray(using: sortDescriptors)
    removeAllObjects()
    addObjects(from: sorted)
  }
}

/// Sorts objects by descriptors, reading each object's keys once.
package enum ObjectSorting {
  /// The objects in order; traps where a descriptor cannot be used.
  package static func sorted<T>(_ objects: [T], by descriptors: [ObjectSortDescriptor]) -> [T] {
    do {
      return try ordered(objects, by: descriptors) { $0 }
    } catch {
      // Descriptors of the program for objects of the program; stores and contexts call `ordered`.
      fatalError("\(error)")
    }
  }

  /// The objects in order; those that no descriptor tells apart keep theirs.
  ///
  /// - Parameter object: gives what the keys are read from.
  /// - Throws: ``PredicateEvaluationError``.
  package static func ordered<T>(
    _ objects: [T], by descriptors: [ObjectSortDescriptor], reading object: (T) -> Any
  ) throws -> [T] {
    if descriptors.isEmpty || objects.isEmpty { return objects }
    let keys = try objects.map { member in
      let member = object(member)
      return try descriptors.map { try $0.sortValue(of: member) }
    }
    let order = try objects.indices.sorted { a, b in
      for (index, descriptor) in descriptors.enumerated() {
        switch try descriptor.order(values: keys[a][index], keys[b][index]) {
        case .orderedAscending: return true
        case .orderedDescending: return false
        case .orderedSame: continue
        }
      }
      return a < b
    }
    return order.map { objects[$0] }
  }
}
