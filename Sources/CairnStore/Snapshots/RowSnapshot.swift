import CairnModel

/// The committed values of one object as a store returned them: immutable, one allocation, shared
/// between the row cache and every context that read the object.
///
/// Values are in the slot order of the entity's ``EntityLayout``; transient slots hold `.null`.
// Unchecked: the storage's slots are written once, before `make` returns, and never again. A draft is
// written to by one owner until it is sealed, and only then handed on.
public struct RowSnapshot: @unchecked Sendable {
  @usableFromInline struct Header {
    /// Nil for a draft.
    var objectID: ManagedObjectID?
    var version: Int64
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

  // Read through the pointer, because `header` is checked for exclusive access each time.

  public var objectID: ManagedObjectID {
    guard let id = storage.withUnsafeMutablePointerToHeader({ $0.pointee.objectID }) else {
      // Whoever makes a draft keeps it to itself until it is sealed.
      fatalError("A row that is still being written has no identity.")
    }
    return id
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
    try make(Header(objectID: objectID, version: version, count: 0), count: count, fill: fill)
  }

  @inline(__always)
  private static func make(
    _ header: Header, count: Int, fill: (UnsafeMutablePointer<AttributeValue>) throws -> Void
  ) rethrows -> RowSnapshot {
    let storage = Storage.create(minimumCapacity: count) { _ in header }
    try storage.withUnsafeMutablePointerToElements { try fill($0) }
    // The count is set last: if `fill` throws, nothing is deinitialised that was not made.
    storage.withUnsafeMutablePointerToHeader { $0.pointee.count = count }
    return RowSnapshot(storage: storage)
  }

  /// A row that is still being written: the slots of one object, which become a snapshot without
  /// being copied when they are sealed.
  package static func draft(
    count: Int, fill: (UnsafeMutablePointer<AttributeValue>) -> Void
  ) -> RowSnapshot {
    make(Header(objectID: nil, version: 0, count: 0), count: count, fill: fill)
  }

  /// Ends the writing of a draft.
  ///
  /// Nobody but the caller may have seen it, and nobody writes to its slots from now on.
  package func seal(objectID: ManagedObjectID, version: Int64) {
    storage.withUnsafeMutablePointerToHeader { header in
      header.pointee.objectID = objectID
      header.pointee.version = version
    }
  }

  /// Whether this is a draft that was sealed with that identity.
  package func isSealed(as objectID: ManagedObjectID, version: Int64) -> Bool {
    storage.withUnsafeMutablePointerToHeader {
      $0.pointee.objectID === objectID && $0.pointee.version == version
    }
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
