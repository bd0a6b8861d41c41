import CairnModel
import Foundation

/// What of a model travels, compiled once: the registers of each entity and the links between them.
// Unchecked: immutable after initialisation; it references model elements, which are frozen.
public final class SyncSchema: @unchecked Sendable {
  /// One property that travels as a register.
  struct Column {
    let name: String
    let slot: Int
    /// Nil for attributes.
    let relationship: RelationshipDescription?
    /// What digests of the column's writes begin with.
    let digest: DigestHash

    init(name: String, slot: Int, relationship: RelationshipDescription?) {
      self.name = name
      self.slot = slot
      self.relationship = relationship
      var digest = DigestHash()
      digest.add(name)
      self.digest = digest
    }

    /// The ordered relationship in which the record is a member through this one.
    var orderedInverse: RelationshipDescription? {
      guard let inverse = relationship?.inverseRelationship, inverse.isToMany, inverse.isOrdered,
        !inverse.isTransient
      else { return nil }
      return inverse
    }
    /// The register of the record's place there.
    var positionName: String { name + SyncSchema.positionSuffix }
    /// What claims of a target for itself alone are told apart by.
    var claimName: String { relationship.map(SyncSchema.name(of:)) ?? name }
    /// Whether only one record at a time can have a target, because the inverse is a to-one too.
    var isExclusive: Bool {
      guard let inverse = relationship?.inverseRelationship else { return false }
      return !inverse.isToMany && inverse !== relationship
    }
  }

  /// What is added to a relationship's name to name places in it; no property's name has it.
  static let positionSuffix = "#position"

  /// An ordered to-many relationship of an entity, and where the places of its members are kept.
  struct OrderedSide {
    enum Places {
      /// In a register of the member, by its name.
      case register(String)
      case link(LinkSide)
    }
    let relationship: RelationshipDescription
    let places: Places
  }

  /// A relationship whose links travel one by one.
  final class LinkPlan {
    /// `Entity.relationship` of the canonical side.
    let name: String
    let relationship: RelationshipDescription
    let inverse: RelationshipDescription?
    /// Whether the relationship is its own inverse, so that a link has no direction.
    var isSymmetric: Bool { inverse === relationship }
    init(name: String, relationship: RelationshipDescription, inverse: RelationshipDescription?) {
      self.name = name
      self.relationship = relationship
      self.inverse = inverse
    }
  }

  /// One end of a link relationship as an entity sees it.
  struct LinkSide {
    let plan: LinkPlan
    /// The relationship of the entity: the canonical one, or its inverse.
    let relationship: RelationshipDescription
    let isCanonical: Bool

    /// The key of the link between a record on this side and one on the other.
    func key(near: RecordID, far: RecordID) -> LinkKey {
      if plan.isSymmetric {
        return LinkKey(relationship: plan.name, owner: min(near, far), member: max(near, far))
      }
      return LinkKey(
        relationship: plan.name, owner: isCanonical ? near : far,
        member: isCanonical ? far : near)
    }

    /// Where a link keeps the place of the far record in the near one's list.
    func position(_ key: LinkKey, near: RecordID) -> WritableKeyPath<LinkState, Register?> {
      let isOwner = plan.isSymmetric ? key.owner == near : isCanonical
      return isOwner ? \.memberPosition : \.ownerPosition
    }
  }

  struct EntityPlan {
    let entity: EntityDescription
    let columns: [Column]
    let columnByName: [String: Int]
    /// The slot of each column in a row.
    let slotByName: [String: Int]
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
    /// Whether a delete takes along records that refer to the deleted one.
    let takesReferrers: Bool
    /// Whether references of any record can lead to one of the entity.
    fileprivate(set) var isReferredTo = false
    /// Whether a record that refers to one of the entity can take it along.
    fileprivate(set) var isTakenByReferences = false
  }

  let model: ManagedObjectModel
  let entities: [String: EntityPlan]
  /// Whether any entity has such rules; where none does, nothing is to be asked.
  let hasConstraints: Bool
  let hasExclusiveColumns: Bool
  let hasCascades: Bool
  let hasDenials: Bool
  let links: [String: LinkPlan]
  /// The entities at the top of the inheritance trees, by name.
  let roots: [EntityDescription]
  /// The names that bookkeeping in terms of this model uses.
  let names: SchemaNames
  let namesDigest: UInt64

  /// - Throws: ``SyncError`` when a policy names an entity that the model does not have.
  init(
    model: ManagedObjectModel, defaultPolicy: DeleteConflictPolicy,
    policies: [String: DeleteConflictPolicy]
  ) throws {
    for name in policies.keys.sorted() where model.entitiesByName[name] == nil {
      throw SyncError(
        .invalidConfiguration,
        "sync.conflict.entities names \(name), but the model has no such entity",
        recovery: .person)
    }
    self.model = model
    var links: [String: LinkPlan] = [:]
    for entity in model.entities {
      for case let relationship as RelationshipDescription in entity.declaredProperties
      where Self.travelsAsLinks(relationship) && Self.isCanonical(relationship) {
        let name = Self.name(of: relationship)
        links[name] = LinkPlan(
          name: name, relationship: relationship, inverse: relationship.inverseRelationship)
      }
    }
    var entities: [String: EntityPlan] = [:]
    for entity in model.entities {
      guard let name = entity.name else { continue }
      entities[name] = Self.plan(
        for: entity, links: links, defaultPolicy: defaultPolicy, policies: policies)
    }
    Self.noteReferences(in: &entities)
    self.entities = entities
    hasConstraints = entities.values.contains { !$0.constraints.isEmpty }
    hasExclusiveColumns = entities.values.contains { $0.columns.contains(where: \.isExclusive) }
    let rules = entities.values.flatMap { $0.entity.relationshipsByName.values.map(\.deleteRule) }
    hasCascades = rules.contains(.cascade)
    hasDenials = rules.contains(.deny)
    self.links = links
    roots = model.entities.filter { $0.superentity == nil }
      .sorted { ($0.name ?? "") < ($1.name ?? "") }
    names = SchemaNames(entities: entities, links: links)
    namesDigest = names.digest
  }

  private static func noteReferences(in entities: inout [String: EntityPlan]) {
    for plan in Array(entities.values) {
      for (index, column) in plan.columns.enumerated() {
        guard let destination = column.relationship?.destinationEntity else { continue }
        for (name, other) in entities where other.entity.isKindOf(entity: destination) {
          entities[name]?.isReferredTo = true
          if plan.takes.contains(index) { entities[name]?.isTakenByReferences = true }
        }
      }
    }
  }

  private static func plan(
    for entity: EntityDescription, links: [String: LinkPlan],
    defaultPolicy: DeleteConflictPolicy, policies: [String: DeleteConflictPolicy]
  ) -> EntityPlan {
    var columns: [Column] = []
    let layout: EntityLayout = entity.layout
    for slot in layout.persistentSlots {
      let content = layout.slots[slot]
      if let relationship = content.relationship {
        if let inverse = relationship.inverseRelationship, !inverse.isToMany,
          inverse !== relationship, !isCanonical(relationship)
        {
          continue
        }
        columns.append(Column(name: content.name, slot: slot, relationship: relationship))
      } else if let attribute = content.attribute, !(attribute is DerivedAttributeDescription) {
        columns.append(Column(name: content.name, slot: slot, relationship: nil))
      }
    }
    let byName = Dictionary(
      columns.enumerated().map { ($1.name, $0) }, uniquingKeysWith: { first, _ in first })
    let sides = layout.toManys.compactMap { relationship -> LinkSide? in
      guard travelsAsLinks(relationship) else { return nil }
      let isCanonical = isCanonical(relationship)
      let canonical = isCanonical ? relationship : relationship.inverseRelationship
      guard let plan = canonical.flatMap({ links[name(of: $0)] }) else { return nil }
      return LinkSide(plan: plan, relationship: relationship, isCanonical: isCanonical)
    }
    var ordered = sides.filter(\.relationship.isOrdered).map {
      OrderedSide(relationship: $0.relationship, places: .link($0))
    }
    for relationship in layout.toManys where relationship.isOrdered && !relationship.isTransient {
      guard let inverse = relationship.inverseRelationship, !inverse.isToMany else { continue }
      ordered.append(
        OrderedSide(
          relationship: relationship, places: .register(inverse.name + positionSuffix)))
    }
    var constraints: [[String]] = []
    var policy: DeleteConflictPolicy?
    var next: EntityDescription? = entity
    while let current = next {
      constraints += current.constraintNames.filter { names in
        !names.isEmpty && names.allSatisfy { byName[$0] != nil }
      }
      policy = policy ?? current.name.flatMap { policies[$0] }
      next = current.superentity
    }
    return EntityPlan(
      entity: entity, columns: columns, columnByName: byName,
      slotByName: byName.mapValues { columns[$0].slot }, linkSides: sides,
      orderedSides: ordered, constraints: constraints, policy: policy ?? defaultPolicy,
      referenceColumns: columns.indices.filter { columns[$0].relationship != nil },
      optionalColumns: Set(
        columns.indices.filter { index in
          layout.slots[columns[index].slot].attribute?.isOptional ?? false
        }),
      takenAlongBy: columns.indices.filter {
        columns[$0].relationship?.inverseRelationship?.deleteRule == .cascade
      },
      takes: columns.indices.filter { columns[$0].relationship?.deleteRule == .cascade },
      deniedBy: columns.indices.filter { columns[$0].relationship?.deleteRule == .deny },
      takesReferrers: entity.relationshipsByName.values.contains { relationship in
        relationship.deleteRule == .cascade
          && relationship.inverseRelationship?.isToMany == false
      })
  }

  /// How an entity sees one of its ordered relationships.
  func orderedSide(
    _ relationship: RelationshipDescription, of entity: EntityDescription
  ) -> OrderedSide? {
    entity.name.flatMap { entities[$0] }?.orderedSides.first { $0.relationship === relationship }
  }

  /// The to-many relationships whose members a comparison of two stores has to look at: what does
  /// not follow from the to-one relationships.
  var comparedRelationships: [RelationshipDescription] {
    var found = links.values.map(\.relationship)
    for entity in entities.values {
      for side in entity.orderedSides where !found.contains(where: { $0 === side.relationship }) {
        found.append(side.relationship)
      }
    }
    return found
  }

  static func name(of relationship: RelationshipDescription) -> String {
    "\(relationship.entity?.name ?? "").\(relationship.name)"
  }

  private static func travelsAsLinks(_ relationship: RelationshipDescription) -> Bool {
    relationship.isToMany && !relationship.isTransient
      && (relationship.inverseRelationship?.isToMany ?? true)
  }

  /// Of two inverse relationships the one with the smaller name carries the data.
  private static func isCanonical(_ relationship: RelationshipDescription) -> Bool {
    guard let inverse = relationship.inverseRelationship else { return true }
    return name(of: relationship) <= name(of: inverse)
  }
}
