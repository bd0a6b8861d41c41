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
  /// Tells ``UnnamedFiles`` that files are here to be named yet.
  private var lock: AdvisoryLock?

  init(from source: URL, to destination: URL, options: StoreOptions) {
    self.source = ExternalDataFiles(store: source, options: options)
    self.destination = ExternalDataFiles(store: destination, options: options)
  }

  /// Copies what the destination lacks.
  func add() throws {
    let operations = destination.operations
    do {
      wanted = Set(try Self.names(in: source))
      if wanted.isEmpty { return }
      try destination.makeFolder()
      // Where a file system has no locks, `UnnamedFiles` takes no files away, either.
      lock = try? AdvisoryLock.wait(folder: destination.folder.path, mode: .shared)
      let missing = wanted.subtracting(try Self.names(in: destination))
      for name in missing.sorted() {
        let file = destination.folder.appendingPathComponent(name)
        // A copy that was broken off must not pass for the file the next time.
        let part = destination.folder.appendingPathComponent(name + ".part")
        try operations.remove(part)
        added.append(part.lastPathComponent)
        try operations.copy(source.folder.appendingPathComponent(name), to: part)
        try operations.synchronize(file: part)
        added.append(name)
        try operations.move(part, to: file)
      }
      try operations.synchronize(folder: destination.folder)
    } catch {
      throw CoreDataError(
        ExternalDataFiles.isOutOfSpace(error) ? .fileWriteOutOfSpace : .persistentStoreOperation,
        "The external data in \(source.folder.path) could not be copied to "
          + "\(destination.folder.path); the store there is as it was.",
        userInfo: [NSFilePathErrorKey: destination.folder.path], underlyingError: error)
    }
  }

  /// The rows were not replaced.
  func takeBack() {
    destination.remove(added)
    lock?.release()
  }

  /// The rows were replaced: removes what only the old ones named.
  func finish() {
    // Files that stay are harmless.
    let names = (try? Self.names(in: destination)) ?? []
    destination.remove(names.filter { !wanted.contains($0) })
    lock?.release()
  }

  private static func names(in files: ExternalDataFiles) throws -> [String] {
    guard FileManager.default.fileExists(atPath: files.folder.path) else { return [] }
    return try FileManager.default.contentsOfDirectory(atPath: files.folder.path)
  }
}
