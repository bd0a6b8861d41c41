extension SidecarRun {
  /// Several entries behind each other, where they lie.
  ///
  /// It keeps nothing alive: ``SidecarRun/withEntries(of:from:_:)`` hands one out for the time of a call.
  public struct Block {
    private let bytes: UnsafeRawBufferPointer
    private let keySize: Int
    private let stride: Int

    init(_ bytes: Slice<UnsafeRawBufferPointer>, keySize: Int, stride: Int) {
      self.bytes = UnsafeRawBufferPointer(rebasing: bytes)
      self.keySize = keySize
      self.stride = stride
    }

    public func key(_ place: Int) -> UnsafeRawBufferPointer {
      part(place * stride..<place * stride + keySize)
    }
    public func value(_ place: Int) -> UnsafeRawBufferPointer {
      part(place * stride + keySize..<(place + 1) * stride)
    }

    private func part(_ range: Range<Int>) -> UnsafeRawBufferPointer {
      precondition(range.lowerBound >= 0 && range.upperBound <= bytes.count, "past the end")
      return UnsafeRawBufferPointer(rebasing: bytes[range])
    }
  }
}
