import CairnModel

/// The statements that bring the rows of one model version into the tables of another.
///
/// The old tables have been renamed out of the way (``oldName(of:)``) and the new ones are empty.
/// Pure: made from the two schemas and their difference.
package struct SQLMigrationPlan {
  package let source: SQLSchema
  package let destination: SQLSchema
  package let difference: ModelDifference
  /// New entity numbers by old ones; removed entities are missing.
  package let numbers: [Int: Int]

  package init(source: SQLSchema, destination: SQLSchema, difference: ModelDifference) {
    self.source = source
    self.destination = destination
    self.difference = difference
    var numbers: [Int: Int] = [:]
    for change in difference.entities {
      if let old = change.source {
        numbers[old.layout.number] = change.destination.layout.number
      }
    }
    self.numbers = numbers
  }

  /// The name under which a table of the source waits while its rows are copied.
  package static func oldName(of table: String) -> String { "CAIRN_OLD_\(table)" }

  /// The tables of the source model: those of entities and of links.
  package var sourceTables: [String] {
    source.tables.map(\.name) + source.joinTables.values.flatMap { $0 }.map(\.name).sorted()
  }

  // MARK: Rows

  /// One statement an entity that continues another.
  package func rowStatements() -> [SQLFragment] {
    difference.entities.compactMap { change in
      guard let old = change.source else { return nil }
      return rows(of: change, from: source.entity(old), to: destination.entity(change.destination))
    }
  }

  private func rows(
    of change: ModelDifference.EntityChange, from old: SQLEntity, to new: SQLEntity
  ) -> SQLFragment {
    var columns = ["Z_PK", "Z_ENT", "Z_OPT"]
    var values = [SQLFragment("Z_PK"), SQLFragment("\(new.number)"), SQLFragment("Z_OPT")]
    for (index, slot) in new.slots.enumerated() {
      let name = new.layout.slots[index].name
      let sourceSlot = sourceSlot(of: name, change: change, old: old)
      switch slot {
      case .transient: continue
      case .attribute(let column, _, let isExternal):
        columns.append(column)
        values.append(
          attribute(
            sourceSlot.map { old.slots[$0] }, isExternal: isExternal,
            isMandatory: change.isMandatory(name), default: new.layout.defaultValues[index]))
      case .toOne(let column, let companion, _):
        let (key, number) = toOne(sourceSlot.map { old.slots[$0] })
        columns.append(column)
        values.append(SQLFragment(key))
        if let companion {
          columns.append(companion)
          values.append(SQLFragment(number))
        }
      }
    }
    for (column, value) in hiddenColumns(of: new, from: old) {
      columns.append(column)
      values.append(SQLFragment(value))
    }
    return "INSERT INTO \(new.table) (\(columns.joined(separator: ", "))) SELECT "
      + .joined(values, by: ", ")
      + " FROM \(Self.oldName(of: old.table)) WHERE Z_ENT = \(old.number)"
  }

  /// The columns of an entity's rows with what goes into them: a column of the source, `NULL`, or
  /// something else where a value must be made.
  func columnValues(
    of change: ModelDifference.EntityChange, from old: SQLEntity, to new: SQLEntity
  ) -> [(column: String, value: String)] {
    var result: [(String, String)] = []
    for (index, slot) in new.slots.enumerated() {
      let name = new.layout.slots[index].name
      let former = sourceSlot(of: name, change: change, old: old)
      switch slot {
      case .transient: continue
      case .attribute(let column, _, let isExternal):
        let value = attribute(
          former.map { old.slots[$0] }, isExternal: isExternal,
          isMandatory: change.isMandatory(name), default: new.layout.defaultValues[index])
        result.append((column, value.sql))
      case .toOne(let column, let companion, _):
        guard case .toOne(let was, let formerCompanion, _)? = former.map({ old.slots[$0] }) else {
          result += [column, companion].compactMap { $0 }.map { ($0, "NULL") }
          continue
        }
        // Numbers are told by the caller to stay as they are.
        result.append((column, (companion == nil) == (formerCompanion == nil) ? was : ""))
        if let companion { result.append((companion, formerCompanion ?? "")) }
      }
    }
    return result + hiddenColumns(of: new, from: old)
  }

  /// The slot of the source entity that a slot's values come from.
  private func sourceSlot(
    of name: String, change: ModelDifference.EntityChange, old: SQLEntity
  ) -> Int? {
    let parts = name.split(separator: ".", maxSplits: 1).map(String.init)
    guard let property = change.source(ofProperty: parts[0]) else { return nil }
    let oldName = parts.count == 2 ? "\(property.name).\(parts[1])" : property.name
    return old.layout.slotByName[oldName]
  }

  private func attribute(
    _ old: SQLSlot?, isExternal: Bool, isMandatory: Bool, default value: AttributeValue
  ) -> SQLFragment {
    guard case .attribute(let column, _, let wasExternal)? = old else {
      return defaultValue(value, isExternal: isExternal)
    }
    let stored: String
    switch (wasExternal, isExternal) {
    case (false, true): stored = "\(SQLFunctionName.tag)(\(column))"
    case (true, false): stored = "\(SQLFunctionName.untag)(\(column))"
    case (true, true), (false, false): stored = column
    }
    // A mandatory attribute that was optional takes its default where it has no value; one that is
    // optional stays without.
    guard isMandatory, !value.isNull else { return SQLFragment(stored) }
    return "IFNULL(\(stored), " + defaultValue(value, isExternal: isExternal) + ")"
  }

  private func defaultValue(_ value: AttributeValue, isExternal: Bool) -> SQLFragment {
    if value.isNull { return SQLFragment("NULL") }
    return SQLFragment(isExternal ? "\(SQLFunctionName.tag)(?)" : "?", [value])
  }

  /// The key and the exact entity's number of a to-one relationship.
  private func toOne(_ old: SQLSlot?) -> (key: String, number: String) {
    guard case .toOne(let column, let companion, let number)? = old else { return ("NULL", "NULL") }
    guard let companion else {
      guard let new = numbers[number] else { return ("NULL", "NULL") }
      return (column, "CASE WHEN \(column) IS NULL THEN NULL ELSE \(new) END")
    }
    let exact = "IFNULL(\(companion), \(number))"
    let mapped = mapping(of: exact)
    return (
      "CASE WHEN \(mapped) IS NULL THEN NULL ELSE \(column) END",
      "CASE WHEN \(column) IS NULL THEN NULL ELSE \(mapped) END"
    )
  }

  /// The new number of an entity whose old number an expression gives.
  package func mapping(of expression: String) -> String {
    let cases = numbers.sorted { $0.key < $1.key }.map { "WHEN \($0.key) THEN \($0.value)" }
    return cases.isEmpty ? "NULL" : "CASE \(expression) \(cases.joined(separator: " ")) END"
  }

  /// Keys of to-many relationships without inverse, and positions, in the members' rows.
  private func hiddenColumns(of new: SQLEntity, from old: SQLEntity) -> [(String, String)] {
    var result: [(String, String)] = []
    for change in difference.entities {
      let owner = destination.entity(change.destination)
      for (index, relationship) in owner.layout.toManys.enumerated()
      where relationship.entity === owner.entity {
        guard
          case .foreignKey(let table, let column, _, let order, let isHidden) = owner.links[index],
          table == new.table, column != "NULL", accepts(new, relationship)
        else { continue }
        let oldLink = sourceLink(of: relationship, change: change)
        guard
          case .foreignKey(let oldTable, let oldColumn, _, let oldOrder, let wasHidden)? = oldLink,
          oldTable == old.table, wasHidden == isHidden, oldColumn != "NULL"
        else { continue }
        if isHidden { result.append((column, oldColumn)) }
        if let order, let oldOrder { result.append((order, oldOrder)) }
      }
    }
    return result
  }

  private func accepts(_ entity: SQLEntity, _ relationship: RelationshipDescription) -> Bool {
    relationship.destinationEntity.map { entity.entity.isKindOf(entity: $0) } ?? false
  }

  func sourceLink(
    of relationship: RelationshipDescription, change: ModelDifference.EntityChange
  ) -> SQLLink? {
    guard let old = change.source,
      let former = change.source(ofProperty: relationship.name) as? RelationshipDescription,
      let index = old.layout.toManyByName[former.name]
    else { return nil }
    return source.entity(old).links[index]
  }

  // MARK: Links

  /// The statements that fill join tables; run after all rows are in place.
  package func linkStatements() -> [String] {
    var done: Set<String> = []
    return difference.entities.flatMap { change -> [String] in
      let owner = destination.entity(change.destination)
      return owner.layout.toManys.indices.compactMap { index -> String? in
        let relationship = owner.layout.toManys[index]
        guard relationship.entity === owner.entity,
          case .join(let table, let ownerColumn, let memberColumn, let order, _) =
            owner.links[index],
          let members = relationship.destinationEntity,
          let statement = links(
            relationship, change, into: (table, ownerColumn, memberColumn, order),
            owner: owner, members: destination.entity(members)),
          done.insert(table).inserted
        else { return nil }
        return statement
      }
    }
  }

  private func links(
    _ relationship: RelationshipDescription, _ change: ModelDifference.EntityChange,
    into new: (table: String, owner: String, member: String, order: String?), owner: SQLEntity,
    members: SQLEntity
  ) -> String? {
    let present =
      "WHERE o IN (SELECT Z_PK FROM \(owner.table)) AND m IN (SELECT Z_PK FROM \(members.table))"
    func fill(_ select: String, _ order: [String] = []) -> String {
      let columns = ([new.owner, new.member] + order).joined(separator: ", ")
      return "INSERT OR IGNORE INTO \(new.table) (\(columns)) SELECT * FROM (\(select)) \(present)"
    }
    let former =
      change.source.flatMap { _ in
        change.source(ofProperty: relationship.name) as? RelationshipDescription
      }
    let inverse = relationship.inverseRelationship
    let isReflexive = inverse === relationship
    let inverseOrder = isReflexive ? nil : orderColumn(of: inverse, in: destination)
    // Both sides may be ordered; a position is kept where both versions have one.
    func fill(
      owner: String, member: String, from table: String, positions: [(new: String?, old: String?)]
    ) -> String {
      let kept = positions.compactMap { pair in
        pair.new.flatMap { new in pair.old.map { (new: new, old: $0) } }
      }
      return fill(
        "SELECT \(owner) AS o, \(member) AS m" + kept.map { ", \($0.old)" }.joined()
          + " FROM \(Self.oldName(of: table)) WHERE \(owner) IS NOT NULL AND \(member) IS NOT NULL",
        kept.map(\.new))
    }
    switch sourceLink(of: relationship, change: change) {
    case .join(let table, let ownerColumn, let memberColumn, let order, _)?:
      let formerOrder = orderColumn(of: former?.inverseRelationship, in: source)
      return fill(
        owner: ownerColumn, member: memberColumn, from: table,
        positions: [(new.order, order), (inverseOrder, isReflexive ? nil : formerOrder)])
    case .foreignKey(let table, let column, _, let order, _)? where column != "NULL":
      return fill(
        owner: column, member: "Z_PK", from: table,
        positions: [(new.order, order), (inverseOrder, Self.onlyPosition)])
    case .foreignKey?, nil: break
    }
    // A to-one relationship that has become to-many: its key is in the owner's row, and so is the
    // position among the members of the other side.
    guard let old = change.source, let former,
      let slot = old.layout.slotByName[former.name],
      case .toOne(let column, _, _) = source.entity(old).slots[slot]
    else { return nil }
    return fill(
      owner: "Z_PK", member: column, from: source.entity(old).table,
      positions: [
        (new.order, Self.onlyPosition),
        (inverseOrder, orderColumn(of: former.inverseRelationship, in: source)),
      ])
  }

  /// The position of a relationship's first member.
  private static let onlyPosition = "2048"

  private func orderColumn(
    of relationship: RelationshipDescription?, in schema: SQLSchema
  ) -> String? {
    guard let relationship, let entity = relationship.entity,
      let index = entity.layout.toManyByName[relationship.name]
    else { return nil }
    return schema.entity(entity).links[index].orderColumn
  }

  // MARK: Derived attributes

  /// The statements that compute derived attributes which have no value to take over.
  package func derivationStatements() -> [String] {
    difference.entities.flatMap { change -> [String] in
      let entity = destination.entity(change.destination)
      return entity.derivedSlots.compactMap { slot -> String? in
        guard
          let attribute = entity.layout.slots[slot].attribute as? DerivedAttributeDescription,
          attribute.entity === entity.entity, let column = entity.slots[slot].column,
          let derivation = SQLDerivation(attribute, of: entity, schema: destination)
        else { return nil }
        let numbers = entity.subtree.map(String.init).joined(separator: ", ")
        return derivation.value(table: entity.table).map {
          "UPDATE \(entity.table) SET \(column) = \($0) WHERE Z_ENT IN (\(numbers))"
        }
      }
    }
  }
}

extension ModelDifference.EntityChange {
  /// Whether a slot must have a value: a mandatory attribute, or a mandatory part of a composite
  /// attribute that must have a value itself.
  fileprivate func isMandatory(_ slot: String) -> Bool {
    let name = slot.split(separator: ".", maxSplits: 1).first.map(String.init) ?? slot
    let isOptional = destination.propertiesByName[name]?.isOptional ?? true
    guard !isOptional, let index = destination.layout.slotByName[slot] else { return false }
    return !destination.layout.slots[index].property.isOptional
  }
}
