import CairnModel

/// Neighbouring results of a fetch with a batch size: faults whose rows are read together when the
/// first of them is used.
///
/// The results hold their batch, the batch holds only IDs, so that results that the program drops can go.
final class FetchBatch: FaultBatch {
  private let ids: ArraySlice<ManagedObjectID>
  private let prefetching: [String]

  private init(_ ids: ArraySlice<ManagedObjectID>, prefetching: [String]) {
    self.ids = ids
    self.prefetching = prefetching
  }

  /// Divides results into batches of a size.
  ///
  /// Objects that have their values already are in none.
  static func divide(_ objects: [ManagedObject], size: Int, prefetching: [String]) {
    if size <= 0 { return }
    let ids = objects.map(\.objectID)
    for start in stride(from: 0, to: objects.count, by: size) {
      let range = start..<min(start + size, objects.count)
      let batch = FetchBatch(ids[range], prefetching: prefetching)
      for object in objects[range] where object.isFault && !object.objectID.isTemporaryID {
        object.setBatch(batch)
      }
    }
  }

  /// Reads the rows of the object's batch; false when that did not give the object its values.
  func fill(with object: ManagedObject, in context: ManagedObjectContext) -> Bool {
    object.setBatch(nil)
    var members: [ManagedObject] = []
    for id in ids {
      guard let member = context.registry.object(for: id),
        member === object || member.batch === self
      else { continue }
      member.setBatch(nil)
      if member.isFault { members.append(member) }
    }
    do {
      try FaultFiring.fill(members, maximumAge: context.maximumRowAge)
      try RelationshipPrefetching(context: context).prefetch(prefetching, of: members)
    } catch {
      // The fault is read alone then, and reports the error.
      return !object.isFault
    }
    return !object.isFault
  }
}
