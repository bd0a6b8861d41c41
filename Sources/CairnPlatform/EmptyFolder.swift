// Removing a folder that another process may be putting something into.
import Glibc

/// A folder that goes when there is nothing in it.
public enum EmptyFolder {
  /// Removes the folder unless something is in it; in one step, so that what comes at this moment
  /// stays.
  ///
  /// - Returns: Whether it was removed.
  @discardableResult
  public static func remove(path: String) -> Bool { rmdir(path) == 0 }
}
