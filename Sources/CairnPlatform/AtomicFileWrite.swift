// Replaces a file so that a crash leaves the old content or the new, never a mixture.
import CPlatform
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
    try put(bytes, at: path, mode: mode) { beside in
      guard rename(beside, path) == 0 else {
        throw PlatformError("replace", path: path, code: .current)
      }
      return true
    }
  }

  /// Puts `bytes` at `path` only if what is there is what the caller knows.
  ///
  /// Between the look and the replacing is no moment: both files change places in one step, and the
  /// old one is looked at when it has no other name any more. File systems that cannot do that
  /// leave such a moment.
  ///
  /// - Parameter isKnown: Told the path of what is replaced; nil when there is nothing.
  /// - Returns: Whether the file was replaced; it is as it was otherwise.
  /// - Throws: ``PlatformError``, and what `isKnown` throws; the file is as it was then.
  public static func replace(
    path: String, with bytes: some Collection<UInt8>, mode: UInt32 = 0o600,
    where isKnown: (_ old: String?) throws -> Bool
  ) throws -> Bool {
    try put(bytes, at: path, mode: mode) { beside in
      while true {
        if cplatform_exchange(beside, path) == 0 {
          return try settle(beside, path, isKnown)
        }
        let code = errno
        let failure = PlatformError("replace", path: path, code: ErrnoCode(rawValue: code))
        if code == ENOENT {
          guard try isKnown(nil) else { return false }
          if cplatform_rename_new(beside, path) == 0 { return true }
          // Another program has made a file of that name.
          if errno == EEXIST { continue }
          throw failure
        }
        guard code == EINVAL || code == ENOSYS else { throw failure }
        var isThere = stat()
        guard try isKnown(stat(path, &isThere) == 0 ? path : nil) else { return false }
        guard rename(beside, path) == 0 else { throw failure }
        return true
      }
    }
  }

  /// Looks at the old file, which is beside now, and puts it back if it is not the known one.
  private static func settle(
    _ beside: String, _ path: String, _ isKnown: (String?) throws -> Bool
  ) throws -> Bool {
    let own = try FileFacts(path: path)
    let verdict = Result { try isKnown(beside) }
    if case .success(true) = verdict { return true }
    guard cplatform_exchange(beside, path) == 0 else {
      throw PlatformError("put back", path: path, code: .current)
    }
    // Who has replaced the new file meanwhile has replaced the old one, too.
    let out = try FileFacts(path: beside)
    if out.inode != own.inode || out.device != own.device {
      _ = cplatform_exchange(beside, path)
    }
    return try verdict.get()
  }

  /// - Parameter place: Gives the file beside, which is complete, its name, and tells whether it did.
  @discardableResult
  private static func put(
    _ bytes: some Collection<UInt8>, at path: String, mode: UInt32,
    _ place: (_ beside: String) throws -> Bool
  ) throws -> Bool {
    let cut = path.utf8.lastIndex(of: UInt8(ascii: "/"))
    let folder = cut.map { $0 == path.startIndex ? "/" : String(path[..<$0]) } ?? "."
    let name = cut.map { String(path[path.index(after: $0)...]) } ?? path
    let beside = "\(folder)/.\(name).\(getpid()).\(UInt32.random(in: 0 ... .max))"
    // After an exchange it is the old file that is there.
    defer { unlink(beside) }
    try write(Array(bytes), toNewFile: beside, mode: mode)
    guard try place(beside) else { return false }
    try synchronize(folder: folder)
    return true
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
