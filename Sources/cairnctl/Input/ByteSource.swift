// Bytes of a file or of standard input, a piece at a time.
import Foundation

/// Reads a file, or standard input for `-`, without holding it in memory.
final class ByteSource {
  private let handle: FileHandle
  /// Bytes in all; nil when that cannot be known.
  let size: Int?
  private(set) var consumed = 0

  init(path: String) throws {
    if path == "-" {
      handle = .standardInput
      size = nil
      return
    }
    var isFolder: ObjCBool = false
    guard FileManager.default.fileExists(atPath: path, isDirectory: &isFolder) else {
      throw CommandFailure(
        message: "there is no file \(path)", hint: "name one that is there, or - for standard input"
      )
    }
    guard !isFolder.boolValue, let handle = FileHandle(forReadingAtPath: path) else {
      throw CommandFailure(message: "cannot read \(path)", hint: "check its kind, owner and mode")
    }
    self.handle = handle
    let attributes = try? FileManager.default.attributesOfItem(atPath: path)
    let isRegular = attributes?[.type] as? FileAttributeType == .typeRegular
    size = isRegular ? (attributes?[.size] as? NSNumber)?.intValue : nil
  }

  /// The next piece; nil at the end.
  func next() throws -> [UInt8]? {
    guard let data = try handle.read(upToCount: 128 * 1024), !data.isEmpty else { return nil }
    consumed += data.count
    return Array(data)
  }

  /// How much of it was read, from 0 to 1.
  var fraction: Double? {
    size.map { $0 == 0 ? 1 : Double(consumed) / Double($0) }
  }
}
