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

    /// The ordered relationship in which the record is a member through this one.
    var orderedInverse: RelationshipDescription? {
      guard let inverse = relationship?.inverseRelationship, inverse.isToMany, inverse.isOrdered,
        !inverse.isTransient
      else { return nil }
      return inverse
    }
    /// The register of the record's place there.
    var positionName: String { name + SyncSchema.positionSuffix }
    /// The name that tells apart claims of a target for itself alone.
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

  let model: ManagedObjectModel
  let entities: [String: EntityPlan]
  /// Whether any entity has such rules; where none does, nothing is to be asked.
  let hasConstraints: Bool
  let hasExclusiveColumns: Bool
  let hasCascades: Bool
  /// The names of columns that lead, in some entity, to what takes a record along.
  let takingAlong: Set<String>
  let hasDenials: Bool
  let links: [String: LinkPlan]
  /// The entities at the top of the inheritance trees, by name.
  let roots: [EntityDescription]
  /// The names that bookkeeping in terms of this model uses.
  let names: SchemaNames
  let namesDigest: UInt64
  /// The names of all versions that are known.
  let versions: KnownVersions

  /// - Throws: ``SyncError`` when a policy names an entity that the model does not have.
  init(
    model: ManagedObjectModel, defaultPolicy: DeleteConflictPolicy,
    policies: [String: DeleteConflictPolicy], versions: KnownVersions = .none
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
      entities[name] = EntityPlan(
        entity, links: links, defaultPolicy: defaultPolicy, policies: policies)
    }
    Self.noteReferences(in: &entities)
    self.entities = entities
    hasConstraints = entities.values.contains { !$0.constraints.isEmpty }
    hasExclusiveColumns = entities.values.contains { $0.columns.contains(where: \.isExclusive) }
    let rules = entities.values.flatMap { $0.entity.relationshipsByName.values.map(\.deleteRule) }
    hasCascades = rules.contains(.cascade)
    takingAlong = Set(
      entities.values.flatMap { plan in plan.takenAlongBy.map { plan.columns[$0].name } })
    hasDenials = rules.contains(.deny)
    self.links = links
    roots = model.entities.filter { $0.superentity == nil }
      .sorted { ($0.name ?? "") < ($1.name ?? "") }
    names = SchemaNames(entities: entities, links: links)
    namesDigest = names.digest
    self.versions = versions
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

  static func travelsAsLinks(_ relationship: RelationshipDescription) -> Bool {
    relationship.isToMany && !relationship.isTransient
      && (relationship.inverseRelationship?.isToMany ?? true)
  }

  /// Of two inverse relationships the one with the smaller name carries the data.
  static func isCanonical(_ relationship: RelationshipDescription) -> Bool {
    guard let inverse = relationship.inverseRelationship else { return true }
    return name(of: relationship) <= name(of: inverse)
  }
}
