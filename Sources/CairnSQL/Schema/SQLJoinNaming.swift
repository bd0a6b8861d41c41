import CairnModel

/// Names join tables: which side gives the name, the columns, and what a file that exists says.
struct SQLJoinNaming {
  /// By the relationship that gave the table its name.
  private var byOwner: [ObjectIdentifier: SQLJoinTable] = [:]
  /// For the other side: the relationship that gave the name.
  private var ownerOf: [ObjectIdentifier: ObjectIdentifier] = [:]
  /// Names already used for key columns, by entity number.
  private var columnNames: [Int: SQLNameAllocator] = [:]
  private var tableNames = SQLNameAllocator()

  /// The table of a relationship, nil when its inverse has named it already.
  mutating func table(
    for relationship: RelationshipDescription, catalog: SQLCatalog?
  ) -> SQLJoinTable? {
    guard let inverse = relationship.inverseRelationship,
      ownerOf[ObjectIdentifier(relationship)] == nil
    else { return nil }
    let sides = candidates(relationship, inverse)
    var owner = sides.preferred
    if let catalog, catalog.tables[plainName(owner)] == nil,
      catalog.tables[plainName(sides.other)] != nil
    {
      owner = sides.other
    }
    let other = owner === relationship ? inverse : relationship
    let table = make(owner: owner, inverse: other, catalog: catalog)
    byOwner[ObjectIdentifier(owner)] = table
    ownerOf[ObjectIdentifier(owner)] = ObjectIdentifier(owner)
    ownerOf[ObjectIdentifier(other)] = ObjectIdentifier(owner)
    return table
  }

  func link(for relationship: RelationshipDescription) -> SQLLink? {
    let identifier = ObjectIdentifier(relationship)
    guard let owner = ownerOf[identifier], let table = byOwner[owner] else { return nil }
    let isReflexive = relationship.inverseRelationship === relationship
    if owner == identifier {
      return .join(
        table: table.name, owner: table.ownerColumn, member: table.memberColumn,
        orderColumn: table.memberOrderColumn, isReflexive: isReflexive)
    }
    return .join(
      table: table.name, owner: table.memberColumn, member: table.ownerColumn,
      orderColumn: table.ownerOrderColumn, isReflexive: isReflexive)
  }

  private func plainName(_ owner: RelationshipDescription) -> String {
    "Z_\(owner.entity.layout.number)\(owner.name.uppercased())"
  }

  private func candidates(
    _ a: RelationshipDescription, _ b: RelationshipDescription
  ) -> (preferred: RelationshipDescription, other: RelationshipDescription) {
    let (first, second) = (a.entity.layout.number, b.entity.layout.number)
    // An entity with subentities wins over one outside any hierarchy.
    func leads(_ entity: EntityDescription) -> Bool { !entity.subentities.isEmpty }
    func stands(_ entity: EntityDescription) -> Bool {
      entity.superentity == nil && entity.subentities.isEmpty
    }
    if leads(a.entity) && stands(b.entity) { return (a, b) }
    if leads(b.entity) && stands(a.entity) { return (b, a) }
    if first == second { return a.name <= b.name ? (a, b) : (b, a) }
    return first < second ? (a, b) : (b, a)
  }

  private mutating func make(
    owner: RelationshipDescription, inverse: RelationshipDescription, catalog: SQLCatalog?
  ) -> SQLJoinTable {
    let (a, b) = (owner.entity.layout.number, inverse.entity.layout.number)
    let (r, i) = (owner.name.uppercased(), inverse.name.uppercased())
    let name = tableNames.unique(plainName(owner))
    var ownerColumn: String
    var memberColumn: String
    if owner === inverse {
      ownerColumn = unique("Z_\(a)\(r)", for: a)
      memberColumn = "REFLEXIVE"
    } else {
      ownerColumn = unique("Z_\(a)\(i)", for: a)
      memberColumn = unique("Z_\(b)\(r)", for: b)
    }
    if let existing = catalog?.tables[name] {
      let keys = existing.filter { !$0.hasPrefix("Z_FOK_") }
      if keys.count == 2, Set(keys) != [ownerColumn, memberColumn] {
        let memberFirst = keys[0].hasPrefix("Z_\(b)\(r)") && !keys[0].hasPrefix("Z_\(a)\(i)")
        ownerColumn = memberFirst ? keys[1] : keys[0]
        memberColumn = memberFirst ? keys[0] : keys[1]
      }
    }
    return SQLJoinTable(
      name: name, ownerColumn: ownerColumn, memberColumn: memberColumn,
      memberOrderColumn: owner.isOrdered ? orderColumn(memberColumn) : nil,
      ownerOrderColumn: inverse.isOrdered && owner !== inverse ? orderColumn(ownerColumn) : nil)
  }

  private func orderColumn(_ column: String) -> String {
    "Z_FOK_" + (column.hasPrefix("Z_") ? String(column.dropFirst(2)) : column)
  }

  private mutating func unique(_ name: String, for entity: Int) -> String {
    columnNames[entity, default: SQLNameAllocator()].unique(name)
  }
}
