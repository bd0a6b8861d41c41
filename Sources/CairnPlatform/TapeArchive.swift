// Files in one: the plain form of tar that every tar reads.

/// Makes an archive in the format of POSIX `ustar`.
///
/// Source: IEEE Std 1003.1-2017, pax, "ustar Interchange Format".
public struct TapeArchive {
  public private(set) var bytes: [UInt8] = []
  private static let block = 512

  public init() {}

  /// Adds a file that its owner alone may read.
  ///
  /// - Parameters:
  ///   - name: At most 100 bytes.
  ///   - time: In seconds since 1970; the format ends at 0 and in the year 2242, and the nearer end stands for others.
  public mutating func add(_ name: String, _ content: [UInt8], time: Int) {
    var header = [UInt8](repeating: 0, count: Self.block)
    func put(_ text: String, at offset: Int, limit: Int) {
      for (index, byte) in text.utf8.prefix(limit).enumerated() { header[offset + index] = byte }
    }
    func octal(_ number: Int, _ digits: Int) -> String {
      let text = String(min(max(0, number), 1 << (3 * digits) - 1), radix: 8)
      return String(repeating: "0", count: max(0, digits - text.count)) + text
    }
    put(name, at: 0, limit: 100)
    put(octal(0o600, 7), at: 100, limit: 7)
    put(octal(0, 7), at: 108, limit: 7)
    put(octal(0, 7), at: 116, limit: 7)
    put(octal(content.count, 11), at: 124, limit: 11)
    put(octal(time, 11), at: 136, limit: 11)
    put("        0", at: 148, limit: 9)
    put("ustar", at: 257, limit: 5)
    put("00", at: 263, limit: 2)
    let sum = header.reduce(0) { $0 + Int($1) }
    put(octal(sum, 6), at: 148, limit: 6)
    header[154] = 0
    bytes += header + content
    let rest = content.count % Self.block
    if rest > 0 { bytes += [UInt8](repeating: 0, count: Self.block - rest) }
  }

  /// Ends the archive.
  public mutating func end() { bytes += [UInt8](repeating: 0, count: 2 * Self.block) }
}
