/// Bytes that lie elsewhere, for as long as a call lasts: it keeps nothing alive.
///
/// Parsers of untrusted bytes read through it, since a place past the end traps here in every build,
/// which a bare pointer checks in debug builds only.
struct ByteView: RandomAccessCollection {
  private let bytes: UnsafeBufferPointer<UInt8>

  init(_ bytes: UnsafeBufferPointer<UInt8>) { self.bytes = bytes }

  var startIndex: Int { 0 }
  @inline(__always) var endIndex: Int { bytes.count }

  @inline(__always)
  subscript(place: Int) -> UInt8 {
    precondition(place >= 0 && place < bytes.count, "past the end")
    return bytes[place]
  }

  /// The bytes from one place up to another one, as bytes of their own.
  func part(_ range: Range<Int>) -> ByteView {
    precondition(range.lowerBound >= 0 && range.upperBound <= bytes.count, "past the end")
    return ByteView(UnsafeBufferPointer(rebasing: bytes[range]))
  }

  func withContiguousStorageIfAvailable<Result>(
    _ body: (UnsafeBufferPointer<UInt8>) throws -> Result
  ) rethrows -> Result? { try body(bytes) }
}
