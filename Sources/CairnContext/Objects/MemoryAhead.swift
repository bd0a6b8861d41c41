import CRuntime

/// Passes over many objects, with the memory of those to come asked for ahead.
///
/// After a save the objects of a large change have left the processor's caches. Counting a
/// reference waits for the object's memory and lets the processor do nothing else meanwhile, so
/// each object would be waited for alone.
enum MemoryAhead {
  /// About as many as arrive while one is waited for.
  private static let distance = 16

  static func each(of objects: [ManagedObject], _ body: (ManagedObject) -> Void) {
    objects.withUnsafeBytes { bytes in
      // An array of a Swift class is one of pointers.
      let addresses = bytes.bindMemory(to: UnsafeRawPointer.self)
      for index in objects.indices {
        if index + distance < addresses.count { cairn_fetch_ahead(addresses[index + distance]) }
        body(objects[index])
      }
    }
  }

  /// - Parameter next: What each object refers to that is touched as well.
  static func each<Next: AnyObject>(
    of objects: [ManagedObject], touching next: (ManagedObject) -> Next,
    _ body: (ManagedObject) -> Void
  ) {
    objects.withUnsafeBytes { bytes in
      let addresses = bytes.bindMemory(to: UnsafeRawPointer.self)
      for index in objects.indices {
        if index + 2 * distance < addresses.count {
          cairn_fetch_ahead(addresses[index + 2 * distance])
        }
        if index + distance < addresses.count {
          let object = Unmanaged<ManagedObject>.fromOpaque(addresses[index + distance])
          cairn_fetch_ahead(
            object._withUnsafeGuaranteedRef { Unmanaged.passUnretained(next($0)).toOpaque() })
        }
        body(objects[index])
      }
    }
  }
}
