import CairnModel
import CairnStore
import Foundation

/// How to bring a store from one version of a model to another, entity by entity in order.
///
/// Source: `NSMappingModel`.
///
/// Made in code, inferred, or read from Xcode's `.xcmappingmodel`. Filled by one thread before the
/// migration; not changed while it runs.
open class MappingModel: NSObject {
  /// In the order in which they are worked off.
  open var entityMappings: [EntityMapping]! = []
  /// Whether it was inferred and not changed since, so that a store may take its own way.
  package private(set) var isInferred = false

  public override init() { super.init() }

  /// The mappings by their names.
  open var entityMappingsByName: [String: EntityMapping] {
    Dictionary(
      (entityMappings ?? []).map { ($0.title, $0) }, uniquingKeysWith: { first, _ in first })
  }

  /// The mapping that can be inferred between two versions; also answers whether there is one.
  ///
  /// - Throws: 134190 with every reason why there is none; ``ModelError`` for an invalid model.
  open class func inferredMappingModel(
    forSourceModel sourceModel: ManagedObjectModel, destinationModel: ManagedObjectModel
  ) throws -> MappingModel {
    try CoreDataError.bridging { try inferred(from: sourceModel, to: destinationModel) }
  }

  private static func inferred(
    from sourceModel: ManagedObjectModel, to destinationModel: ManagedObjectModel
  ) throws -> MappingModel {
    try sourceModel.prepareForUse()
    try destinationModel.prepareForUse()
    let difference = ModelDifference(from: sourceModel, to: destinationModel)
    guard difference.isInferable else {
      let reasons = difference.refusals.map(\.description)
      throw CoreDataError(
        .inferredMappingModel,
        "No mapping can be inferred between the models: " + reasons.joined(separator: " "),
        userInfo: ["reason": reasons.joined(separator: "\n")])
    }
    let mapping = MappingModel()
    mapping.entityMappings = MappingInference(difference: difference).entityMappings()
    mapping.isInferred = true
    return mapping
  }

  /// The first mapping model among the resources of the bundles (all of the program when nil)
  /// that leads from one model to the other; nil when there is none.
  ///
  /// Mapping models of the editor (`.xcmappingmodel`) do not record versions: they match when all
  /// their names exist on both sides. Files that cannot be read are passed over.
  public convenience init?(
    from bundles: [Bundle]?, forSourceModel sourceModel: ManagedObjectModel?,
    destinationModel: ManagedObjectModel?
  ) {
    guard let sourceModel, let destinationModel else { return nil }
    let folders = bundles.map { $0.compactMap(\.resourceURL) } ?? ProgramResources.folders
    let found = MappingModelSearch(folders: folders)
      .mapping(from: sourceModel, to: destinationModel)
    guard let found else { return nil }
    self.init()
    entityMappings = found.entityMappings
  }

  /// A mapping model from a file; nil when it cannot be read.
  ///
  /// ``load(contentsOf:)`` says why.
  public convenience init?(contentsOf url: URL?) {
    guard let url, let loaded = try? MappingModel.load(contentsOf: url) else { return nil }
    self.init()
    entityMappings = loaded.entityMappings
  }

  /// Reads a mapping model as Xcode's editor writes it (`.xcmappingmodel`).
  ///
  /// Compiled mapping models (`.cdm`) are not documented and cannot be read; ship the source.
  ///
  /// - Throws: ``ModelFileError``.
  public static func load(contentsOf url: URL) throws -> MappingModel {
    var isDirectory: ObjCBool = false
    guard FileManager.default.fileExists(atPath: url.path, isDirectory: &isDirectory) else {
      throw ModelFileError(file: url.path, .unreadable, "There is no such file.")
    }
    let file = isDirectory.boolValue ? url.appendingPathComponent("xcmapping.xml") : url
    let data: Data
    do {
      data = try Data(contentsOf: file)
    } catch {
      throw ModelFileError(file: file.path, .unreadable, "The file cannot be read: \(error)")
    }
    if data.starts(with: Array("bplist".utf8)) {
      throw ModelFileError(
        file: file.path, .notAModel,
        "Compiled mapping models cannot be read; use the .xcmappingmodel they were made of.")
    }
    let model = MappingModel()
    model.entityMappings = DocumentMapping(
      document: try MappingDocument(data, file: file.path)
    ).entityMappings()
    return model
  }
}
