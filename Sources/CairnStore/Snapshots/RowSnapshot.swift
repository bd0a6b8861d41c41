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
    // The first, where RowSnapshot.withObjectID(_:) looks for it.
    @usableFromInline var objectID: ManagedObjectID?
    @usableFromInline var version: Int64
    @usableFromInline var count: UInt32

    @inlinable
    init(objectID: ManagedObjectID?, version: Int64, count: UInt32) {
      self.objectID = objectID
      self.version = version
      self.count = count
    }
  }

  /// The one allocation: header, then the slots.
  @usableFromInline final class Storage: ManagedBuffer<Header, UInt8> {
    deinit {
      withUnsafeMutablePointers { header, memory in
        let count = Int(header.pointee.count)
        RowSlots(in: memory, count: count).deinitialize(count: count)
      }
    }
  }

  @usableFromInline let storage: ManagedBuffer<Header, UInt8>

  @inlinable @inline(__always)
  init(storage: ManagedBuffer<Header, UInt8>) { self.storage = storage }

  // Read through the pointer, because `header` is checked for exclusive access each time.

  public var objectID: ManagedObjectID {
    guard let id = storage.withUnsafeMutablePointerToHeader({ $0.pointee.objectID }) else {
      // The maker of a draft keeps it to itself until it is sealed.
      fatalError("A row that is still being written has no identity.")
    }
    return id
  }

  /// The primary key, nil for stores that use reference objects.
  @inlinable package var rowKey: Int64? { withObjectID { $0.rowKey } }
  /// The same for all rows of one entity that one read has found.
  @inlinable package var home: ObjectIdentifier { withObjectID { $0.homeIdentity } }

  /// The row's version for optimistic locking (`Z_OPT`), 0 when the store does not count.
  public var version: Int64 { storage.withUnsafeMutablePointerToHeader { $0.pointee.version } }
  @inlinable public var count: Int {
    storage.withUnsafeMutablePointerToHeader { Int($0.pointee.count) }
  }

  /// A snapshot whose slots `fill` initialises, all of them, from 0 to `count`.
  ///
  /// When `fill` throws, it must have deinitialised what it had initialised.
  @inlinable @inline(__always)
  public static func make(
    objectID: ManagedObjectID, version: Int64, count: Int, fill: (RowSlots) throws -> Void
  ) rethrows -> RowSnapshot {
    try make(version: version, count: count, fill: fill) { objectID }
  }

  /// The same with an ID that is asked for at the end; nil makes a draft.
  ///
  /// One that is made before `fill` runs is counted twice more for that.
  @inlinable @inline(__always)
  package static func make(
    version: Int64, count: Int, fill: (RowSlots) throws -> Void, objectID: () -> ManagedObjectID?
  ) rethrows -> RowSnapshot {
    let storage = Storage.create(minimumCapacity: RowSlots.byteCount(for: count)) { _ in
      Header(objectID: nil, version: version, count: 0)
    }
    try storage.withUnsafeMutablePointers { header, memory in
      try fill(RowSlots(in: memory, count: count))
      // After that: if `fill` throws, nothing is deinitialised that was not made.
      header.pointee.count = UInt32(count)
      header.pointee.objectID = objectID()
    }
    return RowSnapshot(storage: storage)
  }

  /// A row that is still being written: the slots of one object, which become a snapshot without
  /// being copied when they are sealed.
  package static func draft(
    count: Int, fill: (RowSlots) -> Void
  ) -> RowSnapshot {
    make(version: 0, count: count, fill: fill) { nil }
  }

  /// Ends the writing of a draft.
  ///
  /// Only the caller may have seen it, and no thread writes to its slots from now on.
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
      for (index, value) in values.enumerated() { slots.initialize(index, to: value) }
    }
  }

  /// The same values under another identity or version.
  public func with(objectID: ManagedObjectID? = nil, version: Int64? = nil) -> RowSnapshot {
    .make(
      objectID: objectID ?? self.objectID, version: version ?? self.version, values: values)
  }

  @inlinable public subscript(slot: Int) -> AttributeValue {
    storage.withUnsafeMutablePointers { header, memory in
      let count = Int(header.pointee.count)
      // Slots are counted by the layout, also when a row is read; the bound keeps memory safe.
      precondition(slot >= 0 && slot < count, "slot out of range")
      return RowSlots(in: memory, count: count)[slot]
    }
  }

  public var values: [AttributeValue] {
    let slots = slots
    return (0..<count).map { slots[$0] }
  }

  /// The slots in place, valid for as long as the snapshot is held; never to be written to.
  ///
  /// Objects read through this, because it costs a few loads instead of a call a value.
  package var slots: RowSlots {
    storage.withUnsafeMutablePointers { header, memory in
      RowSlots(in: memory, count: Int(header.pointee.count))
    }
  }

  /// Whether both are the same snapshot, not just equal ones.
  public func isIdentical(to other: RowSnapshot) -> Bool { storage === other.storage }
}
