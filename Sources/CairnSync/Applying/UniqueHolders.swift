import CairnModel
import CairnPredicates
import CairnStore
import Foundation

/// Looks up in a store which records hold unique values, many at a time.
struct UniqueHolders {
  let access: StoreAccess
  let ledger: Ledger
  /// How many places one fetch looks up.
  static let lookupsPerFetch = 200

  /// - Parameter objects: The objects of records that the values may refer to.
  func load(
    _ places: [UniquePlace], objects: [RecordID: ManagedObjectID], into known: inout Known
  ) throws {
    struct Group: Hashable {
      let entity: String
      let constraint: [String]
    }
    for place in places { known.holders[place] = .some([]) }
    let groups = Dictionary(grouping: places) {
      Group(entity: $0.entity, constraint: $0.constraint)
    }
    for (group, places) in groups {
      guard let entity = access.schema.entities[group.entity] else { continue }
      let wanted = try places.compactMap { place in
        try constants(place.values, objects).map { (place: place, row: $0) }
      }
      for start in stride(from: 0, to: wanted.count, by: Self.lookupsPerFetch) {
        let chunk = wanted[start...].prefix(Self.lookupsPerFetch)
        let request = StoreFetchRequest(
          entity: entity.entity, predicate: Self.condition(group.constraint, chunk.map(\.row)),
          result: .objectIDs)
        guard case .objectIDs(let found) = try access.store.fetch(request), !found.isEmpty else {
          continue
        }
        try ledger.prefetch(found.compactMap(SyncKey.object))
        let ids = try found.compactMap { try ledger.recordID(for: $0) }
        // Which of the places each of them holds, the planner sees from its row.
        for item in chunk { known.holders[item.place] = ids }
      }
    }
  }

  /// The values as predicates take them; nil when one refers to something that is not here.
  private func constants(
    _ values: [WireValue], _ objects: [RecordID: ManagedObjectID]
  ) throws -> [Any]? {
    var constants: [Any] = []
    for value in values {
      if let target = value.reference {
        let object =
          try objects[target] ?? ledger.record(target).flatMap { ledger.objectID(for: $0) }
        guard let object else { return nil }
        constants.append(object)
      } else if let plain = RowReading.attributeValue(value).flatMap({
        AttributeCoding.decode($0)
      }) {
        constants.append(plain)
      } else {
        return nil
      }
    }
    return constants
  }

  private static func condition(_ names: [String], _ rows: [[Any]]) -> ObjectPredicate {
    func comparison(
      _ name: String, _ type: ComparisonPredicate.Operator, _ value: Any
    ) -> ObjectPredicate {
      ComparisonPredicate(
        leftExpression: ObjectExpression(forKeyPath: name),
        rightExpression: ObjectExpression(forConstantValue: value),
        modifier: .direct, type: type)
    }
    if names.count == 1 { return comparison(names[0], .in, rows.map { $0[0] }) }
    return CompoundPredicate(
      orPredicateWithSubpredicates: rows.map { row in
        CompoundPredicate(
          andPredicateWithSubpredicates: zip(names, row).map { comparison($0, .equalTo, $1) })
      })
  }
}
