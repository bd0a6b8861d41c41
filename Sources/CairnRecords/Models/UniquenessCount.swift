// Rows that break the uniqueness constraints of a version before a store is brought to it.

import Cairn
import CairnModel
import CairnPredicates
import Foundation

extension RowCounting {
  /// So many rows are named.
  private static let named = 5

  /// Constraints of the new version that rows of the store break, with their number and the first of them.
  ///
  /// Of each entity with those below it; rows of two entities that come together only in the new version are
  /// left to the migration, which refuses them.
  func duplicates(_ difference: ModelDifference) throws -> [VersionMigrationPlan.Obstacle] {
    try difference.entities.flatMap { change -> [VersionMigrationPlan.Obstacle] in
      guard let source = change.source, let entity = source.name else { return [] }
      return try change.destination.constraintNames.compactMap { constraint in
        guard let keys = Self.keys(of: constraint, change) else { return nil }
        let (rows, first) = try duplicates(in: entity, keys)
        guard rows > 0 else { return nil }
        let name = change.destination.name ?? "?"
        let more = rows > first.count ? ", …" : ""
        return VersionMigrationPlan.Obstacle(
          place: constraint.map { "\(name).\($0)" }.joined(separator: ", "),
          reason:
            "it must be unique, and \(rows) rows share a value with another: "
            + first.joined(separator: ", ") + more + "; give them values of their own, or delete "
            + "those that are too many")
      }
    }
  }

  /// The properties of the store that a constraint is about; nil where no row can break it.
  private static func keys(
    of constraint: [String], _ change: ModelDifference.EntityChange
  ) -> [String]? {
    var keys: [String] = []
    for name in constraint {
      guard let property = change.properties.first(where: { $0.destination.name == name }) else {
        return nil
      }
      if let source = property.source, !source.isTransient {
        keys.append(source.name)
      } else if (property.destination as? AttributeDescription)?.defaultValue == nil {
        // Without a value no row is like another.
        return nil
      }
    }
    return keys
  }

  /// How many rows have the same values as another, and the first of them as `Entity/p1`.
  private func duplicates(in entity: String, _ keys: [String]) throws -> (Int, [String]) {
    if keys.isEmpty {
      // All get the default value.
      let rows = try count(entity, nil, withSubentities: true)
      return rows < 2 ? (0, []) : (rows, try first(in: entity, nil))
    }
    let present = ObjectPredicate(
      format: keys.map { _ in "%K != NIL" }.joined(separator: " AND "), argumentArray: keys)
    let number = ExpressionDescription()
    number.name = "cairnCount"
    number.expression = ObjectExpression(
      forFunction: "count:", arguments: [ObjectExpression(forKeyPath: keys[0])])
    number.resultType = .integer64
    let request = FetchRequest<NSDictionary>(entityName: entity)
    request.resultType = .dictionaryResultType
    request.predicate = present
    request.propertiesToGroupBy = keys
    request.propertiesToFetch = keys + [number]
    request.havingPredicate = ObjectPredicate(
      format: "%@ > 1", argumentArray: [ObjectExpression(forVariable: number.name)])
    var rows = 0
    var names: [String] = []
    for group in try context.fetch(request) {
      rows += (group["cairnCount"] as? NSNumber)?.intValue ?? 0
      guard names.count < Self.named else { continue }
      let same = ObjectPredicate(
        format: keys.map { _ in "%K == %@" }.joined(separator: " AND "),
        argumentArray: keys.flatMap { [$0, group[$0] ?? NSNull()] })
      names += try first(in: entity, same).prefix(Self.named - names.count)
    }
    return (rows, names)
  }

  private func first(in entity: String, _ condition: ObjectPredicate?) throws -> [String] {
    let request = FetchRequest<ManagedObject>(entityName: entity)
    request.predicate = condition
    request.fetchLimit = Self.named
    request.includesPropertyValues = false
    return try context.fetch(request).map { object in
      object.objectID.uriRepresentation().pathComponents.suffix(2).joined(separator: "/")
    }
  }
}
