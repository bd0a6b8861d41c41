import Foundation

// Numbers and UUIDs out of bytes: each reading is checked against the end, so that no caller has to
// prove that it is within.

extension UnsafeRawBufferPointer {
  /// The number whose bytes begin at a place, as they lie; traps past the end.
  @inlinable @inline(__always)
  package func number<Number: FixedWidthInteger & BitwiseCopyable>(
    at start: Int, as type: Number.Type = Number.self
  ) -> Number {
    precondition(start >= 0 && start <= count - MemoryLayout<Number>.size, "past the end")
    return loadUnaligned(fromByteOffset: start, as: type)
  }

  /// The UUID that the first 16 bytes are; traps when there are fewer.
  @inlinable package var uuid: UUID {
    precondition(count >= MemoryLayout<uuid_t>.size, "past the end")
    return UUID(uuid: loadUnaligned(as: uuid_t.self))
  }
}
