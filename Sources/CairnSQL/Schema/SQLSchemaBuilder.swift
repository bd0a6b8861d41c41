import CairnModel

/// Works out the columns of every table: names with collisions, order, companions, keys of
/// to-many relationships and ordering columns.
struct SQLSchemaBuilder {
  let model: ManagedObjectModel
  let catalog: SQLCatalog?
  private(set) var entities: [SQLEntity] = []
  private(set) var tables: [SQLTable] = []
  private(set) var joinTables: [String: [SQLJoinTable]] = [:]

  private let ordered: [EntityDescription]
  /// The column of every property that has one: leaves of composites by path.
  private var columns: [ColumnKey: String] = [:]
  private var companions: [ColumnKey: String] = [:]
  private var joins: SQLJoinNaming

  private struct ColumnKey: Hashable {
    let entity: Int
    let name: String
  }
  private struct HiddenKey {
    let column: String
    let order: String?
  }
  private var hiddenKeys: [ObjectIdentifier: HiddenKey] = [:]
  private var orderColumns: [ObjectIdentifier: String] = [:]
  /// The tables that are not named after their root entity alone, by that entity.
  private var formerNames: [ObjectIdentifier: String] = [:]

  init(model: ManagedObjectModel, catalog: SQLCatalog?) {
    self.model = model
    self.catalog = catalog
    ordered = model.entitiesInNumberOrder
    joins = SQLJoinNaming(entities: ordered)
  }

  mutating func build() {
    let roots = ordered.filter { $0.superentity == nil }
    nameTables(of: roots)
    for root in roots { nameColumns(of: root) }
    for root in roots { tables.append(makeTable(of: root)) }
    findFormerNames(of: roots)
    for entity in ordered { nameJoins(of: entity) }
    for entity in ordered { entities.append(makeEntity(entity)) }
  }

  /// Tables of root entities whose names differ in case only get numbers, as columns do.
  private mutating func nameTables(of roots: [EntityDescription]) {
    var names = SQLNameAllocator(taken: Set(roots.map(SQLNaming.table)))
    var seen: Set<String> = []
    for root in roots where !seen.insert(SQLNaming.table(root)).inserted {
      formerNames[ObjectIdentifier(root)] = names.unique(SQLNaming.table(root))
    }
  }

  // MARK: Columns

  /// The slots that an entity itself declares and stores see.
  private func ownSlots(of entity: EntityDescription) -> [EntityLayout.Slot] {
    let inherited = entity.superentity?.layout.slots.count ?? 0
    return entity.layout.slots.dropFirst(inherited).filter { !$0.isTransient }
  }

  private func members(of root: EntityDescription) -> [EntityDescription] {
    ordered.filter { $0.rootEntity === root }
  }

  private mutating func nameColumns(of root: EntityDescription) {
    var names = SQLNameAllocator(taken: ["Z_PK", "Z_ENT", "Z_OPT"])
    for entity in members(of: root) {
      for slot in ownSlots(of: entity) {
        let leaf = slot.attribute?.name ?? slot.name
        let key = ColumnKey(entity: entity.layout.number, name: slot.name)
        let column = names.unique(SQLNaming.column(leaf))
        columns[key] = column
        if let destination = slot.relationship?.destinationEntity,
          !destination.subentities.isEmpty
        {
          companions[key] = names.unique(
            "Z\(destination.layout.number)_\(column.dropFirst())")
        }
      }
    }
    for relationship in hiddenRelationships(to: root) {
      let number = relationship.entity.layout.number
      let upper = relationship.name.uppercased()
      let column = names.unique("Z\(number)\(upper)")
      hiddenKeys[ObjectIdentifier(relationship)] = HiddenKey(
        column: column,
        order: relationship.isOrdered ? names.unique("Z_FOK_\(column.dropFirst())") : nil)
    }
    for (relationship, column) in orderedInverses(in: root) {
      orderColumns[ObjectIdentifier(relationship)] = names.unique("Z_FOK_\(column.dropFirst())")
    }
  }

  /// To-many relationships without inverse whose members are in the root's table.
  private func hiddenRelationships(to root: EntityDescription) -> [RelationshipDescription] {
    ordered.flatMap { entity in
      entity.declaredProperties.compactMap { $0 as? RelationshipDescription }
        .filter {
          $0.isToMany && !$0.isTransient && $0.inverseRelationship == nil
            && $0.destinationEntity?.rootEntity === root
        }
        .sorted { $0.name < $1.name }
    }
  }

  /// Ordered to-many relationships whose to-one inverse is a column of the root's table.
  private func orderedInverses(
    in root: EntityDescription
  ) -> [(RelationshipDescription, String)] {
    members(of: root).flatMap { entity in
      ownSlots(of: entity).compactMap { slot -> (RelationshipDescription, String)? in
        guard let inverse = slot.relationship?.inverseRelationship, inverse.isToMany,
          inverse.isOrdered,
          let column = columns[ColumnKey(entity: entity.layout.number, name: slot.name)]
        else { return nil }
        return (inverse, column)
      }
    }
  }

  private func makeTable(of root: EntityDescription) -> SQLTable {
    var list = ["Z_PK", "Z_ENT", "Z_OPT"].map { SQLColumn($0, "INTEGER") }
    let members = members(of: root)
    for group in 0...8 {
      for entity in members {
        for slot in ownSlots(of: entity) {
          guard let type = slot.attribute?.attributeType, SQLNaming.group(type) == group,
            let column = columns[ColumnKey(entity: entity.layout.number, name: slot.name)]
          else { continue }
          list.append(SQLColumn(column, SQLNaming.declaredType(type)))
        }
        if group == 0 { list += toOneColumns(of: entity) }
      }
      if group == 1 { list += hiddenAndOrderColumns(of: root) }
    }
    return SQLTable(name: tableName(of: root), columns: list)
  }

  /// A table may keep the name that its entity had before it was renamed: the one that the renaming
  /// identifier says, or the only other one with exactly these columns.
  private mutating func findFormerNames(of roots: [EntityDescription]) {
    guard let catalog else { return }
    let named = Set(tables.map(\.name))
    let missing = roots.indices.filter { catalog.tables[tables[$0].name] == nil }
    if missing.isEmpty { return }
    let others = catalog.tables.filter { name, columns in
      !named.contains(name) && name.hasPrefix("Z") && !name.hasPrefix("Z_")
        && SQLNaming.isPlain(name) && Set(["Z_PK", "Z_ENT", "Z_OPT"]).isSubset(of: columns)
    }
    let candidates = missing.map { index -> [String] in
      let former = roots[index].explicitRenamingIdentifier.map { "Z" + $0.uppercased() }
      if let former, others[former] != nil { return [former] }
      let columns = Set(tables[index].columns.map(\.name))
      return others.filter { Set($0.value) == columns }.map(\.key)
    }
    for (index, names) in zip(missing, candidates) where names.count == 1 {
      guard candidates.count(where: { $0.contains(names[0]) }) == 1 else { continue }
      formerNames[ObjectIdentifier(roots[index])] = names[0]
      tables[index] = SQLTable(name: names[0], columns: tables[index].columns)
    }
  }

  private func tableName(of root: EntityDescription) -> String {
    formerNames[ObjectIdentifier(root)] ?? SQLNaming.table(root)
  }

  private func toOneColumns(of entity: EntityDescription) -> [SQLColumn] {
    ownSlots(of: entity).filter { $0.relationship != nil }.flatMap { slot in
      let key = ColumnKey(entity: entity.layout.number, name: slot.name)
      return [columns[key], companions[key]].compactMap { $0 }.map { SQLColumn($0, "INTEGER") }
    }
  }

  private func hiddenAndOrderColumns(of root: EntityDescription) -> [SQLColumn] {
    let hidden = hiddenRelationships(to: root).flatMap { relationship -> [String] in
      guard let key = hiddenKeys[ObjectIdentifier(relationship)] else { return [] }
      return [key.column] + [key.order].compactMap { $0 }
    }
    let orders = orderedInverses(in: root).compactMap { orderColumns[ObjectIdentifier($0.0)] }
    return (hidden + orders).map { SQLColumn($0, "INTEGER") }
  }

  // MARK: Join tables

  private mutating func nameJoins(of entity: EntityDescription) {
    let relationships = entity.declaredProperties.compactMap { $0 as? RelationshipDescription }
      .filter { $0.isManyToMany && !$0.isTransient }
      .sorted { $0.name < $1.name }
    for relationship in relationships {
      guard let (table, owner) = joins.table(for: relationship, catalog: catalog) else { continue }
      // A join table follows the table of the hierarchy that gave it its name.
      joinTables[tableName(of: owner.entity.rootEntity), default: []].append(table)
    }
  }

  // MARK: Entities

  private func makeEntity(_ entity: EntityDescription) -> SQLEntity {
    let layout: EntityLayout = entity.layout
    let slots = layout.slots.map { slot -> SQLSlot in
      guard !slot.isTransient else { return .transient }
      let owner = declaringEntity(of: slot.name, in: entity)
      let key = ColumnKey(entity: owner.layout.number, name: slot.name)
      guard let column = columns[key] else { return .transient }
      switch slot.content {
      case .attribute(let attribute):
        return .attribute(
          column: column, type: attribute.attributeType,
          isExternal: attribute.allowsExternalBinaryDataStorage)
      case .toOne(let relationship):
        return .toOne(
          column: column, companion: companions[key],
          destination: relationship.destinationEntity?.layout.number ?? 0)
      }
    }
    let root = entity.rootEntity
    return SQLEntity(
      entity: entity, number: layout.number, rootNumber: root.layout.number,
      superNumber: entity.superentity?.layout.number ?? 0, table: tableName(of: root),
      slots: slots, links: layout.toManys.map { link(for: $0) },
      subtree: layout.number...(layout.number + entity.selfAndDescendants.count - 1),
      sharesTable: !root.subentities.isEmpty,
      constraints: constraints(of: entity, slots: slots))
  }

  /// The entity in the chain whose own slots contain the name.
  private func declaringEntity(of slot: String, in entity: EntityDescription) -> EntityDescription {
    var owner = entity
    while let parent = owner.superentity, parent.layout.slotByName[slot] != nil { owner = parent }
    return owner
  }

  private func constraints(of entity: EntityDescription, slots: [SQLSlot]) -> [SQLConstraint] {
    var result: [SQLConstraint] = []
    var next: EntityDescription? = entity
    while let current = next {
      for names in current.constraintNames {
        let indexes = names.compactMap { entity.layout.slotByName[$0] }
        let columns = indexes.compactMap { slots[$0].column }
        guard !columns.isEmpty, columns.count == names.count else { continue }
        result.append(
          SQLConstraint(entity: current, names: names, columns: columns, slots: indexes))
      }
      next = current.superentity
    }
    return result
  }

  private func link(for relationship: RelationshipDescription) -> SQLLink {
    if let hidden = hiddenKeys[ObjectIdentifier(relationship)],
      let root = relationship.destinationEntity?.rootEntity
    {
      return .foreignKey(
        table: tableName(of: root), column: hidden.column, companion: nil,
        orderColumn: hidden.order, isHidden: true)
    }
    if relationship.isManyToMany, let link = joins.link(for: relationship) { return link }
    if let inverse = relationship.inverseRelationship, !inverse.isToMany,
      let owner = inverse.entity
    {
      let key = ColumnKey(entity: owner.layout.number, name: inverse.name)
      if let column = columns[key] {
        return .foreignKey(
          table: tableName(of: owner.rootEntity), column: column, companion: companions[key],
          orderColumn: orderColumns[ObjectIdentifier(relationship)], isHidden: false)
      }
    }
    // A transient relationship: no row ever has this key.
    return .foreignKey(
      table: tableName(of: relationship.destinationEntity?.rootEntity ?? relationship.entity),
      column: "NULL", companion: nil, orderColumn: nil, isHidden: true)
  }
}
