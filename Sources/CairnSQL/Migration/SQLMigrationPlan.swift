import CairnModel

/// The statements that bring the rows of one model version into the tables of another.
///
/// A table stays where it is if all that it holds stays as it is, or it only gets more columns. The
/// others have been renamed out of the way (``oldName(of:)``), and those in their place are empty.
/// Pure: made from the two schemas and their difference.
package struct SQLMigrationPlan {
  package let source: SQLSchema
  package let destination: SQLSchema
  package let difference: ModelDifference
  /// New entity numbers by old ones; removed entities are missing.
  package let numbers: [Int: Int]
  /// The relationships of the source that a relationship of the destination continues, by its
  /// identity: several where it has moved up the hierarchy.
  let formers: [ObjectIdentifier: [RelationshipDescription]]
  /// The roots of the source whose rows are in the table of a root of the destination.
  let formerRoots: [ObjectIdentifier: EntityDescription]
  /// The to-many relationships of the destination that have something in their members' rows.
  let memberLinks: [(relationship: RelationshipDescription, link: MemberLink)]
  /// Those of the source.
  let formerMemberLinks: [(relationship: RelationshipDescription, link: MemberLink)]
  /// The tables of entities whose rows stay where they are.
  package private(set) var stayingTables: Set<String> = []
  /// The tables of links that stay as they are.
  package private(set) var stayingJoinTables: Set<String> = []
  let catalog: SQLCatalog?
  /// Whether derived values are computed anew in tables that stay, too.
  let recomputesStaying: Bool

  /// - Parameters:
  ///   - catalog: What is in the file, where that may be more than the source's schema says.
  ///   - recomputesStaying: Whether the caller computes derived values anew in all tables.
  package init(
    source: SQLSchema, destination: SQLSchema, difference: ModelDifference,
    catalog: SQLCatalog? = nil, recomputesStaying: Bool = false
  ) {
    self.source = source
    self.destination = destination
    self.difference = difference
    var numbers: [Int: Int] = [:]
    var formers: [ObjectIdentifier: [RelationshipDescription]] = [:]
    var roots: [ObjectIdentifier: EntityDescription] = [:]
    for change in difference.entities {
      guard let old = change.source else { continue }
      numbers[old.layout.number] = change.destination.layout.number
      roots[ObjectIdentifier(change.destination.rootEntity)] = old.rootEntity
      for property in change.properties {
        guard let former = property.source as? RelationshipDescription, !former.isTransient,
          let next = property.destination as? RelationshipDescription, !next.isTransient
        else { continue }
        let known = formers[ObjectIdentifier(next), default: []]
        if !known.contains(where: { $0 === former }) {
          formers[ObjectIdentifier(next)] = known + [former]
        }
      }
    }
    self.numbers = numbers
    self.formers = formers
    formerRoots = roots
    memberLinks = destination.memberLinks
    formerMemberLinks = source.memberLinks
    self.catalog = catalog
    self.recomputesStaying = recomputesStaying
    stayingTables = findStayingTables()
    stayingJoinTables = findStayingJoinTables()
  }

  /// The name under which a table of the source waits while its rows are copied.
  package static func oldName(of table: String) -> String { "CAIRN_OLD_\(table)" }

  /// The tables of the source model: those of entities and of links.
  package var sourceTables: [String] {
    source.tables.map(\.name) + source.joinTables.values.flatMap { $0 }.map(\.name).sorted()
  }

  /// The tables of the source that are renamed and dropped once all that stays has been copied.
  package var movedTables: [String] {
    sourceTables.filter { !stayingTables.contains($0) && !stayingJoinTables.contains($0) }
  }

  /// Where a table of the source is while links are copied.
  func place(of table: String) -> String {
    stayingTables.contains(table) || stayingJoinTables.contains(table)
      ? table : Self.oldName(of: table)
  }

  // MARK: Rows

  /// One statement an entity that continues another in a table that does not stay.
  package func rowStatements() -> [SQLFragment] {
    difference.entities.compactMap { change in
      guard let former = change.source else { return nil }
      let old = source.entity(former)
      if stayingTables.contains(old.table) { return nil }
      return rows(of: change, from: old, to: destination.entity(change.destination))
    }
  }

  private func rows(
    of change: ModelDifference.EntityChange, from old: SQLEntity, to new: SQLEntity
  ) -> SQLFragment {
    var columns = ["Z_PK", "Z_ENT", "Z_OPT"]
    var values = [SQLFragment("Z_PK"), SQLFragment("\(new.number)"), SQLFragment("Z_OPT")]
    for (index, slot) in new.slots.enumerated() {
      let sourceSlot = sourceSlot(of: new.layout.slots[index].name, change: change, old: old)
      switch slot {
      case .transient: continue
      case .attribute(let column, _, let isExternal):
        columns.append(column)
        values.append(
          attribute(
            sourceSlot.map { old.slots[$0] }, isExternal: isExternal,
            need: need(of: index, new, from: old, change),
            default: new.layout.defaultValues[index]))
      case .toOne(let column, let companion, let destination):
        let (key, number) = toOne(sourceSlot.map { old.slots[$0] }, to: destination)
        columns.append(column)
        values.append(SQLFragment(key))
        if let companion {
          columns.append(companion)
          values.append(SQLFragment(number))
        }
      }
    }
    for (column, value) in memberColumns(of: new, from: old, change: change) {
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
      let former = sourceSlot(of: new.layout.slots[index].name, change: change, old: old)
      switch slot {
      case .transient: continue
      case .attribute(let column, _, let isExternal):
        let value = attribute(
          former.map { old.slots[$0] }, isExternal: isExternal,
          need: need(of: index, new, from: old, change),
          default: new.layout.defaultValues[index])
        result.append((column, value.sql))
      case .toOne(let column, let companion, let destination):
        guard
          case .toOne(let was, let formerCompanion, let formerDestination)? =
            former.map({ old.slots[$0] })
        else {
          result += [column, companion].compactMap { $0 }.map { ($0, "NULL") }
          continue
        }
        let stays =
          (companion == nil) == (formerCompanion == nil)
          && leadsOn(from: formerDestination, to: destination)
          && (companion == nil || keepsNumbers(from: formerDestination, to: destination))
        result.append((column, stays ? was : ""))
        if let companion { result.append((companion, formerCompanion ?? "")) }
      }
    }
    return result + memberColumns(of: new, from: old, change: change)
  }

  /// The slot of the source entity that a slot's values come from.
  private func sourceSlot(
    of name: String, change: ModelDifference.EntityChange, old: SQLEntity
  ) -> Int? {
    change.sourcePath(of: name).flatMap { old.layout.slotByName[$0] }
  }

  /// Which rows must have a value in a slot.
  private enum Need {
    case none, all
    /// Those for which a condition holds.
    case some(String)
  }

  /// A mandatory attribute needs a value; a mandatory part of an optional composite attribute where
  /// that has one.
  private func need(
    of slot: Int, _ new: SQLEntity, from old: SQLEntity, _ change: ModelDifference.EntityChange
  ) -> Need {
    if new.layout.slots[slot].property.isOptional { return .none }
    guard let group = new.layout.slots[slot].group else { return .all }
    let columns = group.compactMap { part in
      sourceSlot(of: new.layout.slots[part].name, change: change, old: old)
        .flatMap { old.slots[$0].column }
    }
    return columns.isEmpty
      ? .none : .some(columns.map { "\($0) IS NOT NULL" }.joined(separator: " OR "))
  }

  private func attribute(
    _ old: SQLSlot?, isExternal: Bool, need: Need, default value: AttributeValue
  ) -> SQLFragment {
    let stored = stored(old, isExternal: isExternal)
    // Only what must have a value gets one (core-data-semantics 3.5): also a mandatory attribute that
    // was optional, where it has none.
    if value.isNull { return SQLFragment(stored ?? "NULL") }
    let standard = defaultValue(value, isExternal: isExternal)
    let filled = stored.map { "IFNULL(\($0), " + standard + ")" } ?? standard
    switch need {
    case .none: return SQLFragment(stored ?? "NULL")
    case .all: return filled
    case .some(let condition): return "CASE WHEN \(condition) THEN " + filled + " ELSE NULL END"
    }
  }

  /// What the row has in a slot of the source; nil for a value that was not stored.
  private func stored(_ old: SQLSlot?, isExternal: Bool) -> String? {
    guard case .attribute(let column, _, let wasExternal)? = old else { return nil }
    switch (wasExternal, isExternal) {
    case (false, true): return "\(SQLFunctionName.tag)(\(column))"
    case (true, false): return "\(SQLFunctionName.untag)(\(column))"
    case (true, true), (false, false): return column
    }
  }

  private func defaultValue(_ value: AttributeValue, isExternal: Bool) -> SQLFragment {
    if value.isNull { return SQLFragment("NULL") }
    return SQLFragment(isExternal ? "\(SQLFunctionName.tag)(?)" : "?", [value])
  }

  /// The key and the exact entity's number of a to-one relationship; none for what the relationship
  /// does not lead to any more.
  private func toOne(_ old: SQLSlot?, to destination: Int) -> (key: String, number: String) {
    guard case .toOne(let column, let companion, let number)? = old else { return ("NULL", "NULL") }
    let possible = self.destination.entity(number: destination)?.subtree ?? 0...0
    guard let companion else {
      guard let new = numbers[number], possible.contains(new) else { return ("NULL", "NULL") }
      return (column, "CASE WHEN \(column) IS NULL THEN NULL ELSE \(new) END")
    }
    let exact = "IFNULL(\(companion), \(number))"
    let mapped = mapping(of: exact, to: numbers.filter { possible.contains($0.value) })
    return (
      "CASE WHEN \(mapped) IS NULL THEN NULL ELSE \(column) END",
      "CASE WHEN \(column) IS NULL THEN NULL ELSE \(mapped) END"
    )
  }

  /// Whether all that a relationship to one entity led to is what one to the other leads to.
  func leadsOn(from old: Int, to new: Int) -> Bool {
    guard let former = source.entity(number: old), let next = destination.entity(number: new)
    else { return false }
    return former.subtree.allSatisfy { number in
      numbers[number].map(next.subtree.contains) ?? false
    }
  }

  /// Whether the entities that a relationship leads to have the numbers that rows say.
  private func keepsNumbers(from old: Int, to new: Int) -> Bool {
    guard old == new, let former = source.entity(number: old) else { return false }
    return former.subtree.allSatisfy { numbers[$0] == $0 }
  }

  /// The new number of an entity whose old number an expression gives.
  package func mapping(of expression: String) -> String { mapping(of: expression, to: numbers) }

  private func mapping(of expression: String, to numbers: [Int: Int]) -> String {
    let cases = numbers.sorted { $0.key < $1.key }.map { "WHEN \($0.key) THEN \($0.value)" }
    return cases.isEmpty ? "NULL" : "CASE \(expression) \(cases.joined(separator: " ")) END"
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
