// What an export writes, and in which order, so that an import finds what each row refers to.
import CairnControl

/// The entities of an export in the order of their rows, with what each row holds.
///
/// Rows come after the rows that they refer to. A relationship for which there is no such order, such as
/// one between records of one entity, is set by a second row of the record, after all first rows; that
/// takes a uniqueness constraint, by which an import finds the record again. Of a relationship and its
/// inverse one is written, unless both have an order of their own.
struct ExportPlan {
  struct Step {
    let entity: EntitySummary
    let attributes: [String]
    /// In the first row.
    let references: [RelationshipSummary]
    /// In the second row, where there are any.
    let later: [RelationshipSummary]
    /// What finds the record again; nil without a uniqueness constraint of attributes.
    let key: [String]?
  }

  private(set) var steps: [Step] = []
  /// Relationships that no row can set: `Entity.relationship`.
  private(set) var left: [String] = []
  /// Required relationships that only a second row sets: an import refuses the first.
  private(set) var late: [String] = []

  private let entities: [String: EntitySummary]
  private var positions: [String: Int] = [:]

  /// - Parameter names: Entities, their subentities included; all when empty.
  /// - Throws: ``CairnControl/ControlError/unknownEntity(entity:nearest:)``.
  init(_ model: ModelSummary, entities names: [String] = []) throws {
    entities = Dictionary(
      model.entities.map { ($0.name, $0) }, uniquingKeysWith: { first, _ in first })
    var chosen = Set(model.entities.filter { !$0.isAbstract }.map(\.name))
    if !names.isEmpty {
      chosen = try names.reduce(into: []) { chosen, name in
        chosen.formUnion(concrete(try model.entity(named: name).name))
      }
    }
    let ordered = order(chosen)
    for (index, name) in ordered.enumerated() { positions[name] = index }
    let first = firstRows(of: ordered)
    let second = secondRows(of: ordered, after: first)
    for name in ordered {
      guard let entity = entities[name] else { continue }
      let later = entity.relationships.filter { second[name, default: []].contains($0.name) }
      steps.append(
        Step(
          entity: entity, attributes: Self.attributes(of: entity).map(\.name),
          references: entity.relationships.filter { first[name, default: []].contains($0.name) },
          later: later, key: key(of: name)))
      late += later.filter { !$0.isToMany && !$0.isOptional }.map { "\(name).\($0.name)" }
      left += entity.relationships.filter {
        !isOutside($0) && !first[name, default: []].contains($0.name)
          && !second[name, default: []].contains($0.name)
          && !isCovered($0, by: first) && !isCovered($0, by: second)
      }.map { "\(name).\($0.name)" }
    }
  }

  /// The attributes that an import takes: composite ones by their leaves.
  static func attributes(of entity: EntitySummary) -> [AttributeSummary] {
    entity.attributes.filter {
      !$0.isTransient && $0.isDerived != true
        && !["Undefined", "ObjectID", "Composite"].contains($0.type)
    }
  }

  /// The attributes of the first uniqueness constraint that has nothing else in it, as an import looks for
  /// one: in the entity, then in those that it inherits from.
  func key(of name: String) -> [String]? {
    guard let entity = entities[name] else { return nil }
    let known = Set(Self.attributes(of: entity).map(\.name))
    return entity.uniqueness.map(\.properties).first { !$0.isEmpty && known.isSuperset(of: $0) }
      ?? entity.superentity.flatMap { key(of: $0) }
  }

  // MARK: The order

  /// The entity and those that inherit from it, abstract ones left out.
  private func concrete(_ name: String) -> Set<String> {
    var found: Set<String> = entities[name]?.isAbstract == false ? [name] : []
    for entity in entities.values where entity.superentity == name {
      found.formUnion(concrete(entity.name))
    }
    return found
  }

  private func order(_ chosen: Set<String>) -> [String] {
    var remaining = chosen.sorted()
    var ordered: [String] = []
    func waits(_ name: String, requiredOnly: Bool) -> Bool {
      let others = Set(remaining).subtracting([name])
      return (entities[name]?.relationships ?? []).contains {
        !$0.isToMany && (!requiredOnly || !$0.isOptional)
          && !concrete($0.destination).isDisjoint(with: others)
      }
    }
    while !remaining.isEmpty {
      let index =
        remaining.firstIndex { !waits($0, requiredOnly: false) }
        ?? remaining.firstIndex { !waits($0, requiredOnly: true) } ?? 0
      ordered.append(remaining.remove(at: index))
    }
    return ordered
  }

  // MARK: Relationships

  private func inverse(of relationship: RelationshipSummary) -> RelationshipSummary? {
    relationship.inverse.flatMap { name in
      entities[relationship.destination]?.relationships.first { $0.name == name }
    }
  }

  /// Whether the other side holds all of it.
  private func isSecondary(_ relationship: RelationshipSummary) -> Bool {
    relationship.isToMany && !relationship.isOrdered
      && inverse(of: relationship)?.isToMany == false
  }

  /// Whether the rows that hold it are none of this export.
  private func isOutside(_ relationship: RelationshipSummary) -> Bool {
    isSecondary(relationship)
      && concrete(relationship.destination).contains { positions[$0] == nil }
  }

  private func firstRows(of ordered: [String]) -> [String: Set<String>] {
    var first: [String: Set<String>] = [:]
    for (index, name) in ordered.enumerated() {
      for relationship in entities[name]?.relationships ?? []
      where !isOutside(relationship)
        && concrete(relationship.destination).allSatisfy({ (positions[$0] ?? -1) < index })
      {
        first[name, default: []].insert(relationship.name)
      }
    }
    return first
  }

  private func secondRows(
    of ordered: [String], after first: [String: Set<String>]
  ) -> [String: Set<String>] {
    var second: [String: Set<String>] = [:]
    for secondary in [false, true] {
      for name in ordered where key(of: name) != nil {
        for relationship in entities[name]?.relationships ?? []
        where isSecondary(relationship) == secondary && !isOutside(relationship)
          && !first[name, default: []].contains(relationship.name)
          && !isCovered(relationship, by: first) && !isCovered(relationship, by: second)
        {
          second[name, default: []].insert(relationship.name)
        }
      }
    }
    return second
  }

  /// Whether rows of the destination set it from the other side.
  private func isCovered(
    _ relationship: RelationshipSummary, by rows: [String: Set<String>]
  ) -> Bool {
    guard !relationship.isOrdered, let inverse = relationship.inverse else { return false }
    return concrete(relationship.destination).allSatisfy {
      rows[$0, default: []].contains(inverse)
    }
  }
}
