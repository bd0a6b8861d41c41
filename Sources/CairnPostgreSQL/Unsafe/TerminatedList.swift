/// Lists of C strings with nil at their end, as libpq takes them.
enum TerminatedList {
  /// Calls a closure with a list of texts, which is there until it returns.
  static func of<Result>(
    _ strings: [String], _ body: (UnsafePointer<UnsafePointer<CChar>?>?) -> Result
  ) -> Result {
    let buffers = strings.map { text -> UnsafeMutableBufferPointer<CChar> in
      let bytes = Array(text.utf8CString)
      let buffer = UnsafeMutableBufferPointer<CChar>.allocate(capacity: bytes.count)
      _ = buffer.initialize(from: bytes)
      return buffer
    }
    defer {
      for buffer in buffers {
        // Passwords are among them.
        buffer.update(repeating: 0)
        buffer.deallocate()
      }
    }
    let list = buffers.map { UnsafePointer($0.baseAddress) } + [nil]
    return list.withUnsafeBufferPointer { body($0.baseAddress) }
  }
}
