// The versions that a store goes through to be of another version of its model.

import Cairn
import CairnModel
import CairnStore
import Foundation

/// The way of a store from the version that it has to another.
///
/// One step where a mapping model leads straight there, or a lightweight migration that loses nothing. Else
/// the shortest way through other versions of the package: a property that was renamed twice keeps its values
/// only through the version in between. A database is not copied, so that no mapping model leads from one version to
/// another there, and every step of several loses nothing.
public struct MigrationRoute {
  /// A version, and where it was found.
  public struct Version: Sendable {
    public let side: ModelComparison.Side
    public let model: ManagedObjectModel

    public init(side: ModelComparison.Side, model: ManagedObjectModel) {
      self.side = side
      self.model = model
    }
  }

  /// From one version straight to another.
  public struct Step {
    public let from: Version
    public let to: Version
    /// A mapping model that leads there; nil for a lightweight migration, or where nothing leads there.
    public let mapping: (model: MappingModel, url: URL)?
  }

  public let location: StoreLocation
  /// At least one; a store that is of the version already has a step to itself.
  public let steps: [Step]

  public var old: Version { steps[0].from }
  public var new: Version { steps[steps.count - 1].to }

  /// Finds the version of a store, and the way from there.
  ///
  /// - Parameters:
  ///   - target: The version to bring it to.
  ///   - package: The file of that version: others in it are known, too, and mapping models lie in it or
  ///     beside it.
  ///   - given: Where alone the store's version is looked for; nil for the package, then the store.
  /// - Throws: ``ReadOnlyStoreError`` for what is no store, or whose version is not found.
  public init(
    of location: StoreLocation, to target: Version, in package: ModelVersions,
    from given: ModelVersions? = nil
  ) throws {
    self.location = location
    let old = try Self.version(of: location, target: target, package: package, given: given)
    if old.model.entityVersionHashesByName == target.model.entityVersionHashesByName {
      steps = [Step(from: old, to: target, mapping: nil)]
      return
    }
    steps =
      MigrationRouteSearch(
        package: package, from: old, to: target, isInPlace: !location.isFile
      ).steps
  }

  // MARK: The store's version

  private static func version(
    of location: StoreLocation, target: Version, package: ModelVersions, given: ModelVersions?
  ) throws -> Version {
    let (place, options) = (location.text, location.openingOptions())
    let metadata: [String: Any]
    do {
      metadata = try PersistentStoreCoordinator.metadataForPersistentStore(
        ofType: location.type, at: location.url, options: options)
    } catch let error as CoreDataError {
      throw ReadOnlyStoreError(
        message: error.message,
        hint: location.isFile ? "name the store's file itself" : "see that the database answers")
    }
    func fits(_ model: ManagedObjectModel) -> Bool {
      model.isConfiguration(withName: nil, compatibleWithStoreMetadata: metadata)
    }
    func version(in file: ModelVersions) -> Version? {
      file.usable.first { fits($0.model) }
    }
    if let given {
      if let found = version(in: given) { return found }
      throw ReadOnlyStoreError(
        message: "\(place) was not made with a model of \(given.url.path)",
        hint: "`cairnctl inspect \(place)` shows what it says of its model")
    }
    if fits(target.model) { return target }
    if let found = version(in: package) { return found }
    let kind = try PersistentStoreCoordinator(managedObjectModel: target.model)
      .kind(ofType: location.type)
    if let memory = kind.storeClass.inPlaceMigration,
      let remembered = try? memory.cachedModel(at: location.url, options: StoreOptions(options)),
      // It is out of a store that others may have written.
      (try? remembered.prepareForUse()) != nil, fits(remembered)
    {
      return Version(
        side: ModelComparison.Side(
          file: place, version: "the version inside the store",
          checksum: remembered.versionChecksum), model: remembered)
    }
    throw ReadOnlyStoreError(
      message:
        "the model that \(place) was made with is neither in \(package.url.path) nor in the store",
      hint: "name it by --from")
  }
}

extension ModelVersions {
  /// The versions that can be read and keep the rules of models.
  public var usable: [MigrationRoute.Version] {
    versions.compactMap { version in
      guard let model = try? version.model.get(), ModelValidation.problems(of: model).isEmpty else {
        return nil
      }
      return MigrationRoute.Version(
        side: ModelComparison.Side(
          file: url.path, version: version.name, checksum: model.versionChecksum), model: model)
    }
  }

  /// The version that new stores are made with.
  ///
  /// - Throws: `ModelFileError` for one that cannot be read.
  public func currentVersion() throws -> MigrationRoute.Version? {
    guard let found = versions.first(where: { $0.name == current }) else { return nil }
    let model = try found.model.get()
    return MigrationRoute.Version(
      side: ModelComparison.Side(file: url.path, version: current, checksum: model.versionChecksum),
      model: model)
  }
}

/// Looks for the best way between two versions, through those of a package.
private struct MigrationRouteSearch {
  /// How one version leads straight to another.
  private struct Edge {
    let mapping: (model: MappingModel, url: URL)?
    /// Whether nothing that the first has is missing in the second.
    let isLossless: Bool
  }

  let package: ModelVersions
  let from: MigrationRoute.Version
  let to: MigrationRoute.Version
  /// Whether the store is not copied on the way.
  let isInPlace: Bool

  var steps: [MigrationRoute.Step] {
    let direct = edge(from, to)
    if let direct, direct.isLossless { return [step(from, to, direct)] }
    if let way = shortest({ $0.isLossless }) { return way }
    if let direct { return [step(from, to, direct)] }
    // Nothing leads there: the plan of such a step says why. What a later step drops is counted in a copy.
    return (isInPlace ? nil : shortest { _ in true })
      ?? [MigrationRoute.Step(from: from, to: to, mapping: nil)]
  }

  private func step(
    _ from: MigrationRoute.Version, _ to: MigrationRoute.Version, _ edge: Edge
  ) -> MigrationRoute.Step { MigrationRoute.Step(from: from, to: to, mapping: edge.mapping) }

  /// Nil where neither a mapping model nor a lightweight migration leads.
  private func edge(
    _ from: MigrationRoute.Version, _ to: MigrationRoute.Version
  ) -> Edge? {
    if !isInPlace, let mapping = package.mapping(from: from.model, to: to.model) {
      return Edge(mapping: mapping, isLossless: true)
    }
    let difference = ModelDifference(from: from.model, to: to.model)
    guard difference.isInferable else { return nil }
    return Edge(mapping: nil, isLossless: MigrationLoss(difference).names.isEmpty)
  }

  /// The way with the fewest steps that are all of a kind; versions are tried in the package's order.
  private func shortest(_ isTaken: (Edge) -> Bool) -> [MigrationRoute.Step]? {
    func hashes(_ version: MigrationRoute.Version) -> [String: Data] {
      version.model.entityVersionHashesByName
    }
    var open = package.usable.filter {
      hashes($0) != hashes(from) && hashes($0) != hashes(to)
    }
    var ways: [[MigrationRoute.Step]] = [[]]
    while !ways.isEmpty {
      var longer: [[MigrationRoute.Step]] = []
      for way in ways {
        let here = way.last?.to ?? from
        if let last = edge(here, to), isTaken(last) { return way + [step(here, to, last)] }
      }
      for way in ways {
        let here = way.last?.to ?? from
        open.removeAll { next in
          guard let edge = edge(here, next), isTaken(edge) else { return false }
          longer.append(way + [step(here, next, edge)])
          return true
        }
      }
      ways = longer
    }
    return nil
  }
}
