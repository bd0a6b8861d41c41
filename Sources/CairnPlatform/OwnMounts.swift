// Mounts that no other process sees, and file systems that lose their power.
import CPlatform
import Glibc

/// Mounts of this process alone.
public enum OwnMounts {
  /// Starts this program anew, with mounts that no other process sees.
  ///
  /// They are gone with it. Takes root; only for a program that has begun nothing.
  ///
  /// - Parameter mark: A variable of the environment that is set then, so that it happens once.
  /// - Returns: Whether this process has such mounts; where it has not, it goes on as it was.
  public static func take(marking mark: String) -> Bool {
    if getenv(mark) != nil { return true }
    guard geteuid() == 0 else { return false }
    setenv(mark, "1", 1)
    _ = cplatform_restart_with_own_mounts(CommandLine.unsafeArgv)
    unsetenv(mark)
    return false
  }

  /// Loses what was not flushed to the file system that is mounted at a folder, as when its power goes.
  ///
  /// Nothing can be read or written there before it is mounted anew.
  ///
  /// - Parameter folder: A mount of this process, of ext4 or XFS.
  /// - Throws: ``PlatformError``; also where the folder is on the file system of the folder that it is in.
  public static func cutPower(at folder: String) throws {
    let mount = try FileFacts(path: folder)
    guard try FileFacts(path: "\(folder)/..").device != mount.device else {
      throw PlatformError("cut the power of", path: folder, code: .invalid)
    }
    guard cplatform_cut_power(folder) == 0 else {
      throw PlatformError("cut the power of", path: folder, code: .current)
    }
  }
}
