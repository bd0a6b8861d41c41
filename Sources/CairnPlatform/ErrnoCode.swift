// The one place that knows what the kernel's error numbers mean.
import Glibc

/// An error number of the kernel.
public struct ErrnoCode: RawRepresentable, Hashable, Sendable {
  /// The number as in `errno(3)`.
  public let rawValue: Int32

  /// Wraps a number from the kernel.
  public init(rawValue: Int32) { self.rawValue = rawValue }

  /// The number that the last failed call of this thread left behind.
  public static var current: ErrnoCode { ErrnoCode(rawValue: errno) }

  public static let notFound = ErrnoCode(rawValue: ENOENT)
  public static let notPermitted = ErrnoCode(rawValue: EPERM)
  public static let accessDenied = ErrnoCode(rawValue: EACCES)
  public static let exists = ErrnoCode(rawValue: EEXIST)
  public static let invalid = ErrnoCode(rawValue: EINVAL)
  public static let interrupted = ErrnoCode(rawValue: EINTR)
  public static let tryAgain = ErrnoCode(rawValue: EAGAIN)
  public static let timedOut = ErrnoCode(rawValue: ETIMEDOUT)
  public static let refused = ErrnoCode(rawValue: ECONNREFUSED)
  public static let reset = ErrnoCode(rawValue: ECONNRESET)
  public static let brokenPipe = ErrnoCode(rawValue: EPIPE)
  public static let inUse = ErrnoCode(rawValue: EADDRINUSE)
  public static let noSpace = ErrnoCode(rawValue: ENOSPC)
  public static let readOnly = ErrnoCode(rawValue: EROFS)
  public static let nameTooLong = ErrnoCode(rawValue: ENAMETOOLONG)
  public static let notASocket = ErrnoCode(rawValue: ENOTSOCK)
  public static let tooBig = ErrnoCode(rawValue: EMSGSIZE)
  public static let noBuffers = ErrnoCode(rawValue: ENOBUFS)
  public static let inProgress = ErrnoCode(rawValue: EINPROGRESS)
  public static let isFolder = ErrnoCode(rawValue: EISDIR)
  public static let ioFailure = ErrnoCode(rawValue: EIO)

  /// Whether a file may not get larger: the disk is full, the user's quota is used up, or the file has the largest size
  /// that the process may write.
  public var isOutOfSpace: Bool { [ENOSPC, EDQUOT, EFBIG].contains(rawValue) }

  /// The kernel's own short text.
  public var explanation: String {
    var room = [CChar](repeating: 0, count: 256)
    guard strerror_r(rawValue, &room, room.count) == 0 else { return "error \(rawValue)" }
    return String(decoding: room.prefix { $0 != 0 }.map(UInt8.init(bitPattern:)), as: UTF8.self)
  }

  /// The reason as a word that stays the same across versions, as logs have it.
  public var word: String {
    switch rawValue {
    case EACCES, EPERM: "permission-denied"
    case EIO: "disk-failed"
    case _ where isOutOfSpace: "disk-full"
    case EROFS: "read-only"
    case ENOENT: "not-found"
    case EADDRINUSE: "address-in-use"
    case EMFILE, ENFILE: "too-many-files"
    default: "system-error"
    }
  }

  /// What a person can do about it, for the cases where that is worth saying.
  public var advice: String? {
    switch rawValue {
    case EACCES, EPERM: "check the owner, the mode and the groups of the process"
    case EROFS: "the file system is mounted read-only"
    case ENOSPC, EDQUOT: "free some space and try again"
    case EFBIG: "raise the largest size of files (ulimit -f, LimitFSIZE=)"
    case EMFILE, ENFILE: "raise the limit of open files"
    case ENAMETOOLONG: "a socket's path can have at most 107 bytes"
    case EADDRINUSE: "another process has it"
    default: nil
    }
  }
}
