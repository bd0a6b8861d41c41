import Foundation

/// Which file a path leads to, or is going to lead to, whatever links and mounts it takes.
package struct FileIdentity: Hashable, Sendable {
  private let device: Int
  private let number: UInt64
  /// Of a file that is not there yet: its name, and those of missing folders, in the nearest folder that is there.
  private let missing: [String]

  /// Nil where nothing on the way can be looked at.
  package init?(ofFileAt path: String) {
    if let (device, number) = Self.facts(path) {
      (self.device, self.number, missing) = (device, number, [])
      return
    }
    var names: [String] = []
    var folder = path[...]
    while let slash = folder.lastIndex(of: "/") {
      names.insert(String(folder[folder.index(after: slash)...]), at: 0)
      folder = folder[..<slash]
      // With the point a link by which the folder is named is followed.
      if let (device, number) = Self.facts("\(folder)/.") {
        (self.device, self.number, missing) = (device, number, names.filter { !$0.isEmpty })
        return
      }
    }
    return nil
  }

  private static func facts(_ path: String) -> (device: Int, number: UInt64)? {
    let manager = FileManager.default
    var facts = try? manager.attributesOfItem(atPath: path)
    if facts?[.type] as? FileAttributeType == .typeSymbolicLink {
      let target = URL(fileURLWithPath: path).resolvingSymlinksInPath().path
      facts = target == path ? nil : try? manager.attributesOfItem(atPath: target)
    }
    guard let device = (facts?[.systemNumber] as? NSNumber)?.intValue,
      let number = (facts?[.systemFileNumber] as? NSNumber)?.uint64Value
    else { return nil }
    return (device, number)
  }

  /// What is said of a path that leads to the file of another store, before the words for that.
  package static func text(_ path: String, isFileOf other: String) -> String {
    "\(path) is the file of \(other) under another name (a link, or another way to its folder)"
  }
}
