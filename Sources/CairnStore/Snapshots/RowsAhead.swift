import CRuntime
import CairnModel

extension RowSnapshot {
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
