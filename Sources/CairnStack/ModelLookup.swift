import CairnMigration
import CairnModel
import CairnModelFiles
import CairnStore
import Foundation

/// Finds a program's model by name.
///
/// Looked for, in this order, as `.momd`, `.mom`, `.xcdatamodeld` and `.xcdatamodel`: among the
/// resources of the main bundle, next to the executable, and in the resource bundles that SwiftPM
/// puts next to it (`Package_Target.resources`).
struct ModelLookup {
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
    let urls = ProgramResources.models(in: folders)
    if let url = urls.first(where: { $0.deletingPathExtension().lastPathComponent == name }) {
      return try ManagedObjectModel.read(contentsOf: url)
    }
    // A program that did not name its model after the container means all there are.
    let models = try urls.map(ManagedObjectModel.read(contentsOf:))
    if models.count == 1 { return models[0] }
    if let merged = models.isEmpty ? nil : ManagedObjectModel(byMerging: models) { return merged }
    throw CoreDataError(
      .coreData,
      "There is no model named \"\(name)\" (\(ProgramResources.modelExtensions.joined(separator: ", "))) in: "
        + folders.map(\.path).joined(separator: ", ")
        + ". Put it there, or give the model to PersistentContainer(name:managedObjectModel:).")
  }
}
