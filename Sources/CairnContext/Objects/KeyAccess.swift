import CairnModel
import Foundation

/// Reading and writing an object's properties by name, on top of its slots.
struct KeyAccess {
  let object: ManagedObject

  // MARK: Reading

  func value(forKey key: String) -> Any? {
    object.willAccessValue(forKey: key)
    defer { object.didAccessValue(forKey: key) }
    if let slot = object.layout.slotByName[key] { return value(at: slot) }
    if let index = object.layout.toManyByName[key] {
      return collection(of: object.loadedToMany(index))
    }
    return otherValue(forKey: key, value: { value(at: $0) })
  }

  func primitiveValue(forKey key: String) -> Any? {
    if let slot = object.layout.slotByName[key] {
      return object.slots == nil ? nil : value(at: slot)
    }
    if let index = object.layout.toManyByName[key] {
      return collection(of: object.loadedToMany(index))
    }
    return otherValue(forKey: key, value: { object.slots == nil ? nil : value(at: $0) })
  }

  private func value(at slot: Int) -> Any? {
    let content = object.layout.slots[slot].content
    switch content {
    case .toOne:
      guard case .object(let id) = object.storedValue(at: slot) else { return nil }
      return object.requiredContext.object(with: id)
    case .attribute(let attribute):
      if attribute.attributeType == .undefined { return object.looseValues?[attribute.name] }
      return AttributeCoding.decode(object.storedValue(at: slot), for: attribute)
    }
  }

  private func collection(of value: ToManyValue) -> Any {
    if value.isOrdered { return NSOrderedSet(array: value.order) }
    return value.members
  }

  private func otherValue(forKey key: String, value: (Int) -> Any?) -> Any? {
    switch key {
    case "objectID": return object.objectID
    case "self", "SELF": return object
    case "entity": return object.entity
    default: break
    }
    let leaves = compositeLeaves(key)
    if !leaves.isEmpty {
      var result: [String: Any] = [:]
      for (path, slot) in leaves {
        if let value = value(slot) { Self.put(value, at: path[...], in: &result) }
      }
      return result.isEmpty ? nil : result
    }
    if object.layout.fetchedProperties[key] != nil {
      return FetchedPropertyReading(object: object).value(forKey: key)
    }
    return object.value(forUndefinedKey: key)
  }

  /// The slots of a composite attribute with their paths below it.
  private func compositeLeaves(_ key: String) -> [(path: [String], slot: Int)] {
    guard object.entity.attributesByName[key] is CompositeAttributeDescription else { return [] }
    let prefix = key + "."
    return object.layout.slots.enumerated().compactMap { slot, description in
      guard description.name.hasPrefix(prefix) else { return nil }
      let path = description.name.dropFirst(prefix.count).split(separator: ".").map(String.init)
      return (path, slot)
    }
  }

  private static func put(
    _ value: Any, at path: ArraySlice<String>, in dictionary: inout [String: Any]
  ) {
    guard let first = path.first else { return }
    if path.count == 1 {
      dictionary[first] = value
    } else {
      var nested = dictionary[first] as? [String: Any] ?? [:]
      put(value, at: path.dropFirst(), in: &nested)
      dictionary[first] = nested
    }
  }

  // MARK: Writing

  func setValue(_ value: Any?, forKey key: String) {
    if let slot = object.layout.slotByName[key] {
      switch object.layout.slots[slot].content {
      case .attribute(let attribute): set(value, for: attribute, at: slot, tracked: true)
      case .toOne(let relationship):
        InverseMaintenance.setToOne(
          of: object, at: slot, to: destination(value, for: relationship))
      }
    } else if let index = object.layout.toManyByName[key] {
      InverseMaintenance.setMembers(
        of: object, at: index, to: members(value, for: object.layout.toManys[index]))
    } else {
      setOtherValue(value, forKey: key, tracked: true)
    }
  }

  func setPrimitiveValue(_ value: Any?, forKey key: String) {
    if let slot = object.layout.slotByName[key] {
      switch object.layout.slots[slot].content {
      case .attribute(let attribute): set(value, for: attribute, at: slot, tracked: false)
      case .toOne(let relationship):
        let destination = destination(value, for: relationship)
        store(destination.map { .object($0.objectID) } ?? .null, at: slot, tracked: false)
      }
    } else if let index = object.layout.toManyByName[key] {
      let members = members(value, for: object.layout.toManys[index])
      let holder = object.loadedToMany(index)
      let wanted = Set(members)
      for member in holder.current where !wanted.contains(member) { _ = holder.remove(member) }
      for member in members { _ = holder.add(member) }
      holder.reorder(members)
    } else {
      setOtherValue(value, forKey: key, tracked: false)
    }
  }

  private func setOtherValue(_ value: Any?, forKey key: String, tracked: Bool) {
    let leaves = compositeLeaves(key)
    guard !leaves.isEmpty else { return object.setValue(value, forUndefinedKey: key) }
    let dictionary = AttributeCoding.unwrapped(value) as? [String: Any] ?? [:]
    for (path, slot) in leaves {
      guard case .attribute(let attribute) = object.layout.slots[slot].content else { continue }
      var part: Any? = dictionary
      for step in path { part = (part as? [String: Any])?[step] }
      set(part, for: attribute, at: slot, tracked: tracked)
    }
  }

  private func set(
    _ value: Any?, for attribute: AttributeDescription, at slot: Int, tracked: Bool
  ) {
    if attribute.attributeType == .undefined {
      if tracked { object.prepareToWrite(slot) }
      object.looseValues = object.looseValues ?? [:]
      object.looseValues?[attribute.name] = AttributeCoding.unwrapped(value)
      return
    }
    do {
      store(try AttributeCoding.encode(value, for: attribute), at: slot, tracked: tracked)
    } catch {
      // Core Data raises an exception here, which no Swift program can catch either.
      // Values from outside go through AttributeCoding or RecordCoding, which throw.
      fatalError("\(error)")
    }
  }

  private func store(_ value: AttributeValue, at slot: Int, tracked: Bool) {
    if tracked {
      object.write(value, at: slot)
    } else {
      if !object.flags.contains(.awaking) { object.changedSlots.insert(slot) }
      object.writeSilently(value, at: slot)
    }
  }

  // MARK: Checking

  private func destination(
    _ value: Any?, for relationship: RelationshipDescription
  ) -> ManagedObject? {
    guard let value = AttributeCoding.unwrapped(value) else { return nil }
    guard let destination = value as? ManagedObject else {
      RelationshipChecks.refuse(value, for: relationship)
    }
    return destination
  }

  private func member(_ value: Any, for relationship: RelationshipDescription) -> ManagedObject {
    guard let member = value as? ManagedObject else {
      RelationshipChecks.refuse(value, for: relationship)
    }
    return member
  }

  private func members(
    _ value: Any?, for relationship: RelationshipDescription
  ) -> [ManagedObject] {
    guard let value = AttributeCoding.unwrapped(value) else { return [] }
    switch value {
    case let set as Set<ManagedObject>: return Array(set)
    case let array as [ManagedObject]: return array
    case let ordered as NSOrderedSet:
      return ordered.map { member($0, for: relationship) }
    case let set as NSSet: return set.map { member($0, for: relationship) }
    case let set as Set<AnyHashable>: return set.map { member($0.base, for: relationship) }
    default: RelationshipChecks.refuse(value, for: relationship)
    }
  }
}

extension ManagedObject {
  /// The value at the end of a key path, such as `department.name`.
  ///
  /// A to-many step on the way gives the set of its members' values.
  public func value(forKeyPath keyPath: String) -> Any? {
    guard let dot = keyPath.firstIndex(of: ".") else { return value(forKey: keyPath) }
    if layout.slotByName[keyPath] != nil { return value(forKey: keyPath) }
    let rest = String(keyPath[keyPath.index(after: dot)...])
    switch value(forKey: String(keyPath[..<dot])) {
    case let next as ManagedObject: return next.value(forKeyPath: rest)
    case let members as Set<ManagedObject>:
      return Set(members.compactMap { $0.value(forKeyPath: rest) as? AnyHashable })
    case let members as NSOrderedSet:
      return members.compactMap { ($0 as? ManagedObject)?.value(forKeyPath: rest) as? AnyHashable }
    case let composite as [String: Any]:
      return rest.split(separator: ".").reduce(composite as Any?) { part, step in
        (part as? [String: Any])?[String(step)]
      }
    default: return nil
    }
  }

  /// Sets the value at the end of a key path through to-one relationships; does nothing when a
  /// step on the way is nil.
  public func setValue(_ value: Any?, forKeyPath keyPath: String) {
    guard let dot = keyPath.firstIndex(of: "."), layout.slotByName[keyPath] == nil else {
      return setValue(value, forKey: keyPath)
    }
    let next = self.value(forKey: String(keyPath[..<dot])) as? ManagedObject
    next?.setValue(value, forKeyPath: String(keyPath[keyPath.index(after: dot)...]))
  }
}
