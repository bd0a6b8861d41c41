import CairnModel
import Foundation
import Synchronization

/// One version of a model, found when it is needed and checked against its checksum.
///
/// Stages of a migration name the versions they lead from and to with it. May be used on any
/// thread. Source: `NSManagedObjectModelReference`.
// Unchecked: the sources are immutable; the resolved model is inside a mutex.
open class ManagedObjectModelReference: NSObject, @unchecked Sendable {
  private enum Source {
    case model(ManagedObjectModel)
    case file(URL)
    case hashes([String: Data], Bundle)
    case name(String, Bundle)
  }

  /// The base64 checksum that the version must have; see ``ManagedObjectModel/versionChecksum``.
  public let versionChecksum: String
  private let source: Source
  private let resolved = Mutex<ManagedObjectModel?>(nil)

  /// A reference to a model at hand.
  public init(model: ManagedObjectModel, versionChecksum: String) {
    source = .model(model)
    self.versionChecksum = versionChecksum
  }

  /// A reference to a model file of any kind that Cairn reads.
  public init(fileURL: URL, versionChecksum: String) {
    source = .file(fileURL)
    self.versionChecksum = versionChecksum
  }

  /// A reference to the version with these entity hashes among a bundle's models; nil means the
  /// main bundle.
  public init(
    entityVersionHashes versionHash: [AnyHashable: Any], in bundle: Bundle?,
    versionChecksum: String
  ) {
    var hashes: [String: Data] = [:]
    for (name, hash) in versionHash {
      if let name = name as? String, let hash = hash as? Data { hashes[name] = hash }
    }
    source = .hashes(hashes, bundle ?? .main)
    self.versionChecksum = versionChecksum
  }

  /// A reference to a model, or a version inside a model package, by its file's name without
  /// extension; nil means the main bundle.
  public init(name modelName: String, in bundle: Bundle?, versionChecksum: String) {
    source = .name(modelName, bundle ?? .main)
    self.versionChecksum = versionChecksum
  }

  /// The model.
  ///
  /// Traps when it cannot be found or has another checksum; Cairn's `resolve()` throws instead.
  open var resolvedModel: ManagedObjectModel {
    do {
      return try resolution()
    } catch {
      // Core Data raises here, too; what reads files uses `resolve()`.
      fatalError("The model reference cannot be resolved: \(error)")
    }
  }

  /// The model, read the first time it is asked for.
  ///
  /// - Throws: ``ModelFileError`` when it cannot be found or read, or has another checksum.
  package func resolution() throws -> ManagedObjectModel {
    if let known = resolved.withLock({ $0 }) { return known }
    let model = try find()
    guard model.versionChecksum == versionChecksum else {
      throw ModelFileError(
        file: place, .invalidValue,
        "The model has the version checksum \(model.versionChecksum), not \(versionChecksum) as "
          + "its reference says; it was changed, or another version is meant.")
    }
    return resolved.withLock { known in
      if let known { return known }
      known = model
      return model
    }
  }

  private var place: String {
    switch source {
    case .model: return "model in memory"
    case .file(let url): return url.path
    case .hashes(_, let bundle): return bundle.bundlePath
    case .name(let name, let bundle): return "\(bundle.bundlePath): \(name)"
    }
  }

  private func find() throws -> ManagedObjectModel {
    switch source {
    case .model(let model): return model
    case .file(let url): return try ManagedObjectModel.read(contentsOf: url)
    case .hashes(let hashes, let bundle):
      let metadata = ["NSStoreModelVersionHashes": hashes]
      for model in Self.models(in: bundle)
      where model.isConfiguration(withName: nil, compatibleWithStoreMetadata: metadata) {
        return model
      }
    case .name(let name, let bundle):
      for url in ManagedObjectModel.modelURLs(in: [bundle]) {
        if url.deletingPathExtension().lastPathComponent == name {
          return try ManagedObjectModel.read(contentsOf: url)
        }
      }
      for url in ManagedObjectModel.modelURLs(in: [bundle]) {
        if let package = try? ModelPackage(contentsOf: url), package.versionNames.contains(name) {
          return try package.model(named: name)
        }
      }
    }
    throw ModelFileError(
      file: place, .unreadable, "The bundle holds no model that the reference stands for.")
  }

  private static func models(in bundle: Bundle) -> [ManagedObjectModel] {
    ManagedObjectModel.modelURLs(in: [bundle]).flatMap { url -> [ManagedObjectModel] in
      if let package = try? ModelPackage(contentsOf: url) {
        return package.versionNames.compactMap { try? package.model(named: $0) }
      }
      return (try? ManagedObjectModel.read(contentsOf: url)).map { [$0] } ?? []
    }
  }
}
