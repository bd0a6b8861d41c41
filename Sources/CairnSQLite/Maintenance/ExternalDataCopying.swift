import CairnPlatform
import CairnStore
import Foundation

/// Brings the external data of one store to another whose rows are being replaced: the files that
/// the new rows name come before the rows are written, those of the old rows go afterwards.
final class ExternalDataCopying {
  private let source: ExternalDataFiles
  private let destination: ExternalDataFiles
  private var wanted: Set<String> = []
  private var added: [String] = []

  init(from source: URL, to destination: URL) {
    self.source = ExternalDataFiles(store: source)
    self.destination = ExternalDataFiles(store: destination)
  }

  /// Copies what the destination lacks.
  func add() throws {
    let names = Self.names(in: source)
    wanted = Set(names)
    let missing = wanted.subtracting(Self.names(in: destination))
    if missing.isEmpty { return }
    do {
      try destination.makeFolder()
      for name in missing.sorted() {
        added.append(name)
        let file = destination.folder.appendingPathComponent(name)
        try FileManager.default.copyItem(at: source.folder.appendingPathComponent(name), to: file)
        let handle = try FileHandle(forUpdating: file)
        try handle.synchronize()
        try handle.close()
      }
      try AtomicFileWrite.synchronize(folder: destination.folder.path)
    } catch {
      throw CoreDataError(
        ExternalDataFiles.isOutOfSpace(error) ? .fileWriteOutOfSpace : .persistentStoreOperation,
        "The external data in \(source.folder.path) could not be copied to "
          + "\(destination.folder.path); the store there is as it was.",
        userInfo: [NSFilePathErrorKey: destination.folder.path], underlyingError: error)
    }
  }

  /// The rows were not replaced.
  func takeBack() { destination.remove(added) }

  /// The rows were replaced: removes what only the old ones named.
  func finish() {
    destination.remove(Self.names(in: destination).filter { !wanted.contains($0) })
  }

  private static func names(in files: ExternalDataFiles) -> [String] {
    (try? FileManager.default.contentsOfDirectory(atPath: files.folder.path)) ?? []
  }
}
