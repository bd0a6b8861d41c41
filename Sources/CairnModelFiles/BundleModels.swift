import CairnModel
import Foundation

// The models among the resources of bundles.

extension ManagedObjectModel {
  /// The models of several bundles' `.momd`, `.mom`, `.xcdatamodeld` and `.xcdatamodel` resources
  /// in one; nil for bundles means the main one.
  ///
  /// For a main bundle without models these are the ones in the resource bundles that SwiftPM puts
  /// beside the program.
  ///
  /// Nil when two entities of the same name differ.
  public class func mergedModel(from bundles: [Bundle]?) -> ManagedObjectModel? {
    let models = modelURLs(in: bundles ?? [.main])
      .compactMap { try? ManagedObjectModel.read(contentsOf: $0) }
    return ManagedObjectModel(byMerging: models)
  }

  /// The model among the bundles' resources, older versions included, that a store was made with;
  /// nil when there is none.
  public class func mergedModel(
    from bundles: [Bundle]?, forStoreMetadata metadata: [String: Any]
  ) -> ManagedObjectModel? {
    let models = modelURLs(in: bundles ?? [.main]).flatMap { url -> [ManagedObjectModel] in
      if let package = try? ModelPackage(contentsOf: url) {
        return package.versionNames.compactMap { try? package.model(named: $0) }
      }
      return (try? ManagedObjectModel.read(contentsOf: url)).map { [$0] } ?? []
    }
    return ManagedObjectModel(byMerging: models, forStoreMetadata: metadata)
  }

  class func modelURLs(in bundles: [Bundle]) -> [URL] {
    bundles.flatMap { bundle -> [URL] in
      let own = ProgramResources.modelExtensions.flatMap { kind in
        bundle.urls(forResourcesWithExtension: kind, subdirectory: nil) ?? []
      }
      if !own.isEmpty || !ModelResources.isMain(bundle) { return own.map { $0 as URL } }
      return ProgramResources.models()
    }.sorted { $0.path < $1.path }
  }
}
