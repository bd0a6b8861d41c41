import CairnModel
import CairnStore

/// Deletes the members of relationships that cascade without reading their values, where nothing
/// needs those: not the delete rules of the members, not their class, not undo, not the store.
///
/// Members that were not in the context become deleted faults of it. Their values can be read until
/// the save, as those of every fault; after it they are all nil.
struct UnreadDeletion {
  let context: ManagedObjectContext
  private let relationship: RelationshipDescription
  private let lookup: ObjectLookup

  /// Nil for a relationship whose members have to be read.
  init?(_ relationship: RelationshipDescription, in context: ManagedObjectContext) {
    guard relationship.deleteRule == .cascade, !relationship.isTransient, !context.recordsUndo,
      let inverse = relationship.inverseRelationship, !inverse.isToMany,
      let destination = relationship.destinationEntity
    else { return nil }
    self.context = context
    self.relationship = relationship
    let lookup = ObjectLookup(context: context)
    self.lookup = lookup
    let needsNothing = destination.selfAndDescendants.allSatisfy {
      DeletionEffect.needsNoValues(
        of: $0, context.factory.kind(for: $0).flags, inverse: inverse)
    }
    if !needsNothing { return nil }
  }

  /// - Returns: The owners whose members have to be read.
  func deleteMembers(at index: Int, of owners: [ManagedObject]) -> [ManagedObject] {
    var plain: [ManagedObject] = []
    var others: [ManagedObject] = []
    for owner in owners {
      let value = owner.touchedToMany(index)
      if owner.hasNoRow || value?.isLoaded == true || value?.hasChanges == true {
        others.append(owner)
      } else {
        plain.append(owner)
      }
    }
    // What cannot be read here is read, or reported, in the other way.
    guard !plain.isEmpty,
      let (members, cached) = try? context.reading.source?.memberVersions(
        of: relationship, owners: plain.map(\.objectID), maximumAge: context.maximumRowAge)
    else { return owners }
    delete(members, cached)
    return others
  }

  private func delete(_ members: [MemberVersion], _ cached: [RowSnapshot?]) {
    let registered = context.registry.objects(for: members)
    var known: [ManagedObject] = []
    var rows = RowObjects(context: context)
    var new: [ManagedObject] = []
    var versions: [Int64] = []
    new.reserveCapacity(members.count)
    versions.reserveCapacity(members.count)
    var recent: (entity: EntityDescription, kind: ObjectKind)?
    for (place, member) in members.enumerated() {
      if place < registered.count, let object = registered[place] {
        // Only a damaged file has one key under two entities.
        if object.entity.isKindOf(entity: member.objectID.entity) { known.append(object) }
      } else if place < cached.count, let row = cached[place] {
        if let (object, _) = rows.object(for: row) { known.append(object) }
      } else {
        let id = member.objectID
        if recent?.entity !== id.entity {
          recent = (id.entity, context.factory.kind(for: id.entity))
        }
        guard let kind = recent?.kind else { continue }
        new.append(lookup.unregistered(id, as: kind))
        versions.append(member.version)
      }
    }
    rows.finish()
    markDeleted(new, versions)
    if known.isEmpty { return }
    try? FaultFiring.fill(known, maximumAge: context.maximumRowAge)
    let deletion = ObjectDeletion(context: context)
    for object in known where !object.isDeleted { deletion.delete(object) }
  }

  private func markDeleted(_ objects: [ManagedObject], _ versions: [Int64]) {
    if objects.isEmpty { return }
    context.registry.add(objects)
    if context.retainsRegisteredObjects {
      for object in objects { context.registry.retained.insert(ObjectRef(object)) }
    }
    context.pending.markDeletedUnread(objects, versions: versions)
    // Their keys say what their own rules lead to.
    if destinationLeadsOn { context.pending.unpropagatedDeletes += objects }
    context.scheduleProcessing()
  }

  private var destinationLeadsOn: Bool {
    relationship.destinationEntity?.selfAndDescendants.contains { entity in
      entity.layout?.toManys.contains { DeletionEffect(of: $0).isFollowed } ?? false
    } ?? false
  }
}
