// Which other processes have a file open.
import Glibc

/// A process that uses a file.
public struct FileUser: Sendable, Hashable, CustomStringConvertible {
  public let process: Int32
  /// What the kernel calls its program; nil where that cannot be read.
  public let name: String?

  /// "process 4711 (cairnd)".
  public var description: String { "process \(process)" + (name.map { " (\($0))" } ?? "") }
}

/// Finds the processes that have a SQLite database, or another file, open.
public enum FileUsers {
  /// Other processes that use the file at `path`.
  ///
  /// Each connection to a database with a write-ahead log holds a lock of the index beside it, which the
  /// kernel tells whosever process it is. Of other files only processes are found whose descriptors this one
  /// may look at: those of the same user, or all for root. The process may have the database open itself, but
  /// opens and closes none of it meanwhile.
  public static func others(of path: String) -> [FileUser] {
    var processes = descriptorHolders(of: [path, path + "-wal", path + "-shm"])
    processes.formUnion(lockHolders(ofIndex: path + "-shm", bytes: connectionByte...connectionByte))
    return users(processes)
  }

  /// Other processes that read in the write-ahead log of the database at `path`, as far as the kernel tells:
  /// one for each of the places from which is read.
  public static func readers(of path: String) -> [FileUser] {
    users(lockHolders(ofIndex: path + "-shm", bytes: readerBytes))
  }

  private static func users(_ processes: Set<Int32>) -> [FileUser] {
    processes.subtracting([getpid()]).sorted().map(user)
  }

  static func user(_ process: Int32) -> FileUser {
    FileUser(process: process, name: name(of: process))
  }

  /// The byte of the index that every connection locks (`UNIX_SHM_DMS` in SQLite's file format).
  private static let connectionByte: off_t = 128
  /// The bytes of the index that readers lock (`WAL_READ_LOCK`).
  private static let readerBytes: ClosedRange<off_t> = 123...127

  /// For each byte of a log's index one of the processes that have locked it.
  private static func lockHolders(ofIndex path: String, bytes: ClosedRange<off_t>) -> Set<Int32> {
    // Closing a descriptor of the index would give up the locks by which this process keeps the database.
    if let own = ownDescriptor(of: path) { return lockHolders(own, bytes) }
    let opened = retryingInterrupts { open(path, O_RDONLY | O_CLOEXEC | O_NOFOLLOW | O_NONBLOCK) }
    guard opened >= 0 else { return [] }
    let descriptor = OwnedDescriptor(adopting: opened)
    return lockHolders(descriptor.rawValue, bytes)
  }

  private static func lockHolders(_ descriptor: Int32, _ bytes: ClosedRange<off_t>) -> Set<Int32> {
    var found: Set<Int32> = []
    for byte in bytes {
      var query = Glibc.flock(
        l_type: Int16(F_WRLCK), l_whence: Int16(SEEK_SET), l_start: byte, l_len: 1, l_pid: 0)
      if fcntl(descriptor, F_GETLK, &query) == 0, query.l_type != Int16(F_UNLCK), query.l_pid > 0 {
        found.insert(query.l_pid)
      }
    }
    return found
  }

  /// Whether this process has all of the files open.
  public static func areOpenHere(_ files: [FileFacts]) -> Bool {
    var missing = files
    for descriptor in entries(of: "/proc/self/fd") where !missing.isEmpty {
      guard let facts = try? FileFacts(path: "/proc/self/fd/\(descriptor)") else { continue }
      missing.removeAll { $0.device == facts.device && $0.inode == facts.inode }
    }
    return missing.isEmpty
  }

  /// A descriptor by which this process has a file open.
  private static func ownDescriptor(of path: String) -> Int32? {
    guard let file = try? FileFacts(path: path) else { return nil }
    return entries(of: "/proc/self/fd").compactMap { Int32($0) }.first { descriptor in
      guard let facts = try? FileFacts(path: "/proc/self/fd/\(descriptor)") else { return false }
      return file.device == facts.device && file.inode == facts.inode
    }
  }

  private static func descriptorHolders(of paths: [String]) -> Set<Int32> {
    let files = paths.compactMap { try? FileFacts(path: $0) }
    guard !files.isEmpty else { return [] }
    var found: Set<Int32> = []
    for process in entries(of: "/proc").compactMap({ Int32($0) }) {
      let folder = "/proc/\(process)/fd"
      let isUser = entries(of: folder).contains { descriptor in
        guard let facts = try? FileFacts(path: "\(folder)/\(descriptor)") else { return false }
        return files.contains { $0.device == facts.device && $0.inode == facts.inode }
      }
      if isUser { found.insert(process) }
    }
    return found
  }

  /// The names in a folder; none where it may not be read.
  static func entries(of folder: String) -> [String] {
    guard let stream = opendir(folder) else { return [] }
    defer { closedir(stream) }
    var names: [String] = []
    while let entry = readdir(stream) {
      // In place: an entry may have fewer bytes than its type.
      let name = withUnsafeBytes(of: &entry.pointee.d_name) { bytes in
        String(decoding: bytes.prefix { $0 != 0 }, as: UTF8.self)
      }
      if !name.hasPrefix(".") { names.append(name) }
    }
    return names
  }

  private static func name(of process: Int32) -> String? {
    let opened = retryingInterrupts { open("/proc/\(process)/comm", O_RDONLY | O_CLOEXEC) }
    guard opened >= 0 else { return nil }
    let descriptor = OwnedDescriptor(adopting: opened)
    var bytes = [UInt8](repeating: 0, count: 64)
    let count = read(descriptor.rawValue, &bytes, bytes.count)
    guard count > 1 else { return nil }
    return String(decoding: bytes.prefix(count).prefix { $0 != 10 }, as: UTF8.self)
  }
}
