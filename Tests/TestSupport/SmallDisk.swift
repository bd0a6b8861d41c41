import Foundation

/// A file system in memory that is soon full.
package final class SmallDisk {
  private let place: TemporaryFolder
  package var folder: URL { place.url }

  /// Nil, with a word about it, where none can be mounted.
  package init?(megabytes: Int) throws {
    place = try TemporaryFolder()
    guard
      try ChildProcess.run(
        "/usr/bin/mount", ["-t", "tmpfs", "-o", "size=\(megabytes)m", "tmpfs", folder.path])
    else {
      let word = "real full disk: left out, no file system can be mounted here (that takes root)\n"
      FileHandle.standardError.write(Data(word.utf8))
      return nil
    }
  }

  deinit {
    _ = try? ChildProcess.run("/usr/bin/umount", ["-l", folder.path])
  }

  package func grow(toMegabytes megabytes: Int) throws {
    guard
      try ChildProcess.run(
        "/usr/bin/mount", ["-o", "remount,size=\(megabytes)m", folder.path])
    else {
      throw CocoaError(.fileWriteUnknown)
    }
  }
}
