import Glibc

/// A folder in a place that other users may write to, and the files in it.
///
/// Its owner could put a symbolic link in the place of a file or folder, and have a process that may read
/// more than the owner read or write elsewhere. The last folders of the path are opened step by step; a link
/// among them is followed only where root or the user of this process made it, as an administrator does who
/// moves the folder to another disk. Files are never reached through links.
public struct GuardedFolder: Sendable {
  private let folder: OwnedDescriptor
  private let path: String

  /// Opens a folder.
  ///
  /// - Parameters:
  ///   - path: Its path.
  ///   - steps: How many of the last folders of the path others may write to.
  /// - Throws: ``PlatformError``, with the code `notFound` where a folder is not there.
  public init(_ path: String, steps: Int) throws {
    var names = path.split(separator: "/").map(String.init)
    let guarded = names.suffix(steps)
    names.removeLast(guarded.count)
    var place = (path.hasPrefix("/") ? "/" : "./") + names.joined(separator: "/")
    var current = try Self.open(AT_FDCWD, place, O_DIRECTORY, at: place)
    for name in guarded {
      place += "/" + name
      current = try Self.step(from: current, to: name, at: place)
    }
    folder = current
    self.path = path
  }

  /// Opens a file for reading; nil where there is none.
  ///
  /// - Throws: ``PlatformError``, also for what is no plain file.
  public func file(_ name: String) throws -> OwnedDescriptor? {
    let place = "\(path)/\(name)"
    do {
      let file = try Self.open(folder.rawValue, name, O_NOFOLLOW | O_NONBLOCK, at: place)
      guard try Self.facts(of: file, at: place).st_mode & S_IFMT == S_IFREG else {
        throw Self.refusal("read", place)
      }
      return file
    } catch let error as PlatformError where error.code == .notFound {
      return nil
    } catch let error as PlatformError where error.code.rawValue == ELOOP {
      throw Self.refusal("read", place)
    }
  }

  /// Makes a file that is not there yet, open for writing.
  public func makeFile(_ name: String) throws -> OwnedDescriptor {
    try Self.open(
      folder.rawValue, name, O_WRONLY | O_CREAT | O_EXCL | O_NOFOLLOW, at: "\(path)/\(name)")
  }

  // MARK: Steps

  /// `O_PATH`, which Glibc shows only to programs that ask for GNU's extensions.
  private static let pathOnly: Int32 = 0o10_000_000

  private static func step(
    from folder: OwnedDescriptor, to name: String, at place: String
  ) throws -> OwnedDescriptor {
    // What is here cannot become another while it is looked at.
    let here = try open(folder.rawValue, name, pathOnly | O_NOFOLLOW, at: place)
    let facts = try facts(of: here, at: place)
    guard facts.st_mode & S_IFMT == S_IFLNK else {
      return try open(here.rawValue, ".", O_DIRECTORY, at: place)
    }
    guard facts.st_uid == 0 || facts.st_uid == geteuid() else { throw refusal("enter", place) }
    var target = [UInt8](repeating: 0, count: Int(PATH_MAX))
    let count = readlinkat(here.rawValue, "", &target, target.count)
    guard count > 0, count < target.count else {
      throw PlatformError("read the link", path: place, code: .current)
    }
    return try open(
      folder.rawValue, String(decoding: target.prefix(count), as: UTF8.self), O_DIRECTORY,
      at: place)
  }

  private static func open(
    _ folder: Int32, _ name: String, _ flags: Int32, at place: String
  ) throws -> OwnedDescriptor {
    let opened = retryingInterrupts { openat(folder, name, flags | O_CLOEXEC, 0o666) }
    guard opened >= 0 else { throw PlatformError("open", path: place, code: .current) }
    return OwnedDescriptor(adopting: opened)
  }

  private static func facts(of file: OwnedDescriptor, at place: String) throws -> stat {
    var facts = stat()
    guard fstat(file.rawValue, &facts) == 0 else {
      throw PlatformError("look at", path: place, code: .current)
    }
    return facts
  }

  private static func refusal(_ operation: String, _ place: String) -> PlatformError {
    PlatformError(
      operation, path: place, code: .notPermitted,
      advice: "another user's link, or no plain file, stands in its place; put the store's own back"
    )
  }
}
