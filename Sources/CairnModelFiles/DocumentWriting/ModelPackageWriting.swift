import CairnModel
import Foundation

// Writing model packages as the editor does.

extension ModelPackage {
  /// A version of a model that is to be written.
  public struct Version: Sendable {
    /// The version's name, which its folder has.
    public let name: String
    public let model: ManagedObjectModel

    public init(name: String, model: ManagedObjectModel) {
      self.name = name
      self.model = model
    }
  }

  /// Writes a `.xcdatamodeld` folder that the editor and ``init(contentsOf:)`` read.
  ///
  /// The folder appears with everything in it or not at all.
  ///
  /// - Parameters:
  ///   - versions: At least one, each with a name of its own.
  ///   - current: The name of the version that new stores are made with.
  ///   - url: The folder to make; nothing may be there.
  /// - Returns: What the models hold and the format has no words for; see ``ModelDocument/losses``.
  /// - Throws: ``ModelFileError`` for a version that the format cannot express, for names that no
  ///   folder can have, and when the folder is there already or cannot be written.
  @discardableResult
  public static func write(
    _ versions: [Version], current: String, to url: URL
  ) throws -> [String] {
    let names = versions.map(\.name)
    guard names.contains(current) else {
      throw ModelFileError(
        file: url.path, .unknownName, "There is no version \(current) to be the current one.")
    }
    guard Set(names).count == names.count,
      names.allSatisfy({ !$0.isEmpty && !$0.hasPrefix(".") && !$0.contains("/") })
    else {
      throw ModelFileError(
        file: url.path, .duplicateName,
        "The names of the versions (\(names.joined(separator: ", "))) must be different names of "
          + "folders.")
    }
    guard !FileManager.default.fileExists(atPath: url.path) else {
      throw ModelFileError(
        file: url.path, .duplicateName, "There is something already; remove it or name another.")
    }
    let documents = try versions.map { ($0.name, try ModelDocument($0.model)) }
    try place(documents, current: current, at: url)
    return documents.flatMap { name, document in
      document.losses.map { versions.count == 1 ? $0 : "\(name): \($0)" }
    }
  }

  private static func place(
    _ documents: [(name: String, document: ModelDocument)], current: String, at url: URL
  ) throws {
    let manager = FileManager.default
    let parts = url.deletingLastPathComponent()
      .appendingPathComponent(".\(url.lastPathComponent).\(UUID().uuidString)", isDirectory: true)
    do {
      for (name, document) in documents {
        let folder = parts.appendingPathComponent("\(name).xcdatamodel", isDirectory: true)
        try manager.createDirectory(at: folder, withIntermediateDirectories: true)
        try document.data.write(to: folder.appendingPathComponent("contents"))
      }
      let list = try PropertyListSerialization.data(
        fromPropertyList: ["_XCCurrentVersionName": "\(current).xcdatamodel"], format: .xml,
        options: 0)
      try list.write(to: parts.appendingPathComponent(".xccurrentversion"))
      try manager.moveItem(at: parts, to: url)
    } catch {
      try? manager.removeItem(at: parts)
      throw ModelFileError(file: url.path, .unreadable, "The folder cannot be written: \(error)")
    }
  }
}
