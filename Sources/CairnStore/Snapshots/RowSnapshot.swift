import CairnModel

/// The committed values of one object as a store returned them: immutable, one allocation, shared
/// between the row cache and every context that read the object.
///
/// Values are in the slot order of the entity's ``EntityLayout``; transient slots hold `.null`.
// Unchecked: the storage's slots are written once, before `make` returns, and never again.
public struct RowSnapshot: @unchecked Sendable {
  @usableFromInline struct Header {
    let objectID: ManagedObjectID
    let version: Int64
    @usableFromInline var count: Int
  }

  /// The one allocation: header, then the slots.
  @usableFromInline final class Storage: ManagedBuffer<Header, AttributeValue> {
    deinit {
      _ = withUnsafeMutablePointers { header, slots in
        slots.deinitialize(count: header.pointee.count)
      }
    }
  }

  @usableFromInline let storage: ManagedBuffer<Header, AttributeValue>

  // Through the pointer: `storage.header` checks while the program runs that nobody writes to it.
  public var objectID: ManagedObjectID {
    storage.withUnsafeMutablePointerToHeader { $0.pointee.objectID }
  }
  /// The row's version for optimistic locking (`Z_OPT`), 0 when the store does not count.
  public var version: Int64 { storage.withUnsafeMutablePointerToHeader { $0.pointee.version } }
  public var count: Int { storage.withUnsafeMutablePointerToHeader { $0.pointee.count } }

  /// A snapshot whose slots `fill` initialises, all of them, in the buffer it is given.
  ///
  /// When `fill` throws, it must have deinitialised what it had initialised.
  public static func make(
    objectID: ManagedObjectID, version: Int64, count: Int,
    fill: (UnsafeMutablePointer<AttributeValue>) throws -> Void
  ) rethrows -> RowSnapshot {
    let storage = Storage.create(minimumCapacity: count) { _ in
      Header(objectID: objectID, version: version, count: 0)
    }
    try storage.withUnsafeMutablePointerToElements { try fill($0) }
    // The count is set last: if `fill` throws, nothing is deinitialised that was not made.
    storage.withUnsafeMutablePointerToHeader { $0.pointee.count = count }
    return RowSnapshot(storage: storage)
  }

  /// A snapshot of the given values.
  public static func make(
    objectID: ManagedObjectID, version: Int64, values: [AttributeValue]
  ) -> RowSnapshot {
    make(objectID: objectID, version: version, count: values.count) { slots in
      for (index, value) in values.enumerated() { (slots + index).initialize(to: value) }
    }
  }

  /// The same values under another identity or version.
  public func with(objectID: ManagedObjectID? = nil, version: Int64? = nil) -> RowSnapshot {
    .make(
      objectID: objectID ?? self.objectID, version: version ?? self.version, values: values)
  }

  @inlinable public subscript(slot: Int) -> AttributeValue {
    storage.withUnsafeMutablePointers { header, slots in
      // Slots are counted by the layout, also when a row is read; the bound keeps memory safe.
      precondition(slot >= 0 && slot < header.pointee.count, "slot out of range")
      return slots[slot]
    }
  }

  public var values: [AttributeValue] {
    storage.withUnsafeMutablePointers { header, slots in
      Array(UnsafeBufferPointer(start: slots, count: header.pointee.count))
    }
  }

  /// The slots in place, valid for as long as the snapshot is held; never to be written to.
  ///
  /// Objects read through this pointer, because it costs one load instead of a call a value.
  package var slotPointer: UnsafeMutablePointer<AttributeValue> {
    storage.withUnsafeMutablePointerToElements { $0 }
  }

  /// Whether both are the same snapshot, not just equal ones.
  public func isIdentical(to other: RowSnapshot) -> Bool { storage === other.storage }
}
