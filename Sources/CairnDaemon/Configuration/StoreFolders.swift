// Where stores may lie: the folders of replicas that a member of the admin group adds, and names that no store
// can have.
import CairnPlatform
import Foundation

/// The folders below which a caller who is neither root nor the daemon's own user may have stores made or opened.
///
/// The daemon may write where such a caller may not: the configuration says where it does so on their behalf.
struct StoreFolders: Sendable {
  private let folders: [String]

  /// Those that `control.storeFolders` names, and those of the stores that the configuration names.
  init(_ configuration: DaemonConfiguration) {
    let files = [configuration.local.path] + configuration.replicas.compactMap(\.file)
    folders =
      configuration.control.storeFolders
      + files.map { URL(fileURLWithPath: $0).deletingLastPathComponent().path }
  }

  /// The path without the symbolic links in its folder, so that nothing leads elsewhere later.
  ///
  /// Reads folders, which can hang as a mount does.
  ///
  /// - Throws: ``StoreFolders/Refusal``, which says why a store may not be there.
  func place(of path: String) throws(Refusal) -> String {
    let url = URL(fileURLWithPath: path)
    guard let folder = Self.resolved(url.deletingLastPathComponent().path) else {
      throw Refusal("its folder is not there")
    }
    let roots = folders.compactMap(Self.resolved)
    guard
      let root = roots.filter({ Self.isFolder(folder, below: $0) }).max(by: { $0.count < $1.count })
    else {
      throw Refusal(
        "it lies in none of the folders that control.storeFolders of the configuration allows; "
          + "root may use any")
    }
    // A user who could exchange a folder on the way could lead the daemon away.
    var way = folder
    while way.count > root.count {
      if let problem = FileTrust.problem(ofFolder: way, keepingOut: .world) {
        throw Refusal(problem)
      }
      way = URL(fileURLWithPath: way).deletingLastPathComponent().path
    }
    let place = (folder == "/" ? "" : folder) + "/" + url.lastPathComponent
    guard (try? FileManager.default.destinationOfSymbolicLink(atPath: place)) == nil else {
      throw Refusal("it is a symbolic link; name what it leads to")
    }
    return place
  }

  /// Why a store may not lie somewhere.
  struct Refusal: Error {
    let reason: String
    init(_ reason: String) { self.reason = reason }
  }

  private static func isFolder(_ folder: String, below root: String) -> Bool {
    root == "/" || folder == root || folder.hasPrefix(root + "/")
  }

  /// Nil for what is no folder.
  private static func resolved(_ folder: String) -> String? {
    let path = URL(fileURLWithPath: folder).resolvingSymlinksInPath().path
    return (try? FileFacts(path: path))?.isFolder == true ? path : nil
  }
}

/// Names that files of stores cannot have.
enum StorePath {
  /// What SQLite adds to a store's name for files of its own, which a store must not take the place of.
  private static let companions = ["-wal", "-shm", "-journal"]

  /// What keeps a file of this path from being a store's; nil when nothing does.
  static func problem(_ path: String) -> String? {
    companions.first(where: path.hasSuffix).map {
      "SQLite keeps files whose names end in \"\($0)\" beside stores"
    }
  }
}
