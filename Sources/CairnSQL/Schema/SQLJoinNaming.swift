import CairnModel

/// Names join tables: which side gives the name, the columns, and what a file that exists says.
struct SQLJoinNaming {
  /// By the relationship that gave the table its name.
  private var byOwner: [ObjectIdentifier: SQLJoinTable] = [:]
  /// For the other side: the relationship that gave the name.
  private var ownerOf: [ObjectIdentifier: ObjectIdentifier] = [:]
  /// For each relationship the column that holds the keys of those who have it.
  private let keyColumns: [ObjectIdentifier: String]
  /// The names that tables of this model version have.
  private let plainNames: Set<String>
  private var tableNames = SQLNameAllocator()

  /// - Parameter entities: All entities in the order of their numbers.
  init(entities: [EntityDescription]) {
    var columns: [ObjectIdentifier: String] = [:]
    var plainNames: Set<String> = []
    for entity in entities {
      // Names repeat within the entity whose keys they hold, in the order of its relationships.
      var names = SQLNameAllocator()
      let relationships = entity.declaredProperties.compactMap { $0 as? RelationshipDescription }
        .filter { $0.isManyToMany && !$0.isTransient }
        .sorted { $0.name < $1.name }
      for relationship in relationships {
        let inverse = relationship.inverseRelationship?.name ?? ""
        plainNames.insert(Self.plainName(relationship))
        columns[ObjectIdentifier(relationship)] = names.unique(
          "Z_\(entity.layout.number)\(inverse.uppercased())")
      }
    }
    keyColumns = columns
    self.plainNames = plainNames
  }

  /// The table of a relationship and the side that gives it its name, nil when the inverse has had
  /// it named already.
  mutating func table(
    for relationship: RelationshipDescription, catalog: SQLCatalog?
  ) -> (table: SQLJoinTable, owner: RelationshipDescription)? {
    guard let inverse = relationship.inverseRelationship,
      ownerOf[ObjectIdentifier(relationship)] == nil
    else { return nil }
    let sides = candidates(relationship, inverse)
    var owner = sides.preferred
    if let catalog, catalog.tables[Self.plainName(owner)] == nil,
      catalog.tables[Self.plainName(sides.other)] != nil
    {
      owner = sides.other
    }
    var other = owner === relationship ? inverse : relationship
    var name: String?
    if let catalog, catalog.tables[Self.plainName(owner)] == nil {
      // A table that kept the number of an older model version.
      for candidate in [owner, other] where name == nil {
        let tables = catalog.tables.keys.sorted()
        name =
          tables.first { isName($0, of: candidate.name) }
          // One that kept the name that the relationship had before it was renamed.
          ?? candidate.explicitRenamingIdentifier.flatMap { former in
            tables.first { !plainNames.contains($0) && isName($0, of: former) }
          }
        if name != nil, candidate !== owner { swap(&owner, &other) }
      }
    }
    let table = make(owner: owner, inverse: other, name: name, catalog: catalog)
    byOwner[ObjectIdentifier(owner)] = table
    ownerOf[ObjectIdentifier(owner)] = ObjectIdentifier(owner)
    ownerOf[ObjectIdentifier(other)] = ObjectIdentifier(owner)
    return (table, owner)
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

  private static func plainName(_ owner: RelationshipDescription) -> String {
    "Z_\(owner.entity.layout.number)\(owner.name.uppercased())"
  }

  /// Whether a table is named after the relationship with whatever number.
  private func isName(_ table: String, of relationship: String) -> Bool {
    guard table.hasPrefix("Z_") else { return false }
    let rest = table.dropFirst(2).drop { $0.isNumber }
    return rest.count < table.count - 2 && rest == relationship.uppercased()
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
    // Of an entity with itself, the alphabetically last of the two gives the name: so it is in 206 of
    // 227 files that Apple's frameworks wrote. The rule behind it is not known, nor whether it is
    // certain of repeated column names (`init`): other programs may look for other names in files
    // that Cairn makes. Reading takes what is in the file.
    if first == second { return b.name.precedesByCodePoints(a.name) ? (a, b) : (b, a) }
    return first < second ? (a, b) : (b, a)
  }

  private mutating func make(
    owner: RelationshipDescription, inverse: RelationshipDescription, name existing: String?,
    catalog: SQLCatalog?
  ) -> SQLJoinTable {
    let a = owner.entity.layout.number
    let (r, i) = (owner.name.uppercased(), inverse.name.uppercased())
    let name = tableNames.unique(existing ?? Self.plainName(owner))
    var ownerColumn = keyColumns[ObjectIdentifier(owner)] ?? "Z_\(a)\(i)"
    var memberColumn =
      owner === inverse
      ? "REFLEXIVE"
      : keyColumns[ObjectIdentifier(inverse)] ?? "Z_\(inverse.entity.layout.number)\(r)"
    if let existing = catalog?.tables[name] {
      let keys = existing.filter { !$0.hasPrefix("Z_FOK_") }
      if keys.count == 2, Set(keys) != [ownerColumn, memberColumn],
        keys.allSatisfy(SQLNaming.isPlain)
      {
        let memberFirst =
          keys[0].hasSuffix(r) && !keys[0].hasPrefix("Z_\(a)\(i)") && !keys[0].hasSuffix(i)
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
}
