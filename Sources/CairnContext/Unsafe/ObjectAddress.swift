import CRuntime

/// Objects as numbers: tables that keep none of them alive are made of these.
///
/// An address is good as long as it stands in a table of ``ObjectRegistry``: an object that is freed
/// takes itself out first, under the registry's lock.
enum ObjectAddress {
  @inline(__always)
  static func of(_ object: ManagedObject) -> UInt {
    UInt(bitPattern: Unmanaged.passUnretained(object).toOpaque())
  }

  /// The object behind an address with a reference of its own, or nil when it is being freed: what
  /// loading a `weak` reference does, without the side table that one needs.
  @inline(__always)
  static func object(at address: UInt) -> ManagedObject? {
    guard let pointer = UnsafeMutableRawPointer(bitPattern: address),
      cairn_try_retain(pointer) != nil
    else { return nil }
    return Unmanaged<ManagedObject>.fromOpaque(pointer).takeRetainedValue()
  }

  /// Calls a closure with the addresses of a list's objects, without counting references to them.
  @inline(__always)
  static func each<Result>(
    of objects: [ManagedObject], _ body: (UnsafeBufferPointer<UInt>) -> Result
  ) -> Result {
    // An array of a Swift class is one of pointers.
    objects.withUnsafeBytes { body($0.bindMemory(to: UInt.self)) }
  }

  /// Asks for the memory of the object at an address.
  @inline(__always)
  static func fetchAhead(_ address: UInt) {
    if let far = UnsafeRawPointer(bitPattern: address) { MemoryAhead.fetch(far, lines: 1) }
  }

  /// The same for the ID of an object whose own memory has arrived.
  @inline(__always)
  static func fetchIDAhead(_ address: UInt) {
    guard let near = UnsafeRawPointer(bitPattern: address) else { return }
    // Whole as long as it is in the table.
    Unmanaged<ManagedObject>.fromOpaque(near)._withUnsafeGuaranteedRef { $0.fetchIDAhead() }
  }
}
