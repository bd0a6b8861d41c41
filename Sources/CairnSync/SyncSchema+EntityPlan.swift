import CairnModel

extension SyncSchema {
  /// What of one entity travels, and which of the model's rules concern its records.
  // Unchecked: immutable once the schema is made; it references model elements, which are frozen. A class,
  // because records ask for it one by one, and to copy its many members costs more than most of what they ask.
  final class EntityPlan: @unchecked Sendable {
    let entity: EntityDescription
    let columns: [Column]
    /// The columns' names, which rows and registers share.
    let names: ColumnNames
    /// The slot of each column in a row.
    let slots: [Int]
    /// By column, what digests of its writes begin with.
    let digests: [DigestHash]
    let linkSides: [LinkSide]
    let orderedSides: [OrderedSide]
    /// Uniqueness constraints as column names; only those made of travelling columns.
    let constraints: [[String]]
    let policy: DeleteConflictPolicy
    /// The columns that are relationships.
    let referenceColumns: [Int]
    /// The attributes that need no value.
    let optionalColumns: Set<Int>
    /// The columns that lead to what takes a record along when it is deleted, and those that lead to
    /// what the record takes along.
    let takenAlongBy: [Int]
    let takes: [Int]
    /// The columns that lead to what denies a delete of the record.
    let deniedBy: [Int]
    /// The columns without which there is no record.
    var required: Set<String> {
      Set(columns.map(\.name).filter { entity.propertiesByName[$0]?.isOptional == false })
    }
    /// Whether a delete takes along records that refer to the deleted one.
    let takesReferrers: Bool
    /// Whether a record is no more than its row: none of its relationships travels as links, and it has no place in
    /// an order.
    let isAlone: Bool
    /// Whether a record can have another for itself alone.
    let isExclusive: Bool
    /// Whether references of any record can lead to one of the entity; the schema finds it out of all plans.
    var isReferredTo = false
    /// Whether a record that refers to one of the entity can take it along; as ``isReferredTo``.
    var isTakenByReferences = false

    init(
      _ entity: EntityDescription, links: [String: LinkPlan],
      defaultPolicy: DeleteConflictPolicy, policies: [String: DeleteConflictPolicy]
    ) {
      let columns = Self.columns(of: entity)
      let names = ColumnNames(columns.map(\.name), defaults: Self.defaults(of: entity, columns))
      let sides = Self.linkSides(of: entity, links)
      self.entity = entity
      self.columns = columns
      self.names = names
      slots = columns.map(\.slot)
      digests = columns.map { column in
        var digest = DigestHash()
        digest.add(column.name)
        return digest
      }
      linkSides = sides
      orderedSides = Self.orderedSides(of: entity, sides)
      isExclusive = columns.contains(where: \.isExclusive)
      isAlone =
        sides.isEmpty && orderedSides.isEmpty && columns.allSatisfy { $0.orderedInverse == nil }
      var constraints: [[String]] = []
      var policy: DeleteConflictPolicy?
      var next: EntityDescription? = entity
      while let current = next {
        constraints += current.constraintNames.filter { properties in
          !properties.isEmpty && properties.allSatisfy { names.place(of: $0) != nil }
        }
        policy = policy ?? current.name.flatMap { policies[$0] }
        next = current.superentity
      }
      self.constraints = constraints
      self.policy = policy ?? defaultPolicy
      referenceColumns = columns.indices.filter { columns[$0].relationship != nil }
      let layout: EntityLayout = entity.layout
      optionalColumns = Set(
        columns.indices.filter { layout.slots[columns[$0].slot].attribute?.isOptional ?? false })
      takenAlongBy = columns.indices.filter {
        columns[$0].relationship?.inverseRelationship?.deleteRule == .cascade
      }
      takes = columns.indices.filter { columns[$0].relationship?.deleteRule == .cascade }
      deniedBy = columns.indices.filter { columns[$0].relationship?.deleteRule == .deny }
      takesReferrers = entity.relationshipsByName.values.contains { relationship in
        relationship.deleteRule == .cascade
          && relationship.inverseRelationship?.isToMany == false
      }
    }

    private static func columns(of entity: EntityDescription) -> [Column] {
      let layout: EntityLayout = entity.layout
      return layout.persistentSlots.compactMap { slot in
        let content = layout.slots[slot]
        if let relationship = content.relationship {
          if let inverse = relationship.inverseRelationship, !inverse.isToMany,
            inverse !== relationship, !SyncSchema.isCanonical(relationship)
          {
            return nil
          }
          return Column(name: content.name, slot: slot, relationship: relationship)
        }
        guard let attribute = content.attribute, !(attribute is DerivedAttributeDescription)
        else { return nil }
        return Column(name: content.name, slot: slot, relationship: nil)
      }
    }

    /// What a migration fills in, by column.
    private static func defaults(
      of entity: EntityDescription, _ columns: [Column]
    ) -> [Int: WireValue] {
      let values: [AttributeValue] = (entity.layout as EntityLayout).defaultValues
      var found: [Int: WireValue] = [:]
      for (place, column) in columns.enumerated() where column.relationship == nil {
        let value = values[column.slot]
        if !value.isNull { found[place] = WireValue(stored: value) }
      }
      return found
    }

    private static func linkSides(
      of entity: EntityDescription, _ links: [String: LinkPlan]
    ) -> [LinkSide] {
      let layout: EntityLayout = entity.layout
      return layout.toManys.compactMap { relationship in
        guard SyncSchema.travelsAsLinks(relationship) else { return nil }
        let isCanonical = SyncSchema.isCanonical(relationship)
        let canonical = isCanonical ? relationship : relationship.inverseRelationship
        guard let plan = canonical.flatMap({ links[SyncSchema.name(of: $0)] }) else { return nil }
        return LinkSide(plan: plan, relationship: relationship, isCanonical: isCanonical)
      }
    }

    private static func orderedSides(
      of entity: EntityDescription, _ sides: [LinkSide]
    ) -> [OrderedSide] {
      var ordered = sides.filter(\.relationship.isOrdered).map {
        OrderedSide(relationship: $0.relationship, places: .link($0))
      }
      let layout: EntityLayout = entity.layout
      for relationship in layout.toManys where relationship.isOrdered && !relationship.isTransient {
        guard let inverse = relationship.inverseRelationship, !inverse.isToMany else { continue }
        ordered.append(
          OrderedSide(
            relationship: relationship,
            places: .register(inverse.name + SyncSchema.positionSuffix)))
      }
      return ordered
    }
  }
}
