/// The words of a class in memory, which say what its methods are.
///
/// A class as a value is the address of its description, which lives as long as the process and is read
/// only. A subclass begins with the words of its superclass, in their order.
struct MethodTable {
  private let words: UnsafePointer<UInt>

  init(of type: ManagedObject.Type) {
    words = unsafeBitCast(type, to: UnsafePointer<UInt>.self)
  }

  /// - Parameter place: One of ``places``.
  subscript(place: Int) -> UInt {
    precondition(Self.places.contains(place), "past the end")
    return words[place]
  }

  /// Where the words stand that every subclass has; none when classes are built in another way.
  static let places: Range<Int> = {
    // Behind kind, superclass, flags, sizes, description and destroyer.
    let first = 7
    let sizes = UnsafeRawPointer(MethodTable(of: ManagedObject.self).words).advanced(by: 32)
    let size = Int(sizes.load(as: UInt32.self))
    let before = Int(sizes.load(fromByteOffset: 4, as: UInt32.self))
    // Something else stands there: nothing is compared then.
    guard size > before, size < 1 << 16, before < 256 else { return first..<first }
    // The size of the whole less what stands before the address.
    return first..<max(first, (size - before) / MemoryLayout<UInt>.size)
  }()
}
