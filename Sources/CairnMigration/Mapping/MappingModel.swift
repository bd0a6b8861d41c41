import CairnModel
import CairnModelFiles
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
  /// Whether it was inferred; the program may have changed it since.
  package private(set) var isInferred = false
  /// The versions that it leads from and to, as the editor's document has them.
  private(set) var sourceVersion: EditedModel?
  private(set) var destinationVersion: EditedModel?

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
  /// It is found by the versions that it was made for, which its file holds: compiled ones (`.cdm`)
  /// have the hashes of the entities, those of the editor (`.xcmappingmodel`) the models themselves.
  /// One that holds no versions matches when all its names exist on both sides. Files that cannot be
  /// read are passed over.
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
    take(found)
  }

  /// A mapping model from a file; nil when it cannot be read.
  ///
  /// `read(contentsOf:)` says why.
  public convenience init?(contentsOf url: URL?) {
    guard let url, let loaded = try? MappingModel.read(contentsOf: url) else { return nil }
    self.init()
    take(loaded)
  }

  private func take(_ other: MappingModel) {
    entityMappings = other.entityMappings
    sourceVersion = other.sourceVersion
    destinationVersion = other.destinationVersion
  }

  /// Reads a mapping model as Xcode's editor writes it (`.xcmappingmodel`), or in its compiled form
  /// (`.cdm`).
  ///
  /// - Throws: ``ModelFileError``.
  package static func read(contentsOf url: URL) throws -> MappingModel {
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
    let model = MappingModel()
    if data.starts(with: Array("bplist".utf8)) {
      model.entityMappings = ArchivedMapping(
        archive: try MappingArchive(data, file: file.path)
      ).entityMappings()
      return model
    }
    let document = try MappingDocument(data, file: file.path)
    model.entityMappings = DocumentMapping(document: document).entityMappings()
    model.sourceVersion = document.source
    model.destinationVersion = document.destination
    return model
  }

  /// Whether the other consists of equal mappings in the same order.
  open override func isEqual(_ object: Any?) -> Bool {
    guard let other = object as? MappingModel else { return false }
    return self === other
      || (entityMappings ?? []) == (other.entityMappings ?? [])
        && sourceVersion == other.sourceVersion && destinationVersion == other.destinationVersion
  }

  open override var hash: Int { (entityMappings ?? []).map(\.title).hashValue }
}
