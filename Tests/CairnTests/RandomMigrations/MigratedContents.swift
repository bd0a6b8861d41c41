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
  /// go on, the default where a mandatory attribute would be without value, links of which an end
  /// goes on.
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
      result.rows[key] = next
    }
    let ends = Dictionary(
      uniqueKeysWithValues: old.links.flatMap { [$0.end, $0.inverse].compactMap { $0 } }
        .map { ($0.id, $0) })
    for link in new.links {
      for (end, other) in [(link.end, link.inverse), (link.inverse, link.end)] {
        guard let end, let before = ends[end.id] ?? other.flatMap({ ends[$0.id] }) else { continue }
        let members = links(of: before.id, isInverted: before.id != end.id)
        for (owner, list) in members where result.rows[owner] != nil {
          let present = list.filter { result.rows[$0] != nil }
          if present.isEmpty { continue }
          let isOrdered = before.id == end.id && before.isOrdered && end.isOrdered
          result.rows[owner]?.members[end.id] = isOrdered ? present : present.sorted()
        }
      }
    }
    return result
  }

  /// The members by their owners, or the other way round.
  private func links(of end: Int, isInverted: Bool) -> [Int: [Int]] {
    var result: [Int: [Int]] = [:]
    for (owner, row) in rows {
      for member in row.members[end] ?? [] {
        if isInverted {
          result[member, default: []].append(owner)
        } else {
          result[owner, default: []].append(member)
        }
      }
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
        if one != other, !mayDiffer(end.id, of: key, from: other, in: actual, along: shapes) {
          problems.append("row \(key) \(end.name) leads to \(other) and should lead to \(one)")
        }
      }
    }
    return problems
  }

  /// Whether what a row leads to is right although it is not all that it led to: where one side of a
  /// link may lead to one other only in some version on the way, one of several stays.
  private func mayDiffer(
    _ end: Int, of key: Int, from actual: [Int], in others: MigratedContents,
    along shapes: [MigrationShape]
  ) -> Bool {
    let wanted = rows[key]?.members[end] ?? []
    let (near, far) = Self.limits(of: end, along: shapes)
    guard Set(actual).isSubset(of: wanted) else { return false }
    return wanted.allSatisfy { member in
      if actual.contains(member) || near && !actual.isEmpty { return true }
      // It is with another one that it was with.
      return far
        && others.rows.contains { owner, row in
          owner != key && row.members[end]?.contains(member) == true
            && rows[owner]?.members[end]?.contains(member) == true
        }
    }
  }

  /// Whether the rows of an end, and those that it leads to, may have one partner only in some version.
  private static func limits(
    of end: Int, along shapes: [MigrationShape]
  ) -> (near: Bool, far: Bool) {
    let last = shapes.last?.links.first { $0.end.id == end || $0.inverse?.id == end }
    let other = last.flatMap { $0.end.id == end ? $0.inverse?.id : $0.end.id }
    var result = (near: false, far: false)
    for link in shapes.flatMap(\.links) {
      let forward: MigrationShape.End?
      let backward: MigrationShape.End?
      if link.end.id == end || link.inverse != nil && link.inverse?.id == other {
        (forward, backward) = (link.end, link.inverse)
      } else if link.inverse?.id == end || link.end.id == other {
        (forward, backward) = (link.inverse, link.end)
      } else {
        continue
      }
      // A database keeps the key of a to-many without inverse in the rows that it leads to.
      if forward?.isToMany == false || forward == nil && backward?.isToMany == true {
        result.near = true
      }
      if backward?.isToMany == false || backward == nil && forward?.isToMany == true {
        result.far = true
      }
    }
    return result
  }
}
