// A file that only grows at its end.
import Glibc

/// Appends to a file, for what must be there when the process is not any more.
///
/// What was appended outlives the process, however it ends; it is not flushed to the disk.
public final class AppendedFile: Sendable {
  private let descriptor: OwnedDescriptor
  /// Bytes when it was opened.
  public let initialSize: Int

  /// Opens the file, or makes it for the process's user alone; a symbolic link is not followed.
  ///
  /// - Throws: ``PlatformError``.
  public init(path: String) throws {
    let flags = O_WRONLY | O_CREAT | O_APPEND | O_NOFOLLOW | O_CLOEXEC | O_NONBLOCK
    let number = retryingInterrupts { open(path, flags, 0o600) }
    guard number >= 0 else { throw PlatformError("open", path: path, code: .current) }
    descriptor = OwnedDescriptor(adopting: number)
    var information = stat()
    guard fstat(number, &information) == 0, information.st_mode & S_IFMT == S_IFREG else {
      throw PlatformError("append to", path: path, code: .current)
    }
    initialSize = Int(information.st_size)
  }

  /// - Returns: Whether all of the bytes were written.
  public func append(_ bytes: [UInt8]) -> Bool {
    let number = descriptor.rawValue
    return bytes.withUnsafeBytes { buffer in
      retryingInterrupts { write(number, buffer.baseAddress, buffer.count) } == buffer.count
    }
  }
}
