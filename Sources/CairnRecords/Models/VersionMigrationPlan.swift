// What migrating a store would do.

import Cairn
import CairnModel
import CairnPredicates
import Foundation

/// The way of one store from the version that it has to another, with the rows that it touches.
///
/// The counts are of the moment: other programs may write before the migration runs.
public struct VersionMigrationPlan: Sendable, Hashable, Encodable {
  public struct Touched: Sendable, Hashable, Encodable {
    /// The entity's name in the old version, or in the new one where it is new.
    public let entity: String
    public let change: ModelComparison.Change
    /// Rows of exactly this entity.
    public let rows: Int
  }

  /// An entity or a property that the new version does not take over.
  public struct Drop: Sendable, Hashable, Encodable {
    public let place: String
    /// Rows, or rows with a value in that property.
    public let values: Int
  }

  /// A reason why the migration cannot be done here.
  public struct Obstacle: Sendable, Hashable, Encodable {
    public let place: String
    public let reason: String
  }

  /// The path of the store's file, or the place of a database.
  public let file: String
  public let type: String
  public let comparison: ModelComparison
  public let touched: [Touched]
  public let drops: [Drop]
  public let obstacles: [Obstacle]
  /// Bytes of the file, its log and the files beside it; 0 for a database.
  public let size: Int
  /// Bytes that the migration may need beside that, at most, the copy not counted; 0 for a database.
  public let room: Int

  /// Whether the store is of the new version already.
  public var isDone: Bool { comparison.way == .none }
  /// What would be lost for good.
  public var losses: [Drop] { drops.filter { $0.values > 0 } }

  /// Reads a store and counts.
  ///
  /// - Parameters:
  ///   - step: From the store's version to another.
  ///   - name: The file that is spoken of, where this one is a copy.
  /// - Throws: `ReadOnlyStoreError` or `CoreDataError` for a store that cannot be read.
  public init(
    at location: StoreLocation, step: MigrationRoute.Step, of name: String? = nil
  ) throws {
    let (old, new, mapping) = (step.from, step.to, step.mapping)
    file = name ?? location.text
    comparison = ModelComparison(
      old.side, old.model, new.side, new.model, mapping: mapping?.url)
    let store = try ReadOnlyStore(location, using: old.model)
    type = location.type
    let difference = ModelDifference(from: old.model, to: new.model)
    let comparison = comparison
    let context = store.context()
    (touched, drops, obstacles) = try context.performAndWait {
      let counting = RowCounting(context: context)
      let rows = try counting.rows(of: old.model)
      switch comparison.way {
      case .none: return ([], [], [])
      case .mapping:
        let mapped = Set(mapping?.model.entityMappings?.compactMap(\.sourceEntityName) ?? [])
        return (
          Self.touched(comparison, rows),
          rows.filter { !mapped.contains($0.key) && $0.value > 0 }
            .map { Drop(place: $0.key, values: $0.value) }.sorted { $0.place < $1.place },
          Self.obstacles(of: mapping?.model)
        )
      case .lightweight, .missing:
        let loss = MigrationLoss(difference)
        return (
          Self.touched(comparison, rows),
          try loss.names.compactMap { try counting.drop($0, in: old.model, rows) }
            + loss.orders.compactMap { try counting.drop($0, in: old.model, rows) }
            .map { Drop(place: "the order of \($0.place)", values: $0.values) },
          try comparison.refusals.map { Obstacle(place: $0.place, reason: $0.reason) }
            + counting.missingValues(difference) + counting.duplicates(difference)
        )
      }
    }
    size = location.isFile ? Self.size(ofStore: location.url.path) : 0
    // In place, tables are copied into the log and from there into the file; else a file is made anew.
    room = comparison.way == .none ? 0 : size
  }

  private static func touched(
    _ comparison: ModelComparison, _ rows: [String: Int]
  ) -> [Touched] {
    comparison.entities.map {
      Touched(entity: $0.name, change: $0.change, rows: rows[$0.was ?? $0.name] ?? 0)
    }
  }

  /// Policies of the program cannot be run here.
  private static func obstacles(of mapping: MappingModel?) -> [Obstacle] {
    (mapping?.entityMappings ?? []).compactMap { mapping in
      guard let policy = mapping.entityMigrationPolicyClassName, !policy.isEmpty,
        policy != "NSEntityMigrationPolicy"
      else { return nil }
      return Obstacle(
        place: mapping.destinationEntityName ?? mapping.sourceEntityName ?? "?",
        reason: "the mapping model has it done by the class \(policy), which only the program has; "
          + "open the store with the program once")
    }
  }

  private static func size(ofStore path: String) -> Int {
    let files = [path, path + "-wal"] + externalFiles(of: path)
    return files.reduce(0) { $0 + size(of: $1) }
  }

  private static func externalFiles(of path: String) -> [String] {
    let url = URL(fileURLWithPath: path)
    let folder = url.deletingLastPathComponent().appendingPathComponent(
      ".\(url.deletingPathExtension().lastPathComponent)_SUPPORT")
    let found = FileManager.default.enumerator(atPath: folder.path)?.allObjects ?? []
    return found.compactMap { ($0 as? String).map { folder.appendingPathComponent($0).path } }
  }

  private static func size(of path: String) -> Int {
    let attributes = try? FileManager.default.attributesOfItem(atPath: path)
    guard attributes?[.type] as? FileAttributeType == .typeRegular else { return 0 }
    return (attributes?[.size] as? NSNumber)?.intValue ?? 0
  }
}

/// The steps of one way.
extension [VersionMigrationPlan] {
  /// Whether the file is of the new version already.
  public var isDone: Bool { count == 1 && self[0].isDone }
  /// What would be lost for good.
  public var losses: [VersionMigrationPlan.Drop] { flatMap(\.losses) }
  public var obstacles: [VersionMigrationPlan.Obstacle] { flatMap(\.obstacles) }
  /// Bytes of the file that is migrated, its log and the files beside it.
  public var size: Int { first?.size ?? 0 }
  /// Bytes that the migration may need beside that, at most; the copy that is kept not counted.
  ///
  /// More than one step is done on a copy, which then takes the file's place.
  public var room: Int { (map(\.room).max() ?? 0) + (count > 1 ? 2 * size : 0) }
}

/// Counts rows on the queue of its context.
struct RowCounting {
  let context: ManagedObjectContext

  /// Rows of exactly each entity that is not abstract.
  func rows(of model: ManagedObjectModel) throws -> [String: Int] {
    var rows: [String: Int] = [:]
    for entity in model.entities where !entity.isAbstract {
      rows[entity.name ?? ""] = try count(entity.name ?? "", nil)
    }
    return rows
  }

  func count(
    _ entity: String, _ condition: ObjectPredicate?, withSubentities: Bool = false
  ) throws -> Int {
    let request = FetchRequest<ManagedObject>(entityName: entity)
    request.includesSubentities = withSubentities
    request.predicate = condition
    return try context.count(for: request)
  }

  /// `Entity` or `Entity.property`; nil for what abstract entities have, whose rows are of others.
  func drop(
    _ name: String, in model: ManagedObjectModel, _ rows: [String: Int]
  ) throws -> VersionMigrationPlan.Drop? {
    let parts = name.split(separator: ".", maxSplits: 1).map(String.init)
    guard let entity = model.entitiesByName[parts[0]], !entity.isAbstract else { return nil }
    guard parts.count == 2 else {
      return VersionMigrationPlan.Drop(place: name, values: rows[parts[0]] ?? 0)
    }
    // A path is that of an element of a composite attribute.
    let property = entity.propertiesByName[parts[1]]
    guard property != nil || parts[1].contains(".") else { return nil }
    let isToMany = (property as? RelationshipDescription)?.isToMany ?? false
    let condition = ObjectPredicate(
      format: isToMany ? "%K.@count > 0" : "%K != NIL", argumentArray: [parts[1]])
    return VersionMigrationPlan.Drop(place: name, values: try count(parts[0], condition))
  }

  /// Rows that would have no value where the new version wants one.
  func missingValues(_ difference: ModelDifference) throws -> [VersionMigrationPlan.Obstacle] {
    try difference.entities.flatMap { change in
      try change.demands.compactMap { demand in
        guard let source = change.source, !source.isAbstract, let entity = source.name else {
          return nil
        }
        var conditions = demand.origins.map {
          ObjectPredicate(format: "%K == NIL", argumentArray: [$0])
        }
        if let surroundings = demand.surroundings {
          if surroundings.isEmpty { return nil }
          conditions.append(
            CompoundPredicate(
              orPredicateWithSubpredicates: surroundings.map {
                ObjectPredicate(format: "%K != NIL", argumentArray: [$0])
              }))
        }
        let rows = try count(
          entity,
          conditions.isEmpty ? nil : CompoundPredicate(andPredicateWithSubpredicates: conditions))
        guard rows > 0 else { return nil }
        return VersionMigrationPlan.Obstacle(
          place: "\(change.destination.name ?? "?").\(demand.path)",
          reason:
            "it must have a value, and \(rows) row\(rows == 1 ? " has" : "s have") none; give it "
            + "a default value in the model, or make it optional")
      }
    }
  }
}
