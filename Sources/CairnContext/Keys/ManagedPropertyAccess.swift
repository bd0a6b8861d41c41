import CairnModel
import Foundation

// What the generated accessors behind `@NSManaged` declarations call. Properties are found by name:
// the class is written by hand and may stand for entities of several models.
extension ManagedObject {
  /// The value of a property as its accessor declares it.
  ///
  /// A key `primitiveName` that is no property of the entity reads the property `name` without
  /// announcements, as Core Data's dynamic accessors do. Nil reads as zero, false, and the empty
  /// string, data or collection where the declared type has no nil; other types trap then.
  @_spi(Generated)
  public final func managedValue<Value>(_ key: String) -> Value {
    ManagedValue.converted(anyManagedValue(key), for: key, of: self)
  }

  @_spi(Generated)
  public final func managedValue(_ key: String) -> String? {
    guard case .string(let text) = plainValue(key) else {
      return ManagedValue.converted(anyManagedValue(key), for: key, of: self)
    }
    return text
  }

  @_spi(Generated)
  public final func managedValue(_ key: String) -> Int64 { integer(key) }
  @_spi(Generated)
  public final func managedValue(_ key: String) -> Int32 { integer(key) }
  @_spi(Generated)
  public final func managedValue(_ key: String) -> Int16 { integer(key) }
  @_spi(Generated)
  public final func managedValue(_ key: String) -> Int { integer(key) }

  @_spi(Generated)
  public final func managedValue(_ key: String) -> Bool {
    guard case .boolean(let flag) = plainValue(key) else {
      return ManagedValue.converted(anyManagedValue(key), for: key, of: self)
    }
    return flag
  }

  @_spi(Generated)
  public final func managedValue(_ key: String) -> Double {
    switch plainValue(key) {
    case .double(let number): return number
    case .date(let date): return date.timeIntervalSinceReferenceDate
    case .null: return 0
    default: return ManagedValue.converted(anyManagedValue(key), for: key, of: self)
    }
  }

  @_spi(Generated)
  public final func managedValue(_ key: String) -> Date? {
    guard case .date(let date) = plainValue(key) else {
      return ManagedValue.converted(anyManagedValue(key), for: key, of: self)
    }
    return date
  }

  /// Sets a property as its accessor does: with change tracking, the inverse included.
  @_spi(Generated)
  public final func setManagedValue<Value>(_ value: Value, _ key: String) {
    let value = AttributeCoding.unwrapped(value).map(ManagedValue.assignable)
    if let property = primitiveProperty(key) {
      setPrimitiveValue(value, forKey: property)
    } else if ManagedValue.isTimeInterval(value, forKey: key, of: self),
      let seconds = value as? Double
    {
      setManagedValue(Date(timeIntervalSinceReferenceDate: seconds), key)
    } else {
      KeyAccess(object: self).setModelValue(value, forKey: key)
    }
  }

  @_spi(Generated)
  public final func setManagedValue(_ value: String?, _ key: String) {
    set(value.map { .string($0) }, key, where: { $0 == .string }, value)
  }
  @_spi(Generated)
  public final func setManagedValue(_ value: Int64, _ key: String) { setInteger(value, key) }
  @_spi(Generated)
  public final func setManagedValue(_ value: Int32, _ key: String) { setInteger(value, key) }
  @_spi(Generated)
  public final func setManagedValue(_ value: Int16, _ key: String) { setInteger(value, key) }
  @_spi(Generated)
  public final func setManagedValue(_ value: Int, _ key: String) { setInteger(value, key) }
  @_spi(Generated)
  public final func setManagedValue(_ value: Bool, _ key: String) {
    set(.boolean(value), key, where: { $0 == .boolean }, NSNumber(value: value))
  }
  @_spi(Generated)
  public final func setManagedValue(_ value: Date?, _ key: String) {
    set(value.map { .date($0) }, key, where: { $0 == .date }, value)
  }

  // MARK: By name

  /// The stored value of an attribute whose slot has the key, `null` for everything else.
  private final func plainValue(_ key: String) -> AttributeValue {
    guard let slot = layout.slotByName[key] else { return .null }
    willAccessValue(forKey: key)
    defer { didAccessValue(forKey: key) }
    return storedValue(at: slot)
  }

  private final func anyManagedValue(_ key: String) -> Any? {
    if let property = primitiveProperty(key) { return primitiveValue(forKey: property) }
    return KeyAccess(object: self).modelValue(forKey: key)
  }

  /// The property behind a key such as `primitiveName`, nil for a key that is a property itself.
  private final func primitiveProperty(_ key: String) -> String? {
    let prefix = "primitive"
    guard key.hasPrefix(prefix), key.count > prefix.count,
      entity.propertiesByName[key] == nil
    else { return nil }
    let rest = key.dropFirst(prefix.count)
    let lower = rest.prefix(1).lowercased() + rest.dropFirst()
    let properties = entity.propertiesByName
    if properties[lower] != nil { return lower }
    return properties[String(rest)] != nil ? String(rest) : nil
  }

  private final func integer<Number: FixedWidthInteger>(_ key: String) -> Number {
    guard case .integer(let number) = plainValue(key) else {
      return ManagedValue.converted(anyManagedValue(key), for: key, of: self)
    }
    return Number(truncatingIfNeeded: number)
  }

  private final func setInteger(_ value: some FixedWidthInteger, _ key: String) {
    let number = Int64(value)
    set(
      .integer(number), key,
      where: { [.integer16, .integer32, .integer64].contains($0) }, NSNumber(value: number))
  }

  /// Writes straight into the slot when the attribute has the type, otherwise through its key.
  private final func set(
    _ value: AttributeValue?, _ key: String, where fits: (AttributeType) -> Bool, _ general: Any?
  ) {
    if let slot = layout.slotByName[key],
      case .attribute(let attribute) = layout.slots[slot].content, fits(attribute.attributeType)
    {
      setStoredValue(value ?? .null, at: slot)
    } else if let property = primitiveProperty(key) {
      setPrimitiveValue(general, forKey: property)
    } else {
      KeyAccess(object: self).setModelValue(general, forKey: key)
    }
  }
}
