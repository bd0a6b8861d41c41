// What kind of file system a file is on.
import CPlatform
import Foundation

/// What kind of file system a file is on.
public enum FileSystemKind {
  /// Whether other machines can change what is there, of which this one's kernel does not tell: a
  /// network mount, or one that a program serves.
  ///
  /// - Returns: True also for what cannot be looked at.
  public static func isShared(at path: String) -> Bool {
    let type = cplatform_file_system_type(path)
    return type < 0 || sharedTypes.contains(type)
  }

  /// What it is called, such as `ext4`, by the mount that the path is in; `unknown` where the kernel
  /// does not say.
  ///
  /// - Parameter path: Absolute, and without links.
  public static func name(at path: String) -> String {
    var found = (length: -1, kind: "unknown")
    for (place, kind) in mounts() {
      let isAbove = place == "/" || path == place || path.hasPrefix(place + "/")
      // Of two mounts on one place the later one shows.
      if isAbove, place.utf8.count >= found.length { found = (place.utf8.count, kind) }
    }
    return found.kind
  }

  /// Whether a path is a mount point by itself: of a file, one that has another name elsewhere.
  ///
  /// - Parameter path: Absolute, and without links.
  public static func isMountPoint(_ path: String) -> Bool { mounts().contains { $0.place == path } }

  /// The mounts that this process sees, in their order.
  private static func mounts() -> [(place: String, kind: String)] {
    let table = (try? String(contentsOfFile: "/proc/self/mountinfo", encoding: .utf8)) ?? ""
    return table.split(separator: "\n").compactMap { line in
      let words = line.split(separator: " ")
      guard words.count > 4, let dash = words.firstIndex(of: "-"), dash + 1 < words.count else {
        return nil
      }
      return (unescaped(words[4]), String(words[dash + 1]))
    }
  }

  /// The kernel writes blanks, line ends and backslashes as three octal digits.
  private static func unescaped(_ word: Substring) -> String {
    var bytes: [UInt8] = []
    var rest = Array(word.utf8)[...]
    while let byte = rest.popFirst() {
      let digits = rest.prefix(3)
      if byte == UInt8(ascii: "\\"), digits.count == 3,
        let code = UInt8(String(decoding: digits, as: UTF8.self), radix: 8)
      {
        bytes.append(code)
        rest = rest.dropFirst(3)
      } else {
        bytes.append(byte)
      }
    }
    return String(decoding: bytes, as: UTF8.self)
  }

  /// The `f_type` of statfs(2).
  private static let sharedTypes: Set<Int64> = [
    0x6969,  // NFS
    0xff53_4d42, 0xfe53_4d42, 0x517b,  // CIFS, SMB 2, SMB
    0x6573_5546,  // FUSE: sshfs and others
    0x0102_1997,  // 9P
    0x00c3_6400,  // Ceph
    0x0bd0_0bd0,  // Lustre
    0x0116_1970, 0x7461_636f,  // GFS2, OCFS2
    0x4750_3653, 0x4750_4653,  // GPFS
    0x5346_414f, 0x6b41_4653,  // AFS
    0x7375_7245, 0x564c,  // Coda, NCP
    0x786f_4256, 0xbacb_acbc,  // shared folders of VirtualBox and VMware
  ]
}
