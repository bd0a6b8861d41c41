import CRuntime
import CairnStore

/// Passes over many objects, with the memory of those to come asked for ahead.
///
/// After a save the objects of a large change have left the processor's caches. Counting a
/// reference waits for the object's memory and lets the processor do nothing else meanwhile, so
/// each object would be waited for alone.
enum MemoryAhead {
  /// About as many as arrive while one is waited for.
  private static let distance = 16
  /// What the processor fetches at once.
  private static let lineSize = 64

  /// - Parameter references: Asks for what an object refers to that the pass touches as well.
  @inline(__always)
  static func each(
    of objects: [ManagedObject], _ references: (ManagedObject) -> Void = { _ in },
    _ body: (ManagedObject) -> Void
  ) {
    for index in objects.indices {
      fetch(objects, from: index, references)
      body(objects[index])
    }
  }

  /// Asks for what a pass over a list will touch soon after it has come to a place.
  ///
  /// - Parameter list: Objects or nil.
  @inline(__always)
  static func fetch<Element>(
    _ list: [Element], from place: Int, _ references: (ManagedObject) -> Void
  ) {
    list.withUnsafeBytes { bytes in
      // An array of a Swift class is one of pointers, and nil is the one to nowhere.
      let addresses = bytes.bindMemory(to: UnsafeRawPointer?.self)
      if place + 2 * distance < addresses.count, let far = addresses[place + 2 * distance] {
        fetch(far, lines: 2)
      }
      if place + distance < addresses.count, let near = addresses[place + distance] {
        Unmanaged<ManagedObject>.fromOpaque(near)._withUnsafeGuaranteedRef(references)
      }
    }
  }

  @inline(__always)
  static func fetch(_ address: UnsafeRawPointer, lines: Int) {
    for line in 0..<lines { cairn_fetch_ahead(address + line * lineSize) }
  }
}

extension ManagedObject {
  /// Asks for the memory of the ID.
  @inline(__always)
  final func fetchIDAhead() {
    MemoryAhead.fetch(unsafeBitCast(objectID, to: UnsafeRawPointer.self), lines: 1)
  }

  /// Asks for the memory of the committed row, of as many values as most have.
  @inline(__always)
  final func fetchRowAhead() {
    // A row is nothing but its storage.
    guard let row = unsafeBitCast(snapshot, to: UnsafeRawPointer?.self) else { return }
    MemoryAhead.fetch(row, lines: 4)
  }

  /// Asks for the memory where a row that is still being written begins.
  @inline(__always)
  final func fetchDraftAhead() {
    guard let row = unsafeBitCast(draft, to: UnsafeRawPointer?.self) else { return }
    MemoryAhead.fetch(row, lines: 1)
  }
}
