import CairnModel
import CairnPredicates
import CairnStore
import Foundation

// What generated accessors read values with: the value in its slot, taken out where it lies.
//
// Each has two halves. The first is compiled into the program: whether the object has its values
// and the slot is the right one, and the value. The second, which reads a fault and need not be
// quick, returns the finished value, not where it is, so that a program need keep the object alive
// only where the second half is called.
extension ManagedObject {
  /// The value of a Boolean attribute, by its slot; nil for none.
  ///
  /// Fires the fault.
  @inlinable
  @_spi(Generated)
  public final func storedBoolean(at slot: Int) -> Bool? {
    guard let slots = readSlots(with: slot) else { return firedBoolean(at: slot) }
    guard case .boolean(let value) = slots[slot] else { return nil }
    return value
  }

  /// The value of an integer attribute of any width, by its slot; nil for none.
  ///
  /// Fires the fault.
  @inlinable
  @_spi(Generated)
  public final func storedInteger(at slot: Int) -> Int64? {
    guard let slots = readSlots(with: slot) else { return firedInteger(at: slot) }
    guard case .integer(let value) = slots[slot] else { return nil }
    return value
  }

  /// The value of a Float attribute, by its slot; nil for none.
  ///
  /// Fires the fault.
  @inlinable
  @_spi(Generated)
  public final func storedFloat(at slot: Int) -> Float? {
    guard let slots = readSlots(with: slot) else { return firedFloat(at: slot) }
    guard case .float(let value) = slots[slot] else { return nil }
    return value
  }

  /// The value of a Double attribute, by its slot; nil for none.
  ///
  /// Fires the fault.
  @inlinable
  @_spi(Generated)
  public final func storedDouble(at slot: Int) -> Double? {
    guard let slots = readSlots(with: slot) else { return firedDouble(at: slot) }
    guard case .double(let value) = slots[slot] else { return nil }
    return value
  }

  /// The value of a Decimal attribute, by its slot; nil for none.
  ///
  /// Fires the fault.
  @_spi(Generated)
  public final func storedDecimal(at slot: Int) -> NSDecimalNumber? {
    let slots = readSlots(with: slot) ?? firedSlots(with: slot)
    guard case .decimal(let value) = slots[slot] else { return nil }
    return DecimalNumber(decimal: value)
  }

  /// The value of a String attribute, by its slot; nil for none.
  ///
  /// Fires the fault.
  @inlinable
  @_spi(Generated)
  public final func storedString(at slot: Int) -> String? {
    guard let slots = readSlots(with: slot) else { return firedString(at: slot) }
    guard case .string(let value) = slots[slot] else { return nil }
    return value
  }

  /// The value of a Date attribute, by its slot; nil for none.
  ///
  /// Fires the fault.
  @inlinable
  @_spi(Generated)
  public final func storedDate(at slot: Int) -> Date? {
    guard let slots = readSlots(with: slot) else { return firedDate(at: slot) }
    guard case .date(let value) = slots[slot] else { return nil }
    return value
  }

  /// The value of a Binary Data attribute, or what a transformer made of the value of a
  /// transformable one, by its slot; nil for none.
  ///
  /// Fires the fault.
  @inlinable
  @_spi(Generated)
  public final func storedData(at slot: Int) -> Data? {
    guard let slots = readSlots(with: slot) else { return firedData(at: slot) }
    guard case .data(let value) = slots[slot] else { return nil }
    return value
  }

  /// The value of a UUID attribute, by its slot; nil for none.
  ///
  /// Fires the fault.
  @inlinable
  @_spi(Generated)
  public final func storedUUID(at slot: Int) -> UUID? {
    guard let slots = readSlots(with: slot) else { return firedUUID(at: slot) }
    guard case .uuid(let value) = slots[slot] else { return nil }
    return value
  }

  /// The value of a URI attribute, by its slot; nil for none.
  ///
  /// Fires the fault.
  @inlinable
  @_spi(Generated)
  public final func storedURL(at slot: Int) -> URL? {
    guard let slots = readSlots(with: slot) else { return firedURL(at: slot) }
    guard case .url(let value) = slots[slot] else { return nil }
    return value
  }

  /// The ID of the destination of a to-one relationship, by its slot; nil for none.
  ///
  /// Fires the fault.
  @inlinable
  @_spi(Generated)
  public final func storedObjectID(at slot: Int) -> ManagedObjectID? {
    guard let slots = readSlots(with: slot) else { return firedObjectID(at: slot) }
    guard case .object(let value) = slots[slot] else { return nil }
    return value
  }

  // MARK: The second halves

  @usableFromInline @inline(never)
  final func firedBoolean(at slot: Int) -> Bool? {
    guard case .boolean(let value) = firedSlots(with: slot)[slot] else { return nil }
    return value
  }

  @usableFromInline @inline(never)
  final func firedInteger(at slot: Int) -> Int64? {
    guard case .integer(let value) = firedSlots(with: slot)[slot] else { return nil }
    return value
  }

  @usableFromInline @inline(never)
  final func firedFloat(at slot: Int) -> Float? {
    guard case .float(let value) = firedSlots(with: slot)[slot] else { return nil }
    return value
  }

  @usableFromInline @inline(never)
  final func firedDouble(at slot: Int) -> Double? {
    guard case .double(let value) = firedSlots(with: slot)[slot] else { return nil }
    return value
  }

  @usableFromInline @inline(never)
  final func firedString(at slot: Int) -> String? {
    guard case .string(let value) = firedSlots(with: slot)[slot] else { return nil }
    return value
  }

  @usableFromInline @inline(never)
  final func firedDate(at slot: Int) -> Date? {
    guard case .date(let value) = firedSlots(with: slot)[slot] else { return nil }
    return value
  }

  @usableFromInline @inline(never)
  final func firedData(at slot: Int) -> Data? {
    guard case .data(let value) = firedSlots(with: slot)[slot] else { return nil }
    return value
  }

  @usableFromInline @inline(never)
  final func firedUUID(at slot: Int) -> UUID? {
    guard case .uuid(let value) = firedSlots(with: slot)[slot] else { return nil }
    return value
  }

  @usableFromInline @inline(never)
  final func firedURL(at slot: Int) -> URL? {
    guard case .url(let value) = firedSlots(with: slot)[slot] else { return nil }
    return value
  }

  @usableFromInline @inline(never)
  final func firedObjectID(at slot: Int) -> ManagedObjectID? {
    guard case .object(let value) = firedSlots(with: slot)[slot] else { return nil }
    return value
  }
}
