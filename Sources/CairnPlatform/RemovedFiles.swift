// Which processes go on in a file whose name was removed.
import Glibc

/// Finds the processes that have a file open to which no name leads any more.
public enum RemovedFiles {
  /// Processes that have open what names led to until they were removed, and a file besides.
  ///
  /// Only those are found whose descriptors this process may look at: those of the same user, or all for root.
  ///
  /// - Parameters:
  ///   - paths: The former names, absolute and without links.
  ///   - other: The file that they have open and locked besides, so that the names were not others' there.
  ///   - mayBeThisProcess: Whether this process counts, too.
  public static func holders(
    of paths: [String], besides other: FileFacts, mayBeThisProcess: Bool
  ) -> [FileUser] {
    let former = Set(paths.map { $0 + " (deleted)" })
    return lockHolders(of: other).filter { mayBeThisProcess || $0 != getpid() }.sorted()
      .filter { process in
        let folder = "/proc/\(process)/fd/"
        let descriptors = FileUsers.entries(of: folder)
        return descriptors.contains { target(of: folder + $0).map(former.contains) ?? false }
          && descriptors.contains { descriptor in
            guard let facts = try? FileFacts(path: folder + descriptor) else { return false }
            return facts.device == other.device && facts.inode == other.inode
          }
      }
      .map(FileUsers.user)
  }

  /// The processes that the kernel names as holders of record locks of the file.
  ///
  /// Only by its number: for some disks the kernel's list has other numbers of devices than the files have.
  private static func lockHolders(of file: FileFacts) -> Set<Int32> {
    var holders: Set<Int32> = []
    for line in lines(of: "/proc/locks") {
      // "1: POSIX  ADVISORY  READ 4711 fd:01:131076 0 EOF"
      let words = line.split(separator: " ")
      guard words.count > 5, words[5].hasSuffix(":\(file.inode)"), let process = Int32(words[4])
      else { continue }
      holders.insert(process)
    }
    return holders
  }

  private static func lines(of path: String) -> [Substring] {
    let opened = retryingInterrupts { open(path, O_RDONLY | O_CLOEXEC) }
    guard opened >= 0 else { return [] }
    let descriptor = OwnedDescriptor(adopting: opened)
    var text: [UInt8] = []
    var bytes = [UInt8](repeating: 0, count: 65_536)
    while true {
      let count = retryingInterrupts { read(descriptor.rawValue, &bytes, bytes.count) }
      guard count > 0 else { break }
      text += bytes.prefix(count)
    }
    return String(decoding: text, as: UTF8.self).split(separator: "\n")
  }

  private static func target(of link: String) -> String? {
    var bytes = [CChar](repeating: 0, count: Int(PATH_MAX) + 16)
    let count = readlink(link, &bytes, bytes.count)
    guard count > 0 else { return nil }
    return String(decoding: bytes.prefix(count).map { UInt8(bitPattern: $0) }, as: UTF8.self)
  }
}
