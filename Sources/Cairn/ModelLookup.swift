import CairnMigration
import CairnModel
import CairnStore
import Foundation

/// Finds a program's model by name.
///
/// Looked for, in this order, as `.momd`, `.mom`, `.xcdatamodeld` and `.xcdatamodel`: among the
/// resources of the main bundle, next to the executable, and in the resource bundles that SwiftPM
/// puts next to it (`Package_Target.resources`).
struct ModelLookup {
  static let extensions = ["momd", "mom", "xcdatamodeld", "xcdatamodel"]

  let name: String
  let folders: [URL]

  init(name: String, folders: [URL] = ProgramResources.folders) {
    self.name = name
    self.folders = folders
  }

  /// The model.
  ///
  /// - Throws: 134060 when there is none, with the places looked at; what reading the file throws
  ///   when there is one that cannot be used.
  func model() throws -> ManagedObjectModel {
    for folder in folders {
      for kind in Self.extensions {
        let url = folder.appendingPathComponent(name).appendingPathExtension(kind)
        if FileManager.default.fileExists(atPath: url.path) {
          return try ManagedObjectModel.load(contentsOf: url)
        }
      }
    }
    if let merged = try mergedModel() { return merged }
    throw CoreDataError(
      .coreData,
      "There is no model named \"\(name)\" (\(Self.extensions.joined(separator: ", "))) in: "
        + folders.map(\.path).joined(separator: ", ")
        + ". Put it there, or give the model to PersistentContainer(name:managedObjectModel:).")
  }

  /// All models there are as one, for a program that did not name its model after the container;
  /// nil when there are none.
  private func mergedModel() throws -> ManagedObjectModel? {
    var seen: Set<String> = []
    var models: [ManagedObjectModel] = []
    for folder in folders {
      let names = (try? FileManager.default.contentsOfDirectory(atPath: folder.path)) ?? []
      for kind in Self.extensions {
        for file in names.sorted() where (file as NSString).pathExtension == kind {
          // The same model may be there compiled and as source.
          guard seen.insert((file as NSString).deletingPathExtension).inserted else { continue }
          models.append(
            try ManagedObjectModel.load(contentsOf: folder.appendingPathComponent(file)))
        }
      }
    }
    if models.count < 2 { return models.first }
    return ManagedObjectModel(byMerging: models)
  }
}
