// For tests of what a closed stack leaves behind: descriptors.
import Foundation

/// The files below a folder that this process has open.
package func openFiles(in folder: URL) -> [String] {
  let files = FileManager.default
  // The listing's own descriptor is closed by the time it is looked at.
  let numbers = (try? files.contentsOfDirectory(atPath: "/proc/self/fd")) ?? []
  return numbers.compactMap { try? files.destinationOfSymbolicLink(atPath: "/proc/self/fd/\($0)") }
    .filter { $0.hasPrefix(folder.path + "/") }
}
