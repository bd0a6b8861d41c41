import CairnModel

/// The database schema of a model: tables, columns, join tables and indexes as Apple names them.
///
/// Pure: made from a model alone or, for a file that exists, with its catalog, which decides where
/// Apple's naming follows hash order.
package final class SQLSchema: Sendable {
  package let model: ManagedObjectModel
  /// By entity number minus one.
  package let entities: [SQLEntity]
  package let tables: [SQLTable]
  /// The join tables by the name of the table they follow.
  package let joinTables: [String: [SQLJoinTable]]
  /// Whether some attribute's large values are kept in files.
  package let hasExternalData: Bool
  /// Whether some entity has uniqueness constraints, and whether some has derived attributes.
  package let hasConstraints: Bool
  package let hasDerivedValues: Bool
  /// How requests of this schema are run.
  let plans = SQLPlanCache()
  /// Which store this is the schema of, where it is that of an open one, and its homes of IDs.
  private let identity: StoreIdentity?
  private let homes: [ObjectHome]
  /// By entity number minus one.
  private let queries: [[MemberQuery]]
  /// Row shapes by entity number minus one: the entity alone, and with its subentities.
  private let shapes: [(alone: SQLRowShape, withSubentities: SQLRowShape)]

  /// - Parameter model: prepared for use.
  package init(
    model: ManagedObjectModel, catalog: SQLCatalog? = nil, identity: StoreIdentity? = nil
  ) {
    self.model = model
    self.identity = identity
    var builder = SQLSchemaBuilder(model: model, catalog: catalog)
    builder.build()
    entities = builder.entities
    tables = builder.tables
    joinTables = builder.joinTables
    hasExternalData = builder.entities.contains { !$0.externalSlots.isEmpty }
    let list = builder.entities
    homes = identity.map { store in list.map { ObjectHome(rowsOf: $0.entity, in: store) } } ?? []
    hasConstraints = list.contains { !$0.constraints.isEmpty }
    hasDerivedValues = list.contains { !$0.derivedSlots.isEmpty }
    let shapes = list.map { entity -> (alone: SQLRowShape, withSubentities: SQLRowShape) in
      let alone = SQLRowShape(entity: entity, members: [entity])
      let all =
        entity.subtree.count == 1
        ? alone : SQLRowShape(entity: entity, members: entity.subtree.map { list[$0 - 1] })
      return (alone, all)
    }
    self.shapes = shapes
    queries = list.map { entity in
      entity.layout.toManys.indices.map { index in
        let number = entity.layout.toManys[index].destinationEntity?.layout.number
        return MemberQuery(
          link: entity.links[index], destination: number.map { list[$0 - 1] },
          shape: number.map { shapes[$0 - 1].withSubentities })
      }
    }
  }

  /// How the members of an entity's to-many relationships are found, by their index.
  package func memberQueries(of entity: SQLEntity) -> [MemberQuery] {
    queries[entity.number - 1]
  }

  /// The entity with a number, nil when the model has none.
  package func entity(number: Int) -> SQLEntity? {
    number >= 1 && number <= entities.count ? entities[number - 1] : nil
  }

  /// The homes of IDs of a store with this schema, by entity number minus one.
  package func homes(in store: StoreIdentity) -> [ObjectHome] {
    if store === identity { return homes }
    return entities.map { ObjectHome(rowsOf: $0.entity, in: store) }
  }

  /// Whether an entity is one of the schema's model.
  package func contains(_ entity: EntityDescription) -> Bool {
    guard let layout = entity.layout else { return false }
    return layout.number <= entities.count && entities[layout.number - 1].entity === entity
  }

  /// The entity of the model, or the one with its number when it belongs to an equal model.
  package func entity(_ entity: EntityDescription) -> SQLEntity {
    entities[entity.layout.number - 1]
  }

  package func shape(_ entity: SQLEntity, includingSubentities: Bool) -> SQLRowShape {
    let pair = shapes[entity.number - 1]
    return includingSubentities ? pair.withSubentities : pair.alone
  }

  /// The shape of rows of an entity and its subentities.
  package func shape(inHierarchyOf entity: EntityDescription) -> SQLRowShape {
    shapes[entity.layout.number - 1].withSubentities
  }

  /// Every statement that creates an empty store, in the order of Apple's files, without history.
  package func createStatements() -> [String] {
    tableStatements() + indexStatements() + Self.bookkeepingStatements
  }

  /// The tables of entities and links.
  package func tableStatements() -> [String] {
    tables.flatMap { table in
      [table.createStatement] + (joinTables[table.name] ?? []).map(\.createStatement)
    }
  }

  /// Indexes, then triggers.
  package func indexStatements() -> [String] {
    SQLIndexes.statements(for: self) + locationIndexes.flatMap(\.triggerStatements)
      + SQLTriggers.statements(for: self)
  }

  package var locationIndexes: [SQLLocationIndex] {
    entities.flatMap { entity in
      entity.entity.indexesToMake.compactMap { SQLLocationIndex($0, of: entity) }
    }
  }

  /// Takes rows that are there already into indexes that only triggers keep; run after
  /// ``indexStatements()``.
  package func indexFillStatements() -> [String] { locationIndexes.map(\.fillStatement) }

  package static let bookkeepingStatements = [
    "CREATE TABLE Z_PRIMARYKEY "
      + "(Z_ENT INTEGER PRIMARY KEY, Z_NAME VARCHAR, Z_SUPER INTEGER, Z_MAX INTEGER)",
    "CREATE TABLE Z_METADATA "
      + "(Z_VERSION INTEGER PRIMARY KEY, Z_UUID VARCHAR(255), Z_PLIST BLOB)",
    "CREATE TABLE Z_MODELCACHE (Z_CONTENT BLOB)",
  ]

  /// The join tables that hold keys of rows of the entity, with the column of its key.
  package func joinColumns(of entity: SQLEntity) -> [(table: String, column: String)] {
    var result: [(String, String)] = []
    for link in entity.links {
      guard case .join(let table, let owner, let member, _, let isReflexive) = link else {
        continue
      }
      result.append((table, owner))
      if isReflexive { result.append((table, member)) }
    }
    return result
  }
}
