// `backup`: where copies of stores are kept.

import Foundation

/// Where copies of stores are kept.
public struct BackupSection: Sendable, Hashable {
  /// Made when the first copy is, for the daemon's user alone.
  public var folder: String

  public init(folder: String) { self.folder = folder }

  /// Beside the local store, unless another place is named.
  init(localStore: String) {
    self.init(
      folder: URL(fileURLWithPath: localStore).deletingLastPathComponent()
        .appendingPathComponent("backups").path)
  }

  static func read(_ reader: SectionReader, local: LocalSection?) -> BackupSection? {
    let path = reader.absolutePath(reader.text("folder"), key: "folder")
    reader.finish()
    return path.map(BackupSection.init(folder:))
      ?? local.map { BackupSection(localStore: $0.path) }
  }
}
