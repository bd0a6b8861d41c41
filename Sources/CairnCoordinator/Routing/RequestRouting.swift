import CairnModel
import CairnStore
import Foundation

/// Which stores a request concerns, decided from the coordinator's list.
///
/// Does no work itself.
struct RequestRouting {
  let stores: [PersistentStore]

  /// The stores that may have objects of the entity or, when asked for, of its subentities;
  /// `restriction` keeps only those in it.
  func stores(
    holding entity: EntityDescription, includesSubentities: Bool,
    restriction: [PersistentStore]?
  ) -> [PersistentStore] {
    let candidates = includesSubentities ? entity.selfAndDescendants : [entity]
    return stores.filter { store in
      if let restriction, !restriction.contains(where: { $0 === store }) { return false }
      return candidates.contains { store.holds($0) }
    }
  }

  /// The first writable store whose configuration has the entity.
  ///
  /// - Throws: 134030 when there is none.
  func storeForInserting(_ entity: EntityDescription) throws -> PersistentStore {
    if let store = stores.first(where: { !$0.isReadOnly && $0.holds(entity) }) { return store }
    for store in stores where store.holds(entity) {
      if let failure = store.capabilities.failures?.failure { throw failure }
    }
    let name = entity.name ?? "?"
    let why: String
    if stores.isEmpty {
      why = "the coordinator has no stores. Add one before saving."
    } else if stores.contains(where: { $0.holds(entity) }) {
      why = "all stores that hold the entity are read-only."
    } else {
      why = "no store's configuration has the entity."
    }
    throw CoreDataError(
      .persistentStoreSave, "New objects of entity \(name) cannot be saved: \(why)")
  }

  /// IDs grouped by the store they live in, each with its place in the list.
  ///
  /// IDs without an open store here are left out.
  func groups(of ids: [ManagedObjectID]) -> [(store: PersistentStore, places: [Int])] {
    var groups: [(store: PersistentStore, places: [Int])] = []
    var groupByIdentity: [ObjectIdentifier: Int?] = [:]
    for (place, id) in ids.enumerated() {
      guard !id.isTemporaryID, let identity = id.storeIdentity else { continue }
      let key = ObjectIdentifier(identity)
      if let known = groupByIdentity[key] {
        if let known { groups[known].places.append(place) }
        continue
      }
      guard let store = store(of: identity) else {
        groupByIdentity[key] = .some(nil)
        continue
      }
      if let existing = groups.firstIndex(where: { $0.store === store }) {
        groups[existing].places.append(place)
        groupByIdentity[key] = existing
      } else {
        groups.append((store, [place]))
        groupByIdentity[key] = groups.count - 1
      }
    }
    return groups
  }

  /// The open store that an identity stands for; that of another coordinator's store counts when
  /// the same store is open here.
  func store(of identity: StoreIdentity) -> PersistentStore? {
    if let store = stores.first(where: { $0.identity === identity }) { return store }
    let identifier = identity.identifier
    return stores.first { $0.identity.identifier == identifier }
  }

  /// The ID that a URI stands for; nil when its store is not here or its entity unknown.
  func managedObjectID(
    forURIRepresentation url: URL, model: ManagedObjectModel
  ) -> ManagedObjectID? {
    guard let components = URLComponents(url: url, resolvingAgainstBaseURL: false),
      components.scheme?.lowercased() == "x-coredata",
      let host = components.host, !host.isEmpty
    else { return nil }
    let parts = components.percentEncodedPath.split(
      separator: "/", omittingEmptySubsequences: true)
    guard parts.count == 2, let name = parts[0].removingPercentEncoding,
      let entity = model.entitiesByName[name], let key = ObjectKey(uriText: String(parts[1])),
      let store = stores.first(where: {
        $0.identity.identifier.caseInsensitiveCompare(host) == .orderedSame
      }), store.holds(entity)
    else { return nil }
    return ManagedObjectID(entity: entity, storeIdentity: store.identity, key: key)
  }
}
