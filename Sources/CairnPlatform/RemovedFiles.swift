// Which processes go on in a file whose name was removed.
import Glibc

/// Finds the processes that have a file open to which no name leads any more.
public enum RemovedFiles {
  /// Processes, this one too, that have open what `path` named until it was removed, and a file besides.
  ///
  /// Only those are found whose descriptors this process may look at: those of the same user, or all for root.
  ///
  /// - Parameters:
  ///   - path: The former name, absolute and without links.
  ///   - other: The file that they have open besides, so that the name was not one in another folder there.
  public static func holders(of path: String, besides other: FileFacts) -> [FileUser] {
    // Most often there is none, and to look at all descriptors of a machine takes its time.
    guard isLocked(other) else { return [] }
    return FileUsers.entries(of: "/proc").compactMap { Int32($0) }.sorted()
      .filter { process in
        let folder = "/proc/\(process)/fd/"
        let descriptors = FileUsers.entries(of: folder)
        return descriptors.contains { target(of: folder + $0) == path + " (deleted)" }
          && descriptors.contains { descriptor in
            guard let facts = try? FileFacts(path: folder + descriptor) else { return false }
            return facts.device == other.device && facts.inode == other.inode
          }
      }
      .map(FileUsers.user)
  }

  /// Whether this process has the file open.
  public static func isOpenHere(_ file: FileFacts) -> Bool { FileUsers.ownDescriptor(of: file) != nil }

  /// Whether any process that the kernel tells of holds a record lock of the file.
  ///
  /// Only by its number: the kernel's list has other numbers for some disks than the files have.
  private static func isLocked(_ file: FileFacts) -> Bool {
    let opened = retryingInterrupts { open("/proc/locks", O_RDONLY | O_CLOEXEC) }
    guard opened >= 0 else { return true }
    let descriptor = OwnedDescriptor(adopting: opened)
    var text: [UInt8] = []
    var bytes = [UInt8](repeating: 0, count: 65_536)
    while true {
      let count = retryingInterrupts { read(descriptor.rawValue, &bytes, bytes.count) }
      guard count > 0 else { break }
      text += bytes.prefix(count)
    }
    return String(decoding: text, as: UTF8.self).contains(":\(file.inode) ")
  }

  private static func target(of link: String) -> String? {
    var bytes = [CChar](repeating: 0, count: Int(PATH_MAX) + 16)
    let count = readlink(link, &bytes, bytes.count)
    guard count > 0 else { return nil }
    return String(decoding: bytes.prefix(count).map { UInt8(bitPattern: $0) }, as: UTF8.self)
  }
}
