// Facts about a file that decide whether it may be trusted.
import Glibc

/// Owner, mode and kind of a file.
public struct FileFacts: Sendable, Equatable {
  public let owner: UInt32
  public let group: UInt32
  /// The permission bits.
  public let mode: UInt32
  public let isFolder: Bool
  public let isRegularFile: Bool
  /// Bytes, for a regular file.
  public let size: Int64
  public let device: UInt64
  public let inode: UInt64
  /// How many names (hard links) it has.
  public let names: Int
  /// When the content was last changed, since 1970: any moment, as programs may set it.
  public let modified: Duration

  /// Reads the facts of what `path` names, following links.
  public init(path: String) throws {
    var information = stat()
    guard stat(path, &information) == 0 else {
      throw PlatformError("look at", path: path, code: .current)
    }
    owner = information.st_uid
    group = information.st_gid
    mode = information.st_mode & 0o7777
    isFolder = information.st_mode & S_IFMT == S_IFDIR
    isRegularFile = information.st_mode & S_IFMT == S_IFREG
    size = Int64(information.st_size)
    device = UInt64(information.st_dev)
    inode = UInt64(information.st_ino)
    names = Int(information.st_nlink)
    modified =
      .seconds(information.st_mtim.tv_sec) + .nanoseconds(information.st_mtim.tv_nsec)
  }
}
