/// Memory for the texts and blobs of one row at a time, which statements refer to instead of
/// copying them.
///
/// Bound as "transient", each text costs an allocation inside SQLite. Bound from here it is copied
/// once, into memory that is used again for the next row. The caller who binds from an arena calls
/// ``startRow()`` before each row, binds every parameter anew, and clears the bindings of the
/// statement before the arena goes.
final class BindingArena {
  private let memory: UnsafeMutableRawPointer
  private let capacity: Int
  private var used = 0

  init(capacity: Int = 1 << 16) {
    self.capacity = capacity
    memory = .allocate(byteCount: capacity, alignment: 16)
  }

  deinit { memory.deallocate() }

  /// What was bound for the row before is no longer needed.
  @inline(__always)
  func startRow() { used = 0 }

  /// A copy of the bytes; nil when there is no room for them.
  @inline(__always)
  func copy(_ bytes: UnsafeRawBufferPointer) -> UnsafeRawPointer? {
    guard bytes.count <= capacity - used else { return nil }
    let place = memory + used
    if let base = bytes.baseAddress { place.copyMemory(from: base, byteCount: bytes.count) }
    used += bytes.count
    return UnsafeRawPointer(place)
  }

  /// The same as C's characters.
  @inline(__always)
  func copy(characters bytes: UnsafeBufferPointer<UInt8>) -> UnsafePointer<CChar>? {
    copy(UnsafeRawBufferPointer(bytes))?.assumingMemoryBound(to: CChar.self)
  }
}
