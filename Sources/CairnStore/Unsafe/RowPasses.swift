import CRuntime
import CairnModel

// Passes over many rows count no reference to a row or to its ID: that would wait for the memory of
// each.

extension RowSnapshot {
  // MARK: Looking without counting

  /// Calls a body with the ID, without counting a reference to it.
  @inlinable @inline(__always)
  package func withObjectID<Result>(_ body: (ManagedObjectID) -> Result) -> Result {
    let id = storage.withUnsafeMutablePointerToHeader {
      UnsafeRawPointer($0).load(as: Unmanaged<ManagedObjectID>?.self)
    }
    guard let id else { return body(objectID) }
    // The row holds it, and the caller holds the row.
    return withExtendedLifetime(storage) { id._withUnsafeGuaranteedRef(body) }
  }

  /// Calls a body with each of a run of rows, without counting a reference to it.
  @inlinable @inline(__always)
  package static func forEach(
    of run: Range<Int>, in rows: [RowSnapshot], _ body: (RowSnapshot) -> Void
  ) {
    precondition(run.upperBound <= rows.count, "fewer rows")
    rows.withUnsafeBufferPointer { rows in
      guard let start = rows.baseAddress else { return }
      for index in run {
        // The array holds it, and a row is nothing but its storage.
        UnsafeRawPointer(start + index).load(as: Unmanaged<ManagedBuffer<Header, UInt8>>.self)
          ._withUnsafeGuaranteedRef { body(RowSnapshot(storage: $0)) }
      }
    }
  }

  /// The primary key of one of many rows, without counting a reference to the row.
  @inlinable @inline(__always)
  package static func rowKey(at index: Int, in rows: [RowSnapshot]) -> Int64? {
    var key: Int64?
    forEach(of: index..<index + 1, in: rows) { key = $0.rowKey }
    return key
  }

  // MARK: Memory ahead

  /// About as many rows as a pass comes to while memory is waited for.
  @usableFromInline static var distanceAhead: Int { 16 }

  /// Asks for the memory of what a pass over many rows will look at soon after it has come to a
  /// place: rows, and the IDs of nearer ones.
  ///
  /// Most passes ask a row for its key first. In a large save each ID has left the processor's caches
  /// since the pass before, and would be waited for alone.
  ///
  /// - Parameter list: Rows, or values that begin with one.
  @inlinable @inline(__always)
  package static func fetchAhead<Item>(_ list: [Item], from place: Int) {
    list.withUnsafeBufferPointer { list in
      guard let start = list.baseAddress else { return }
      let (near, far) = (place + distanceAhead, place + 2 * distanceAhead)
      // A row is nothing but its storage.
      if far < list.count {
        cairn_fetch_ahead(UnsafeRawPointer(start + far).load(as: UnsafeRawPointer.self))
      }
      if near < list.count {
        UnsafeRawPointer(start + near).load(as: Unmanaged<ManagedBuffer<Header, UInt8>>.self)
          ._withUnsafeGuaranteedRef { storage in
            let id = storage.withUnsafeMutablePointerToHeader {
              UnsafeRawPointer($0).load(as: UnsafeRawPointer?.self)
            }
            if let id { cairn_fetch_ahead(id) }
          }
      }
    }
  }
}
