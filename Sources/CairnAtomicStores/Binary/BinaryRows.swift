import CairnModel
import CairnStore
import Foundation

/// Writes the rows of a binary store's body.
struct BinaryRowWriting {
  private let tables: MemoryTables
  private let rows: [RowSnapshot]
  /// The entities that have rows, in the order in which they are written.
  private let entities: [EntityDescription]
  private let indexes: [ObjectIdentifier: Int]

  init(tables: MemoryTables) {
    self.tables = tables
    rows = tables.allRows
    var entities: [EntityDescription] = []
    var indexes: [ObjectIdentifier: Int] = [:]
    for row in rows where indexes[ObjectIdentifier(row.objectID.entity)] == nil {
      indexes[ObjectIdentifier(row.objectID.entity)] = entities.count
      entities.append(row.objectID.entity)
    }
    self.entities = entities
    self.indexes = indexes
  }

  func write(to fields: inout BinaryFieldWriter) {
    fields.add(signed: tables.lastKey)
    fields.add(count: entities.count)
    var groups: [ObjectIdentifier: [RowSnapshot]] = [:]
    for row in rows { groups[ObjectIdentifier(row.objectID.entity), default: []].append(row) }
    // All names come first, because links name entities by index.
    for entity in entities {
      let layout: EntityLayout = entity.layout
      fields.add(entity.name ?? "")
      fields.add(count: layout.persistentSlots.count)
      for slot in layout.persistentSlots { fields.add(layout.slots[slot].name) }
      let toManys = layout.toManys.filter { !$0.isTransient }
      fields.add(count: toManys.count)
      for relationship in toManys { fields.add(relationship.name) }
    }
    for entity in entities {
      let group = groups[ObjectIdentifier(entity)] ?? []
      fields.add(count: group.count)
      for row in group { write(row, layout: entity.layout, to: &fields) }
    }
  }

  private func write(
    _ row: RowSnapshot, layout: EntityLayout, to fields: inout BinaryFieldWriter
  ) {
    fields.add(signed: row.objectID.rowKey ?? 0)
    fields.add(signed: row.version)
    for slot in layout.persistentSlots {
      // A link to an object that has gone is no link.
      if case .object(let id) = row[slot], tables.row(id) == nil {
        fields.add(byte: 0)
        continue
      }
      BinaryValues.write(row[slot], to: &fields, object: writeID)
    }
    for relationship in layout.toManys where !relationship.isTransient {
      let members = tables.members(of: relationship, owner: row.objectID)
      fields.add(count: members.count)
      for member in members { writeID(member, to: &fields) }
    }
  }

  private func writeID(_ id: ManagedObjectID, to fields: inout BinaryFieldWriter) {
    fields.add(count: indexes[ObjectIdentifier(id.entity)] ?? 0)
    fields.add(signed: id.rowKey ?? 0)
  }
}

/// Reads the rows of a binary store's body.
struct BinaryRowReading {
  let model: ManagedObjectModel
  let identity: StoreIdentity

  /// One entity of the file and where its values belong.
  private struct Shape {
    let entity: EntityDescription
    var slots: [Int] = []
    var toManys: [RelationshipDescription] = []
  }

  /// - Throws: ``BinaryFields/Problem`` for what does not fit the model.
  func tables(from fields: inout BinaryFields) throws -> MemoryTables {
    let lastKey = try fields.signed()
    var shapes: [Shape] = []
    for _ in 0..<(try fields.count()) { shapes.append(try shape(&fields)) }
    func objectID(_ fields: inout BinaryFields) throws -> ManagedObjectID {
      let index = try fields.unsigned()
      guard index < UInt64(shapes.count) else {
        throw BinaryFields.Problem(message: "a link leads to an entity that is not there")
      }
      return ManagedObjectID(
        entity: shapes[Int(index)].entity, storeIdentity: identity,
        key: .row(try fields.signed()))
    }
    var tables = MemoryTables(manner: .wholeFile, lastKey: lastKey)
    var links: [(RelationshipDescription, ManagedObjectID, [ManagedObjectID])] = []
    for shape in shapes {
      for _ in 0..<(try fields.count()) {
        let id = ManagedObjectID(
          entity: shape.entity, storeIdentity: identity, key: .row(try fields.signed()))
        let version = try fields.signed()
        var values = [AttributeValue](
          repeating: .null, count: shape.entity.layout.slots.count)
        for slot in shape.slots { values[slot] = try BinaryValues.read(&fields, object: objectID) }
        if tables.row(id) != nil {
          throw BinaryFields.Problem(message: "the object \(id) is there twice")
        }
        tables.load(.make(objectID: id, version: version, values: values))
        for relationship in shape.toManys {
          var members: [ManagedObjectID] = []
          for _ in 0..<(try fields.count()) { members.append(try objectID(&fields)) }
          links.append((relationship, id, members))
        }
      }
    }
    guard fields.isAtEnd else {
      throw BinaryFields.Problem(message: "there is something after its last row")
    }
    for (relationship, owner, members) in links {
      tables.load(members: members, of: relationship, owner: owner)
    }
    return tables
  }

  private func shape(_ fields: inout BinaryFields) throws -> Shape {
    let name = try fields.text()
    guard let entity = model.entitiesByName[name], let layout = entity.layout else {
      throw BinaryFields.Problem(message: "the model has no entity \(name)")
    }
    var shape = Shape(entity: entity)
    for _ in 0..<(try fields.count()) {
      let property = try fields.text()
      guard let slot = layout.slotByName[property], !layout.slots[slot].isTransient else {
        throw BinaryFields.Problem(message: "the model has no property \(name).\(property)")
      }
      shape.slots.append(slot)
    }
    for _ in 0..<(try fields.count()) {
      let property = try fields.text()
      guard let index = layout.toManyByName[property] else {
        throw BinaryFields.Problem(message: "the model has no relationship \(name).\(property)")
      }
      shape.toManys.append(layout.toManys[index])
    }
    return shape
  }
}
