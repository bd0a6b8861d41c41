// What a store holds, by the identities of its model's version, and what the next version must hold
// of it by the rules of lightweight migration.

import Cairn
import Foundation

struct MigratedContents: Equatable {
  struct Row: Equatable {
    var entity: Int
    /// By the number of the attribute; missing for nil.
    var values: [Int: String] = [:]
    /// The keys of the members by the number of the relationship's end; sorted unless it is ordered.
    var members: [Int: [Int]] = [:]
  }
  var rows: [Int: Row] = [:]

  /// Reads everything.
  init(_ context: ManagedObjectContext, _ shape: MigrationShape) throws {
    func key(_ object: ManagedObject) -> Int {
      (object.value(forKey: MigrationShape.key) as? NSNumber)?.intValue ?? -1
    }
    for root in shape.entities where root.parent == nil {
      for object in try context.fetch(FetchRequest<ManagedObject>(entityName: root.name)) {
        guard let entity = shape.entity(named: object.entity.name ?? "") else { continue }
        var row = Row(entity: entity.id)
        for attribute in shape.attributes(of: entity.id) {
          row.values[attribute.id] = MigrationValues.text(object.value(forKey: attribute.name))
        }
        for end in shape.ends(of: entity.id) {
          let value = object.value(forKey: end.name)
          var members: [Int] = []
          switch value {
          case let one as ManagedObject: members = [key(one)]
          case let list as NSOrderedSet:
            members = list.array.compactMap { ($0 as? ManagedObject).map(key) }
          case let set as NSSet:
            members = set.allObjects.compactMap { ($0 as? ManagedObject).map(key) }.sorted()
          default: break
          }
          if !members.isEmpty { row.members[end.id] = members }
        }
        rows[key(object)] = row
      }
    }
  }

  /// What must be there after a migration: rows of entities that go on, values of attributes that
  /// go on, the default where a mandatory attribute would be without value, members that go on.
  func migrated(from old: MigrationShape, to new: MigrationShape) -> MigratedContents {
    var result = self
    let kept = Set(new.entities.map(\.id))
    result.rows = result.rows.filter { kept.contains($0.value.entity) }
    for (key, row) in result.rows {
      let former = Set(old.attributes(of: row.entity).map(\.id))
      var next = Row(entity: row.entity)
      for attribute in new.attributes(of: row.entity) {
        next.values[attribute.id] = former.contains(attribute.id) ? row.values[attribute.id] : nil
        if next.values[attribute.id] == nil, !attribute.isOptional {
          next.values[attribute.id] = attribute.defaultValue
        }
      }
      let ends = Dictionary(uniqueKeysWithValues: old.ends(of: row.entity).map { ($0.id, $0) })
      for end in new.ends(of: row.entity) {
        guard let before = ends[end.id], let members = row.members[end.id] else { continue }
        let present = members.filter { result.rows[$0] != nil }
        if present.isEmpty { continue }
        next.members[end.id] = before.isOrdered && end.isOrdered ? present : present.sorted()
      }
      result.rows[key] = next
    }
    return result
  }

  /// The differences to what is there; the order of what was not ordered in some version is free.
  ///
  /// - Parameter shapes: The versions on the way, the last of them that of the store.
  func problems(
    with actual: MigratedContents, along shapes: [MigrationShape]
  ) -> [String] {
    guard let new = shapes.last else { return [] }
    var problems: [String] = []
    for key in Set(rows.keys).union(actual.rows.keys).sorted() {
      guard let wanted = rows[key] else {
        problems.append("row \(key) should not be there")
        continue
      }
      guard let row = actual.rows[key] else {
        problems.append("row \(key) is lost")
        continue
      }
      if row.entity != wanted.entity { problems.append("row \(key) is of another entity") }
      for attribute in new.attributes(of: wanted.entity) {
        let (one, other) = (wanted.values[attribute.id], row.values[attribute.id])
        if one != other {
          problems.append(
            "row \(key) \(attribute.name) is \(other ?? "nil") and should be \(one ?? "nil")")
        }
      }
      for end in new.ends(of: wanted.entity) {
        let wasOrdered = shapes.allSatisfy { shape in
          shape.ends(of: wanted.entity).contains { $0.id == end.id && $0.isOrdered }
        }
        var one = wanted.members[end.id] ?? []
        var other = row.members[end.id] ?? []
        if end.isOrdered, !wasOrdered {
          one.sort()
          other.sort()
        }
        if one != other {
          problems.append("row \(key) \(end.name) leads to \(other) and should lead to \(one)")
        }
      }
    }
    return problems
  }
}
