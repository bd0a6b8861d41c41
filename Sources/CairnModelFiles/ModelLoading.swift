import CairnModel
import Foundation

// Finding out what kind of model file something is, and reading it.

extension ManagedObjectModel {
  /// Reads a model from a file or folder of any kind.
  ///
  /// - `.xcdatamodeld`, `.momd`: the current version of the package; see ``ModelPackage``.
  /// - `.xcdatamodel`: one version as the editor writes it.
  /// - `.mom`: one compiled version. The optimised `.omo` form is read from the `.mom` beside it.
  ///
  /// Where a compiled model is asked for and only its source is there, the source is read: SwiftPM
  /// on Linux compiles no models.
  ///
  /// The model comes back editable. Cost: reading and parsing the file, on the calling thread.
  ///
  /// - Throws: ``ModelFileError`` with every problem of the file at once.
  package static func read(contentsOf url: URL) throws -> ManagedObjectModel {
    let url = ModelResources.existing(url) ?? url
    var isDirectory: ObjCBool = false
    guard FileManager.default.fileExists(atPath: url.path, isDirectory: &isDirectory) else {
      throw ModelFileError(file: url.path, .unreadable, "There is no such file.")
    }
    if isDirectory.boolValue {
      let contents = url.appendingPathComponent("contents")
      if FileManager.default.fileExists(atPath: contents.path) {
        return try ModelDocumentReader.read(try bytes(of: contents), file: contents.path)
      }
      if url.pathExtension == "xcdatamodel" { return try loadLegacyVersion(url) }
      return try ModelPackage(contentsOf: url).currentModel()
    }
    if url.pathExtension == "omo" {
      return try read(contentsOf: url.deletingPathExtension().appendingPathExtension("mom"))
    }
    let data = try bytes(of: url)
    if data.starts(with: Array("bplist00".utf8)) {
      return try CompiledModel.read(data, file: url.path)
    }
    if let kind = kindOfNoModel(data) {
      throw ModelFileError(
        file: url.path, .notAModel,
        "The file is \(kind): neither a compiled model nor a document of Xcode's editor.")
    }
    return try ModelDocumentReader.read(data, file: url.path)
  }

  /// What bytes are that are no model whatever they go on with; nil for those that may be one.
  private static func kindOfNoModel(_ data: Data) -> String? {
    if data.isEmpty { return "empty" }
    if data.starts(with: Array("SQLite format 3\0".utf8)) { return "an SQLite database" }
    // The reader of documents has its own words for text that it cannot take, such as UTF-16.
    let byteOrderMarks: [[UInt8]] = [[0xEF, 0xBB, 0xBF], [0xFE, 0xFF], [0xFF, 0xFE]]
    if byteOrderMarks.contains(where: data.starts(with:)) { return nil }
    let first = data.first { !" \t\r\n".utf8.contains($0) }
    return first == UInt8(ascii: "<") ? nil : "no XML"
  }

  /// Reads a model from a file or folder of any kind; nil when it is missing or invalid.
  ///
  /// `read(contentsOf:)` says why.
  public convenience init?(contentsOf url: URL) {
    guard let loaded = try? ManagedObjectModel.read(contentsOf: url) else { return nil }
    self.init()
    takeContents(of: loaded)
  }

  private static func bytes(of url: URL) throws -> Data {
    do {
      return try Data(contentsOf: url)
    } catch {
      throw ModelFileError(file: url.path, .unreadable, "The file cannot be read: \(error)")
    }
  }

  /// A version folder of an editor older than Xcode 4.
  private static func loadLegacyVersion(_ url: URL) throws -> ManagedObjectModel {
    throw ModelFileError(
      file: url.path, .notAModel,
      "The folder has no contents document; versions of editors older than Xcode 4 must be saved "
        + "once with a newer one.")
  }
}
