import CairnContext
import CairnCoordinator
import CairnModel
import CairnStore
import Foundation

/// Clears references of one-to-one relationships that lead to rows which are not there, as in a damaged file:
/// an object takes no other partner for as long as the one that it leads to cannot be read.
///
/// The bookkeeping reads such a reference as none, so what is cleared is no write.
struct LostPartners {
  let access: StoreAccess
  let context: ManagedObjectContext

  /// Clears those of rows that a plan was made on; does nothing where all lead somewhere.
  func clear(in rows: some Sequence<RowSnapshot>) throws {
    var leading: [(row: RowSnapshot, slot: Int, target: ManagedObjectID)] = []
    for row in rows {
      for slot in Self.slots(of: row.objectID.entity) {
        if case .object(let target) = row[slot] { leading.append((row, slot, target)) }
      }
    }
    if leading.isEmpty { return }
    let found = try access.store.snapshots(for: leading.map(\.target))
    var lost: [ManagedObjectID: (row: RowSnapshot, slots: [Int])] = [:]
    for (item, target) in zip(leading, found) where target == nil {
      lost[item.row.objectID, default: (item.row, [])].slots.append(item.slot)
    }
    if !lost.isEmpty { try write(lost.values.map { $0 }) }
  }

  /// The slots of one-to-one relationships.
  private static func slots(of entity: EntityDescription) -> [Int] {
    let layout: EntityLayout = entity.layout
    return layout.toOneSlots.filter {
      layout.slots[$0].relationship?.inverseRelationship?.isToMany == false
    }
  }

  private func write(_ lost: [(row: RowSnapshot, slots: [Int])]) throws {
    guard let coordinator = context.persistentStoreCoordinator else { return }
    var request = SaveChangesRequest()
    request.author = SyncConfiguration.author
    request.contextName = context.name
    request.date = Date(timeIntervalSince1970: Double(access.environment.now()) / 1000)
    for (row, slots) in lost {
      var values = row.values
      for slot in slots { values[slot] = .null }
      request.updates.append(
        .init(
          snapshot: RowSnapshot.make(
            objectID: row.objectID, version: row.version, values: values),
          changedSlots: slots, changedToManys: []))
    }
    // A conflict says that another writer was there: then the plan is made anew in any case.
    _ = try access.commit(try access.ledger()) { operations in
      request.sidecar = operations
      switch try coordinator.save(request, in: access.store, cachesNewRows: false) {
      case .saved, .conflicts, .constraintViolations: return true
      case .sidecarChanged, .rowKeysTaken: return false
      }
    }
  }
}
