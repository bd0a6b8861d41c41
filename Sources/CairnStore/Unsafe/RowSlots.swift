import CairnModel

/// The values of one row where they lie: 16 bytes each side by side, and what tells a value's case
/// apart, its seventeenth byte, before them all.
///
/// An array of ``AttributeValue`` would give each 24 bytes, seven of them empty, and there are more
/// values than anything else in memory. A view into a row that the caller holds: it keeps nothing
/// alive. Reading is safe on any thread while no thread writes.
public struct RowSlots {
  /// The first value; the last byte of value `n` is `n + 1` bytes before this.
  @usableFromInline let base: UnsafeMutableRawPointer

  /// The bits of a value, whatever their meaning.
  @frozen @usableFromInline struct Bits {
    @usableFromInline let low: UInt64
    @usableFromInline let high: UInt64
    @usableFromInline let last: UInt8

    @inlinable @inline(__always)
    init(low: UInt64, high: UInt64, last: UInt8) {
      self.low = low
      self.high = high
      self.last = last
    }
  }

  /// - Parameter memory: As many bytes as ``byteCount(for:)`` asks for.
  @inlinable @inline(__always)
  init(in memory: UnsafeMutableRawPointer, count: Int) {
    base = (memory + count).alignedUp(for: UInt64.self)
  }

  /// How much memory so many values take.
  ///
  /// A value that is written is written whole, over the first byte of the next one, which is put
  /// back: the last has a byte of room for that.
  @inlinable static func byteCount(for count: Int) -> Int {
    precondition(MemoryLayout<AttributeValue>.size == MemoryLayout<Bits>.size, "another layout")
    return count + MemoryLayout<UInt64>.alignment - 1 + count * 16 + 1
  }

  @inlinable @inline(__always)
  func place(of slot: Int) -> UnsafeMutableRawPointer { base + slot &* 16 }

  @inlinable @inline(__always)
  func lastByte(of slot: Int) -> UnsafeMutableRawPointer { base - (slot &+ 1) }

  /// The value of a slot, which must be one of the row's and, unless this is
  /// ``initialize(_:to:)``, have a value.
  @inlinable public subscript(slot: Int) -> AttributeValue {
    @inline(__always) get {
      let place = place(of: slot)
      // These are the bits of a value, which stays where it is: this is a copy of it.
      return unsafeBitCast(
        Bits(
          low: place.load(as: UInt64.self), high: place.load(fromByteOffset: 8, as: UInt64.self),
          last: lastByte(of: slot).load(as: UInt8.self)),
        to: AttributeValue.self)
    }
    @inline(__always) nonmutating set {
      // The old value goes after this: a deinitializer that this runs finds a whole row.
      _ = withWholeValue(slot) { place in
        let old = place.assumingMemoryBound(to: AttributeValue.self).move()
        place.initializeMemory(as: AttributeValue.self, to: newValue)
        return old
      }
    }
  }

  /// Gives a slot its first value.
  @inlinable @inline(__always)
  public func initialize(_ slot: Int, to value: AttributeValue) {
    let place = place(of: slot)
    let neighbour = place.load(fromByteOffset: 16, as: UInt8.self)
    place.initializeMemory(as: AttributeValue.self, to: value)
    lastByte(of: slot).storeBytes(
      of: place.load(fromByteOffset: 16, as: UInt8.self), as: UInt8.self)
    place.storeBytes(of: neighbour, toByteOffset: 16, as: UInt8.self)
  }

  /// Gives the slots from 0 their first values, those of other slots.
  package func initialize(from other: RowSlots, count: Int) {
    for slot in 0..<count { initialize(slot, to: other[slot]) }
  }

  /// Ends the values of the slots from 0.
  func deinitialize(count: Int) {
    for slot in 0..<count {
      _ = withWholeValue(slot) { $0.assumingMemoryBound(to: AttributeValue.self).move() }
    }
  }

  /// Puts a value together in its place for as long as `body` runs, and takes it apart again.
  ///
  /// Values can be moved bit by bit, as all but those with weak references can.
  @inlinable @inline(__always)
  func withWholeValue<Result>(
    _ slot: Int, _ body: (UnsafeMutableRawPointer) -> Result
  ) -> Result {
    let place = place(of: slot)
    let lastByte = lastByte(of: slot)
    let neighbour = place.load(fromByteOffset: 16, as: UInt8.self)
    place.storeBytes(of: lastByte.load(as: UInt8.self), toByteOffset: 16, as: UInt8.self)
    let result = body(place)
    lastByte.storeBytes(of: place.load(fromByteOffset: 16, as: UInt8.self), as: UInt8.self)
    place.storeBytes(of: neighbour, toByteOffset: 16, as: UInt8.self)
    return result
  }
}
