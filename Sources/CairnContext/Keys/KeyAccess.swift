import CairnModel
import CairnPredicates
import Foundation

/// The value of a transformable attribute that its transformer refused; reported by validation.
struct RefusedValue {
  let value: Any?
  let reason: String
}

/// The value of a transformable attribute and the data it stands for, so that it is decoded once and
/// stays the same object while the data does.
struct DecodedValue {
  let data: Data
  let value: Any?
}

/// Reading and writing an object's properties by name, on top of its slots.
struct KeyAccess {
  let object: ManagedObject

  // MARK: Reading

  /// What the class answers for the key where it has an accessor of its own, and what the model's property has otherwise.
  func value(forKey key: String) -> Any? {
    if let accessor = type(of: object).keyAccessors[key] ?? classReader(of: key) {
      return accessor.value(in: object)
    }
    return modelValue(forKey: key)
  }

  /// What the object holds for the key, whatever accessor its class has: `@NSManaged` properties and stores ask for this.
  func modelValue(forKey key: String) -> Any? {
    let slot = object.layout.slotByName[key]
    let index = slot == nil ? object.layout.toManyByName[key] : nil
    if slot == nil, index == nil, let reader = ownReader(of: key) { return reader(object) }
    object.willAccessValue(forKey: key)
    defer { object.didAccessValue(forKey: key) }
    if let slot { return value(at: slot) }
    if let index { return collection(of: object.loadedToMany(index)) }
    return otherValue(forKey: key, asksClass: true, value: { value(at: $0) })
  }

  /// What every object tells about itself under the key; nil where the model has a property of that name.
  private func ownReader(of key: String) -> (@Sendable (ManagedObject) -> Any?)? {
    guard let reader = OwnKeys.readers[key], object.entity.propertiesByName[key] == nil else {
      return nil
    }
    return reader
  }

  private func classReader(of key: String) -> KeyAccessor? {
    answersForItself ? ClassProperties.accessor(of: key, in: object) : nil
  }

  private func classWriter(of key: String) -> KeyAccessor? {
    answersForItself ? ClassProperties.writer(of: key, in: object) : nil
  }

  /// Whether the class has a property of exactly that name, see ``ClassProperties``.
  func hasClassProperty(_ key: String) -> Bool { classReader(of: key) != nil }

  /// Whether the class may have properties of its own that key-value access is to find.
  private var answersForItself: Bool { object.flags.contains(.hasClassProperties) }

  func primitiveValue(forKey key: String) -> Any? {
    if let slot = object.layout.slotByName[key] {
      return object.slots == nil ? nil : value(at: slot)
    }
    if let index = object.layout.toManyByName[key] {
      return object.layout.toManys[index].isOrdered
        ? ManagedObjectOrderedSet(object: object, index: index, isPrimitive: true)
        : object.primitiveMembers(toMany: index)
    }
    if let reader = ownReader(of: key) { return reader(object) }
    return otherValue(
      forKey: key, asksClass: false, value: { object.slots == nil ? nil : value(at: $0) })
  }

  private func value(at slot: Int) -> Any? {
    let content = object.layout.slots[slot].content
    switch content {
    case .toOne:
      return object.destination(at: slot)
    case .attribute(let attribute):
      if attribute.attributeType == .undefined { return object.looseValue(attribute.name) }
      if attribute.attributeType == .transformable { return transformed(attribute, at: slot) }
      return AttributeCoding.decode(object.storedValue(at: slot), for: attribute)
    }
  }

  /// The value of a transformable attribute: the one that was set or decoded last.
  private func transformed(_ attribute: AttributeDescription, at slot: Int) -> Any? {
    let stored = object.storedValue(at: slot)
    let known = object.looseValue(object.layout.slots[slot].name)
    guard case .data(let data) = stored else { return (known as? RefusedValue)?.value }
    if let known = known as? DecodedValue, known.data == data { return known.value }
    let value = TransformableCoding.object(from: data, for: attribute)
    remember(DecodedValue(data: data, value: value), at: slot)
    return value
  }

  /// Whether the slot holds data that reads as nil because no transformer can decode it.
  ///
  /// A program that sets nil there sets what it has read, and the data stay.
  private func isUnreadable(_ attribute: AttributeDescription, at slot: Int) -> Bool {
    guard attribute.attributeType == .transformable,
      case .data = object.storedValue(at: slot)
    else { return false }
    return transformed(attribute, at: slot) == nil
  }

  private func remember(_ value: Any, at slot: Int) {
    object.setLooseValue(value, object.layout.slots[slot].name)
  }

  private func collection(of value: ToManyValue) -> Any {
    if value.isOrdered { return NSOrderedSet(array: value.order) }
    return value.members
  }

  /// - Parameter asksClass: Whether a property that only the class has is meant too.
  private func otherValue(
    forKey key: String, asksClass: Bool, value: (Int) -> Any?
  ) -> Any? {
    if let leaves = object.layout.composites[key] {
      return composite(key, leaves, value: value)
    }
    if object.layout.fetchedProperties[key] != nil {
      return FetchedPropertyReading(object: object).value(forKey: key)
    }
    if asksClass, let accessor = ClassProperties.reader(of: key, in: object) {
      return accessor.value(in: object)
    }
    return object.value(forUndefinedKey: key)
  }

  /// A composite attribute as the dictionary of its elements; nil when none has a value.
  func composite(_ key: String, _ leaves: [Int], value: (Int) -> Any?) -> [String: Any]? {
    var result: [String: Any] = [:]
    for slot in leaves {
      guard let value = value(slot) else { continue }
      ElementDictionary.put(value, at: path(to: slot), in: &result)
    }
    return result.isEmpty ? nil : result
  }

  /// The steps from a composite attribute to a leaf of it.
  private func path(to slot: Int) -> ArraySlice<Substring> {
    object.layout.slots[slot].name.split(separator: ".").dropFirst()
  }

  // MARK: Writing

  func setValue(_ value: Any?, forKey key: String) {
    if let accessor = type(of: object).keyAccessors[key] ?? classWriter(of: key) {
      return accessor.set(value, forKey: key, in: object)
    }
    setModelValue(value, forKey: key)
  }

  /// Sets what the object holds for the key, whatever accessor its class has.
  func setModelValue(_ value: Any?, forKey key: String) {
    if let slot = object.layout.slotByName[key] {
      switch object.layout.slots[slot].content {
      case .attribute(let attribute):
        object.announcing(key) { set(value, for: attribute, at: slot, tracked: true) }
      case .toOne(let relationship):
        object.changeDestination(destination(value, for: relationship), at: slot)
      }
    } else if let index = object.layout.toManyByName[key] {
      // The whole value is set, not members of it.
      let members = members(value, for: object.layout.toManys[index])
      object.announcing(key) {
        InverseMaintenance.setMembers(of: object, at: index, to: members)
      }
    } else if object.layout.composites[key] != nil {
      object.announcing(key) { setOtherValue(value, forKey: key, tracked: true) }
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
      object.setPrimitiveMembers(
        members(value, for: object.layout.toManys[index]), toMany: index)
    } else {
      setOtherValue(value, forKey: key, tracked: false)
    }
  }

  private func setOtherValue(_ value: Any?, forKey key: String, tracked: Bool) {
    guard let leaves = object.layout.composites[key] else {
      if tracked, let accessor = ClassProperties.writer(of: key, in: object) {
        return accessor.set(value, forKey: key, in: object)
      }
      return object.setValue(value, forUndefinedKey: key)
    }
    let given = AttributeCoding.unwrapped(value)
    let dictionary = given as? [String: Any]
    if let given, dictionary == nil {
      // As for every other attribute; the value is the program's. Those from outside are set part by part, through
      // AttributeCoding or RecordCoding, which throw.
      fatalError(
        "Unacceptable type of value for attribute: property = \"\(key)\"; desired type = "
          + "NSDictionary; given type = \(type(of: given)); value = \(given).")
    }
    for slot in leaves {
      guard case .attribute(let attribute) = object.layout.slots[slot].content else { continue }
      var part: Any? = dictionary
      for step in path(to: slot) { part = (part as? [String: Any])?[String(step)] }
      set(part, for: attribute, at: slot, tracked: tracked)
    }
  }

  private func set(
    _ value: Any?, for attribute: AttributeDescription, at slot: Int, tracked: Bool
  ) {
    if attribute.attributeType == .undefined {
      if tracked {
        object.writeLoose(AttributeCoding.unwrapped(value), at: slot)
        return
      }
      object.setLooseValue(AttributeCoding.unwrapped(value), attribute.name)
      return
    }
    if AttributeCoding.unwrapped(value) == nil, isUnreadable(attribute, at: slot) { return }
    do {
      let encoded = try AttributeCoding.encode(value, for: attribute)
      store(encoded, at: slot, tracked: tracked)
      guard attribute.attributeType == .transformable else { return }
      if case .data(let data) = encoded {
        remember(DecodedValue(data: data, value: AttributeCoding.unwrapped(value)), at: slot)
      } else {
        object.setLooseValue(nil, object.layout.slots[slot].name)
      }
    } catch  where attribute.attributeType == .transformable {
      // What a transformer refuses, or is of another class, may depend on data: a program copies what it has read from
      // a file. Validation reports it.
      store(.null, at: slot, tracked: tracked)
      remember(RefusedValue(value: value, reason: "\(error)"), at: slot)
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
      if !object.flags.contains(.awaking) { object.countAsChanged(slot) }
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
    // Unlike elsewhere it does not stand for nil.
    if value is NSNull { RelationshipChecks.refuse(collection: NSNull(), for: relationship) }
    guard let value = AttributeCoding.unwrapped(value) else { return [] }
    switch (value, relationship.isOrdered) {
    case (let ordered as NSOrderedSet, true):
      return ordered.map { member($0, for: relationship) }
    // Foundation casts it to an empty Swift set.
    case (let set as ManagedObjectSet, false): return Array(set.members)
    case (let set as Set<ManagedObject>, false): return Array(set)
    case (let set as NSSet, false): return set.map { member($0, for: relationship) }
    case (let set as Set<AnyHashable>, false):
      return set.map { member($0.base, for: relationship) }
    case (_, _): RelationshipChecks.refuse(collection: value, for: relationship)
    }
  }
}

extension ManagedObject {
  /// The members of an unordered to-many relationship as a set of the program's own, whose changes
  /// are changes of this side alone.
  final func primitiveMembers(toMany index: Int) -> NSMutableSet {
    let members = loadedToMany(index).members
    let extras = madeExtras
    if let known = extras.primitiveMembers[index] {
      known.follow(members)
      return known.set
    }
    let new = PrimitiveMembers(members)
    extras.primitiveMembers[index] = new
    return new.set
  }
}

/// Reading keys that come from outside: predicates of clients, model files and mapping models.
extension ManagedObject: KeyProbing {
  /// The value of a property, also one that only a subclass knows.
  ///
  /// - Throws: ``PredicateEvaluationError`` when there is no such key, where
  ///   ``value(forKey:)`` traps.
  package final func readValue(forKey key: String) throws -> Any? {
    if layout.slotByName[key] != nil || layout.toManyByName[key] != nil {
      return value(forKey: key)
    }
    flags.insert(.probed)
    let value = value(forKey: key)
    if flags.remove(.probed) != nil { return value }
    throw PredicateEvaluationError(
      .unsupportedKeyPath,
      "the entity \(entity.name ?? "?") is not key value coding-compliant for the key \"\(key)\".")
  }
}
