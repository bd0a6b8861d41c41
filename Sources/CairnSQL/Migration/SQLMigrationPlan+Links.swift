import CairnModel

// Links of relationships whose place is another one than before: in the rows of the members, in a
// table of their own, or on the other side.

/// The links of one relationship of the source, as they are in a table that waits to be copied.
struct FormerLinks {
  let table: String
  /// Expressions over that table, which is called `f`.
  let owner: String
  let member: String
  /// The position of the member among those of its owner, and of the owner among those of the
  /// member; nil where there was no order.
  let memberPosition: String?
  let ownerPosition: String?
  /// Whether each owner and each member that there was may have links still.
  let isWhole: Bool

  /// The same seen from the members.
  var inverted: FormerLinks {
    FormerLinks(
      table: table, owner: member, member: owner, memberPosition: ownerPosition,
      ownerPosition: memberPosition, isWhole: isWhole)
  }

  /// The same without an order: positions of two places do not go together.
  var unordered: FormerLinks {
    FormerLinks(
      table: table, owner: owner, member: member, memberPosition: nil, ownerPosition: nil,
      isWhole: isWhole)
  }
}

extension SQLMigrationPlan {
  // MARK: Where links were

  /// The position of a relationship's first member.
  private static let onlyPosition = "2048"

  func formers(of relationship: RelationshipDescription) -> [RelationshipDescription] {
    formers[ObjectIdentifier(relationship)] ?? []
  }

  /// The links of a relationship of the source that one of the destination may take over; nil when it
  /// leads elsewhere.
  private func links(
    of former: RelationshipDescription, for next: RelationshipDescription
  ) -> FormerLinks? {
    guard let members = former.destinationEntity, let destination = next.destinationEntity,
      formerRoots[ObjectIdentifier(destination.rootEntity)] === members.rootEntity
    else { return nil }
    let entity = source.entity(former.entity)
    let isWhole =
      leadsOn(from: members.layout.number, to: destination.layout.number)
      && leadsOn(from: entity.number, to: next.entity.layout.number)
    let inverse = former.inverseRelationship
    func make(_ table: String, _ owner: String, _ member: String, _ positions: (String?, String?))
      -> FormerLinks
    {
      FormerLinks(
        table: table, owner: "f.\(owner)", member: "f.\(member)", memberPosition: positions.0,
        ownerPosition: positions.1, isWhole: isWhole)
    }
    if let slot = entity.layout.slotByName[former.name] {
      guard case .toOne(let column, _, _) = entity.slots[slot] else { return nil }
      return make(
        entity.table, "Z_PK", column,
        (Self.onlyPosition, orderColumn(of: inverse, in: source).map { "f.\($0)" }))
    }
    guard let index = entity.layout.toManyByName[former.name] else { return nil }
    switch entity.links[index] {
    case .foreignKey(_, "NULL", _, _, _): return nil
    case .foreignKey(let table, let column, _, let order, _):
      return make(table, column, "Z_PK", (order.map { "f.\($0)" }, Self.onlyPosition))
    case .join(let table, let owner, let member, let order, let isReflexive):
      let other = isReflexive ? nil : orderColumn(of: inverse, in: source)
      return make(table, owner, member, (order.map { "f.\($0)" }, other.map { "f.\($0)" }))
    }
  }

  /// All links that a relationship takes over: those of the relationships that it continues, and
  /// those of its inverse that were not theirs.
  private func formerLinks(of relationship: RelationshipDescription) -> [FormerLinks] {
    let own = formers(of: relationship).compactMap { links(of: $0, for: relationship) }
    let others = inverseLinks(of: relationship)
    return own + (own.isEmpty ? others : others.map(\.unordered))
  }

  /// The links of what the inverse continues, seen from the relationship, where that was no inverse
  /// of what the relationship itself continues.
  private func inverseLinks(of relationship: RelationshipDescription) -> [FormerLinks] {
    guard let inverse = relationship.inverseRelationship else { return [] }
    let own = formers(of: relationship)
    return formers(of: inverse).filter { former in
      !own.contains { $0 === former.inverseRelationship }
    }.compactMap { links(of: $0, for: inverse)?.inverted }
  }

  private func orderColumn(
    of relationship: RelationshipDescription?, in schema: SQLSchema
  ) -> String? {
    guard let relationship, let entity = relationship.entity,
      let index = entity.layout.toManyByName[relationship.name]
    else { return nil }
    return schema.entity(entity).links[index].orderColumn
  }

  // MARK: In the members' rows

  /// Keys of to-many relationships without inverse, and positions, that members' rows take over from
  /// themselves.
  func memberColumns(
    of new: SQLEntity, from old: SQLEntity, change: ModelDifference.EntityChange
  ) -> [(String, String)] {
    var result: [(String, String)] = []
    for (relationship, link) in memberLinks where link.table == new.table {
      guard let destination = relationship.destinationEntity,
        new.entity.isKindOf(entity: destination),
        let former = formerInRow(of: relationship, change: change),
        let place = rowLink(of: former), place.table == old.table
      else { continue }
      if link.isHidden { result.append((link.column, place.column)) }
      if let order = link.order, let position = place.order { result.append((order, position)) }
    }
    return result
  }

  /// What stands in the same row of a member that the relationship takes over; nil when its links
  /// come from elsewhere.
  private func formerInRow(
    of relationship: RelationshipDescription, change: ModelDifference.EntityChange
  ) -> RelationshipDescription? {
    let formers = formers(of: relationship)
    guard let inverse = relationship.inverseRelationship else {
      return formers.count == 1 && rowLink(of: formers[0]) != nil ? formers[0] : nil
    }
    // The position belongs to the key that the row goes on with.
    let key = change.source(ofProperty: inverse.name) as? RelationshipDescription
    return formers.first { $0.inverseRelationship === key && key != nil }
  }

  /// Where a relationship of the source has its keys in the rows of its members.
  private func rowLink(
    of former: RelationshipDescription
  ) -> (table: String, column: String, order: String?)? {
    let entity = source.entity(former.entity)
    guard let index = entity.layout.toManyByName[former.name],
      case .foreignKey(let table, let column, _, let order, _) = entity.links[index],
      column != "NULL"
    else { return nil }
    return (table, column, order)
  }

  // MARK: Statements

  /// The statements that bring links to another place than their rows; run after all rows are in
  /// place.
  package func linkStatements() -> [String] {
    keyStatements().map(\.sql)
      + joins().filter { !stayingJoinTables.contains($0.table) }.flatMap(\.statements)
  }

  /// A join table of the destination and what fills it.
  struct Join {
    let table: String
    /// Whether all that fills it is the table of that name itself, each link as it is.
    let continuesItself: Bool
    let statements: [String]
  }

  /// A statement that writes keys into the rows of a table.
  struct KeyStatement {
    let table: String
    let sql: String
  }

  func joins() -> [Join] {
    var done: Set<String> = []
    return difference.entities.flatMap { change -> [Join] in
      let owner = destination.entity(change.destination)
      return owner.layout.toManys.indices.compactMap { index -> Join? in
        let relationship = owner.layout.toManys[index]
        guard relationship.entity === owner.entity,
          case .join(let table, let ownerColumn, let memberColumn, let order, let isReflexive) =
            owner.links[index],
          let members = relationship.destinationEntity, done.insert(table).inserted
        else { return nil }
        let other =
          isReflexive ? nil : orderColumn(of: relationship.inverseRelationship, in: destination)
        var sources = formerLinks(of: relationship)
        if isReflexive,
          !formers(of: relationship).allSatisfy({ $0.inverseRelationship === $0 })
        {
          // Such a table has each link in both directions.
          sources += sources.map(\.inverted.unordered)
        }
        let statements = sources.map { links in
          fill(
            table, [ownerColumn, memberColumn], owners: owner,
            members: destination.entity(members), from: links,
            positions: [(order, links.memberPosition), (other, links.ownerPosition)])
        }
        return Join(
          table: table,
          continuesItself: sources.count == 1
            && sources.allSatisfy {
              $0.isWhole && $0.table == table && $0.owner == "f.\(ownerColumn)"
                && $0.memberPosition == order.map { "f.\($0)" }
                && $0.ownerPosition == other.map { "f.\($0)" }
            }, statements: statements)
      }
    }
  }

  private func fill(
    _ table: String, _ keys: [String], owners: SQLEntity, members: SQLEntity,
    from links: FormerLinks, positions: [(new: String?, old: String?)]
  ) -> String {
    // Both sides may be ordered; a position is kept where both versions have one.
    let kept = positions.compactMap { pair in
      pair.new.flatMap { new in pair.old.map { (new: new, old: $0) } }
    }
    let columns = (keys + kept.map(\.new)).joined(separator: ", ")
    return "INSERT OR IGNORE INTO \(table) (\(columns)) SELECT * FROM (SELECT \(links.owner) AS o, "
      + "\(links.member) AS m" + kept.map { ", \($0.old)" }.joined()
      + " FROM \(place(of: links.table)) f WHERE \(links.owner) IS NOT NULL "
      + "AND \(links.member) IS NOT NULL) AS l WHERE \(isThere("o", owners)) AND \(isThere("m", members))"
  }

  /// The condition that there is a row of an entity with a key.
  private func isThere(_ key: String, _ entity: SQLEntity) -> String {
    guard let condition = entity.numberCondition(alias: "x", includingSubentities: true) else {
      return "\(key) IN (SELECT Z_PK FROM \(entity.table))"
    }
    return "EXISTS (SELECT 1 FROM \(entity.table) x WHERE x.Z_PK = \(key) AND \(condition))"
  }

  /// The statements that write keys into rows: of members whose owners were written down elsewhere,
  /// and of the other side of a one-to-one relationship that had none.
  func keyStatements() -> [KeyStatement] {
    var statements: [KeyStatement] = []
    var paired: Set<ObjectIdentifier> = []
    for change in difference.entities {
      let entity = destination.entity(change.destination)
      for (slot, place) in entity.slots.enumerated() {
        guard case .toOne(let column, let companion, _) = place,
          let relationship = entity.layout.slots[slot].relationship,
          relationship.entity === entity.entity, let inverse = relationship.inverseRelationship,
          let ownerEntity = inverse.entity
        else { continue }
        let owners = destination.entity(ownerEntity)
        if inverse.isToMany {
          let key = Key(
            column: column, companion: companion, members: entity, owners: owners,
            order: orderColumn(of: inverse, in: destination))
          statements += inverseLinks(of: relationship).map { take($0.inverted, into: key) }
        } else if paired.insert(ObjectIdentifier(relationship)).inserted {
          paired.insert(ObjectIdentifier(inverse))
          statements += pairing(relationship, inverse)
        }
      }
    }
    for (relationship, link) in memberLinks where link.isHidden {
      guard let members = relationship.destinationEntity, let owner = relationship.entity else {
        continue
      }
      let key = Key(
        column: link.column, companion: nil, members: destination.entity(members),
        owners: destination.entity(owner), order: link.order)
      let formers = formers(of: relationship)
      let links = formers.compactMap { self.links(of: $0, for: relationship) }
      if formers.count == 1, rowLink(of: formers[0]) != nil {
        // The rows have brought their keys along; those of owners that are gone go too.
        if links.isEmpty || !links[0].isWhole { statements.append(clean(key)) }
      } else {
        statements += links.map { take($0, into: key) }
      }
    }
    return statements
  }

  /// The key of an owner in the rows of its members.
  private struct Key {
    let column: String
    let companion: String?
    let members: SQLEntity
    let owners: SQLEntity
    let order: String?
    /// All columns that belong to it.
    var columns: [String] { [column, companion, order].compactMap { $0 } }
  }

  /// Writes down the owner of each member that has none; the last one where it was a member of
  /// several.
  private func take(_ links: FormerLinks, into key: Key) -> KeyStatement {
    let position = key.order.flatMap { order in links.memberPosition.map { (order, $0) } }
    let sql =
      "UPDATE \(key.members.table) AS t SET \(key.column) = s.o"
      + companion(of: key) + (position.map { ", \($0.0) = s.p" } ?? "")
      + " FROM (SELECT \(links.member) AS m, MAX(\(links.owner)) AS o"
      + (position.map { ", \($0.1) AS p" } ?? "")
      + " FROM \(place(of: links.table)) f WHERE \(links.member) IS NOT NULL "
      + "AND \(isThere(links.owner, key.owners)) GROUP BY 1) AS s WHERE t.Z_PK = s.m "
      + "AND t.\(key.column) IS NULL" + isMember(key, "t")
    return KeyStatement(table: key.members.table, sql: sql)
  }

  private func companion(of key: Key) -> String {
    guard let companion = key.companion else { return "" }
    return ", \(companion) = (SELECT x.Z_ENT FROM \(key.owners.table) x WHERE x.Z_PK = s.o)"
  }

  private func isMember(_ key: Key, _ alias: String) -> String {
    key.members.numberCondition(alias: alias, includingSubentities: true).map { " AND \($0)" } ?? ""
  }

  private func clean(_ key: Key) -> KeyStatement {
    KeyStatement(
      table: key.members.table,
      sql: "UPDATE \(key.members.table) AS t SET "
        + key.columns.map { "\($0) = NULL" }.joined(separator: ", ")
        + " WHERE t.\(key.column) IS NOT NULL AND NOT \(isThere("t.\(key.column)", key.owners))")
  }

  /// Two to-one relationships that are each other's inverse and were not before: each gets the keys
  /// that only the other one had, and gives up those that the other one contradicts.
  private func pairing(
    _ one: RelationshipDescription, _ other: RelationshipDescription
  ) -> [KeyStatement] {
    let (own, foreign) = (formers(of: one), formers(of: other))
    func continues(
      _ a: [RelationshipDescription], _ b: [RelationshipDescription]
    ) -> Bool {
      a.allSatisfy { former in b.contains { $0 === former.inverseRelationship } }
    }
    if continues(own, foreign), continues(foreign, own) { return [] }
    guard let first = key(of: one), let second = key(of: other) else { return [] }
    func fill(_ key: Key, from other: Key) -> KeyStatement {
      KeyStatement(
        table: key.members.table,
        sql: "UPDATE \(key.members.table) AS t SET \(key.column) = s.o" + companion(of: key)
          + " FROM (SELECT f.\(other.column) AS m, MAX(f.Z_PK) AS o FROM \(other.members.table) f "
          + "WHERE f.\(other.column) IS NOT NULL GROUP BY 1) AS s WHERE t.Z_PK = s.m "
          + "AND t.\(key.column) IS NULL" + isMember(key, "t"))
    }
    func settle(_ key: Key, by other: Key) -> KeyStatement {
      KeyStatement(
        table: key.members.table,
        sql: "UPDATE \(key.members.table) AS t SET "
          + key.columns.map { "\($0) = NULL" }.joined(separator: ", ")
          + " WHERE t.\(key.column) IS NOT NULL AND NOT EXISTS (SELECT 1 FROM \(other.members.table) x "
          + "WHERE x.Z_PK = t.\(key.column) AND x.\(other.column) = t.Z_PK)")
    }
    return [
      fill(first, from: second), settle(second, by: first), fill(second, from: first),
      settle(first, by: second),
    ]
  }

  private func key(of relationship: RelationshipDescription) -> Key? {
    guard let entity = relationship.entity, let owner = relationship.destinationEntity else {
      return nil
    }
    let members = destination.entity(entity)
    guard let slot = members.layout.slotByName[relationship.name],
      case .toOne(let column, let companion, _) = members.slots[slot]
    else { return nil }
    return Key(
      column: column, companion: companion, members: members, owners: destination.entity(owner),
      order: nil)
  }
}

/// A to-many relationship whose keys, or positions, are in the rows of its members.
struct MemberLink {
  let table: String
  let column: String
  let order: String?
  /// Whether the key is that of a relationship without inverse.
  let isHidden: Bool
}

extension SQLSchema {
  /// The to-many relationships whose members' rows hold something that is no property of theirs.
  var memberLinks: [(relationship: RelationshipDescription, link: MemberLink)] {
    entities.flatMap { owner in
      owner.layout.toManys.indices.compactMap { index in
        let relationship = owner.layout.toManys[index]
        guard relationship.entity === owner.entity,
          case .foreignKey(let table, let column, _, let order, let isHidden) = owner.links[index],
          column != "NULL", isHidden || order != nil
        else { return nil }
        return (
          relationship, MemberLink(table: table, column: column, order: order, isHidden: isHidden)
        )
      }
    }
  }
}
