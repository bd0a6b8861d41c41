// Replaces a file so that a crash leaves the old content or the new, never a mixture.
import Glibc

/// Writes whole files in one step: temporary file, fsync, rename, fsync of the folder.
public enum AtomicFileWrite {
  /// Puts `bytes` at `path`, replacing what is there.
  ///
  /// - Parameter mode: The permissions of the new file, whatever the process's umask.
  /// - Throws: ``PlatformError``; the old file is untouched then.
  public static func replace(path: String, with bytes: some Collection<UInt8>, mode: UInt32 = 0o600)
    throws
  {
    let cut = path.utf8.lastIndex(of: UInt8(ascii: "/"))
    let folder = cut.map { $0 == path.startIndex ? "/" : String(path[..<$0]) } ?? "."
    let name = cut.map { String(path[path.index(after: $0)...]) } ?? path
    let beside = "\(folder)/.\(name).\(getpid()).\(UInt32.random(in: 0 ... .max))"
    do {
      try write(Array(bytes), toNewFile: beside, mode: mode)
      guard rename(beside, path) == 0 else {
        throw PlatformError("replace", path: path, code: .current)
      }
    } catch {
      unlink(beside)
      throw error
    }
    try synchronize(folder: folder)
  }

  /// Makes what happened to names in `folder` durable.
  public static func synchronize(folder: String) throws {
    let opened = open(folder, O_RDONLY | O_DIRECTORY | O_CLOEXEC)
    guard opened >= 0 else { throw PlatformError("open the folder", path: folder, code: .current) }
    let descriptor = OwnedDescriptor(adopting: opened)
    guard fsync(descriptor.rawValue) == 0 else {
      throw PlatformError("write the folder to disk", path: folder, code: .current)
    }
  }

  private static func write(_ bytes: [UInt8], toNewFile path: String, mode: UInt32) throws {
    let opened = open(path, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0o600)
    guard opened >= 0 else { throw PlatformError("create", path: path, code: .current) }
    let descriptor = OwnedDescriptor(adopting: opened)
    try writeAll(bytes, to: descriptor.rawValue, path: path)
    guard fchmod(descriptor.rawValue, mode) == 0 else {
      throw PlatformError("set the mode of", path: path, code: .current)
    }
    guard fsync(descriptor.rawValue) == 0 else {
      throw PlatformError("write to disk", path: path, code: .current)
    }
  }

  private static func writeAll(_ bytes: [UInt8], to descriptor: Int32, path: String) throws {
    try bytes.withUnsafeBytes { buffer in
      var offset = 0
      while offset < buffer.count {
        let rest = UnsafeRawBufferPointer(rebasing: buffer[offset...])
        let count = retryingInterrupts { Glibc.write(descriptor, rest.baseAddress, rest.count) }
        guard count > 0 else { throw PlatformError("write", path: path, code: .current) }
        offset += count
      }
    }
  }
}
