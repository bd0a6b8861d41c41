// An incremental store written only for tests: rows in a dictionary of its own, every call noted.

@_spi(Stores) import Cairn
import Foundation
import Synchronization

/// What a service behind a store has, and which calls the store got.
// Unchecked: mutable state is `state`, inside a mutex; values are those of attributes.
final class Shelf: @unchecked Sendable {
  struct Record: @unchecked Sendable {
    var entity: String
    var version: UInt64
    /// Attributes as values, relationships as references.
    var values: [String: Any] = [:]
    var links: [String: [String]] = [:]
  }
  struct State {
    var records: [String: Record] = [:]
    var calls: [String] = []
    var next = 0
    var failure: (any Error)?
    /// Whether nodes hold to-one relationships.
    var givesToOnes = true
    var makesDictionaries = true
    var metadataType: String? = RemoteShelf.storeType
    var hashes: [String: Data]?
    var registered: [String: Int] = [:]
  }
  let state = Mutex(State())

  func note(_ call: String) { state.withLock { $0.calls.append(call) } }
  /// The calls since the last time, in their order.
  func takeCalls() -> [String] {
    state.withLock { state in
      defer { state.calls = [] }
      return state.calls
    }
  }

  /// The shelf of the store that is opened next, by URL.
  private static let known = Mutex<[String: Shelf]>([:])
  static func shelf(at url: URL) -> Shelf {
    known.withLock { known in
      if let shelf = known[url.absoluteString] { return shelf }
      let shelf = Shelf()
      known[url.absoluteString] = shelf
      return shelf
    }
  }
}

/// A store as a program would write it, with Core Data's methods only.
// Unchecked: `shelf` guards itself.
final class RemoteShelf: IncrementalStore, @unchecked Sendable {
  static let storeType = "RemoteShelf"
  var shelf: Shelf { Shelf.shelf(at: url ?? URL(fileURLWithPath: "/")) }

  override init(
    persistentStoreCoordinator root: PersistentStoreCoordinator?,
    configurationName name: String?, at url: URL, options: [AnyHashable: Any]? = nil
  ) {
    super.init(
      persistentStoreCoordinator: root, configurationName: name, at: url, options: options)
    shelf.note("init")
  }

  override var type: String { Self.storeType }

  override func loadMetadata() throws {
    shelf.note("loadMetadata")
    let state = shelf.state.withLock { ($0.metadataType, $0.hashes) }
    var metadata: [String: Any] = [
      "NSStoreUUID": Self.identifierForNewStore(at: url ?? URL(fileURLWithPath: "/"))
    ]
    metadata["NSStoreType"] = state.0
    metadata["NSStoreModelVersionHashes"] = state.1
    self.metadata = metadata
  }

  override func didAdd(to coordinator: PersistentStoreCoordinator) { shelf.note("didAdd") }
  override func willRemove(from coordinator: PersistentStoreCoordinator?) {
    shelf.note("willRemove")
  }

  // MARK: Requests

  override func execute(
    _ request: PersistentStoreRequest, with context: ManagedObjectContext?
  ) throws -> Any {
    if let failure = shelf.state.withLock({ $0.failure }) { throw failure }
    guard let context else { throw CocoaError(.featureUnsupported) }
    switch request {
    case let fetch as FetchRequest<any FetchRequestResult>:
      return try execute(fetch, in: context)
    case let save as ObjectSaveRequest:
      try execute(save)
      return [Any]()
    default:
      throw CocoaError(.featureUnsupported)
    }
  }

  private func execute(
    _ fetch: FetchRequest<any FetchRequestResult>, in context: ManagedObjectContext
  ) throws -> Any {
    shelf.note("fetch \(fetch.entity?.name ?? "?") \(fetch.resultType.rawValue)")
    if fetch.resultType == .dictionaryResultType,
      !shelf.state.withLock({ $0.makesDictionaries })
    {
      throw CoreDataError(.persistentStoreUnsupportedRequestType, "no dictionaries here")
    }
    let names = Set(
      (fetch.includesSubentities
        ? fetch.entity.map { Self.family(of: $0) } ?? [] : [fetch.entity?.name ?? ""]))
    let records = shelf.state.withLock { $0.records }
    // Conditions are about what is stored, not about what the context has changed.
    let stored = ManagedObjectContext(concurrencyType: .confinementConcurrencyType)
    stored.persistentStoreCoordinator = persistentStoreCoordinator
    var objects = records.filter { names.contains($0.value.entity) }.keys
      .sorted { ($0.count, $0) < ($1.count, $1) }
      .compactMap { objectID($0).map { stored.object(with: $0) } }
    if let predicate = fetch.predicate {
      objects = objects.filter { predicate.evaluate(with: $0) }
    }
    for descriptor in (fetch.sortDescriptors ?? []).reversed() {
      // Stable, so that the first descriptor decides first.
      objects = objects.enumerated().sorted { a, b in
        switch descriptor.compare(a.element, to: b.element) {
        case .orderedAscending: return true
        case .orderedDescending: return false
        case .orderedSame: return a.offset < b.offset
        }
      }.map(\.element)
    }
    var found = objects.dropFirst(fetch.fetchOffset)
    if fetch.fetchLimit > 0 { found = found.prefix(fetch.fetchLimit) }
    switch fetch.resultType {
    case .countResultType: return [NSNumber(value: found.count)]
    case .managedObjectIDResultType: return found.map(\.objectID)
    case .dictionaryResultType:
      return found.map { object -> [String: Any] in
        var row: [String: Any] = [:]
        for case let property as PropertyDescription in fetch.propertiesToFetch ?? [] {
          row[property.name] = object.value(forKey: property.name)
        }
        return row
      }
    default: return found.map { context.object(with: $0.objectID) }
    }
  }

  private static func family(of entity: EntityDescription) -> [String] {
    [entity.name ?? ""] + entity.subentities.flatMap(family)
  }

  private func execute(_ save: ObjectSaveRequest) throws {
    func count(_ objects: Set<ManagedObject>?) -> Int { objects?.count ?? 0 }
    shelf.note(
      "save \(count(save.insertedObjects)) \(count(save.updatedObjects)) "
        + "\(count(save.deletedObjects)) \(count(save.lockedObjects))")
    var records = shelf.state.withLock { $0.records }
    let changed = (save.updatedObjects ?? []).union(save.deletedObjects ?? [])
      .union(save.lockedObjects ?? [])
    let conflicts = changed.compactMap { object -> MergeConflict? in
      let stored = records[reference(object)]?.version
      guard let base = save.baseVersion(of: object), base != stored else { return nil }
      return MergeConflict(
        source: object, newVersion: Int(stored ?? 0), oldVersion: Int(base), cachedSnapshot: nil,
        persistedSnapshot: nil)
    }
    if !conflicts.isEmpty {
      throw CoreDataError(
        .persistentStoreSaveConflicts, "changed by another program",
        userInfo: ["conflictList": conflicts])
    }
    for object in save.insertedObjects ?? [] {
      if records[reference(object)] != nil { throw CocoaError(.fileWriteFileExists) }
      records[reference(object)] = record(of: object, version: 1)
    }
    for object in save.updatedObjects ?? [] {
      let old = records[reference(object)]
      let new = record(of: object, version: 0)
      // A link alone, which the other side told, is no new version of this side.
      let isChange =
        save.baseVersion(of: object) != nil
        || !NSDictionary(dictionary: new.values).isEqual(old?.values as NSDictionary?)
      records[reference(object)] = new
      records[reference(object)]?.version = (old?.version ?? 0) + (isChange ? 1 : 0)
    }
    for object in save.deletedObjects ?? [] { records[reference(object)] = nil }
    repairLinks(&records, of: (save.insertedObjects ?? []).union(save.updatedObjects ?? []))
    let all = records
    shelf.state.withLock { $0.records = all }
  }

  /// Both sides of a relationship are kept; the side that was saved says how it is.
  private func repairLinks(
    _ records: inout [String: Shelf.Record], of objects: Set<ManagedObject>
  ) {
    for object in objects {
      let own = reference(object)
      for relationship in object.entity.relationshipsByName.values {
        guard let inverse = relationship.inverseRelationship else { continue }
        let members = Set(records[own]?.links[relationship.name] ?? [])
        for (key, record) in records {
          let has = record.links[inverse.name]?.contains(own) ?? false
          if has, !members.contains(key),
            record.entity == relationship.destinationEntity?.name
              || relationship.destinationEntity.map({ Self.family(of: $0) })?
                .contains(record.entity) ?? false
          {
            records[key]?.links[inverse.name]?.removeAll { $0 == own }
          } else if !has, members.contains(key) {
            if inverse.isToMany {
              records[key]?.links[inverse.name, default: []].append(own)
            } else {
              records[key]?.links[inverse.name] = [own]
            }
          }
        }
      }
    }
  }

  private func record(of object: ManagedObject, version: UInt64) -> Shelf.Record {
    var record = Shelf.Record(entity: object.entity.name ?? "", version: version)
    for name in object.entity.attributesByName.keys {
      record.values[name] = object.value(forKey: name)
    }
    for (name, relationship) in object.entity.relationshipsByName {
      if !relationship.isToMany {
        record.links[name] = (object.value(forKey: name) as? ManagedObject).map { [reference($0)] }
      } else if relationship.isOrdered {
        let members = (object.value(forKey: name) as? NSOrderedSet)?.array ?? []
        record.links[name] = members.compactMap { ($0 as? ManagedObject).map(reference) }
      } else {
        let members = object.value(forKey: name) as? Set<ManagedObject> ?? []
        record.links[name] = members.map(reference)
      }
    }
    return record
  }

  // MARK: Objects

  override func newValuesForObject(
    with objectID: ManagedObjectID, with context: ManagedObjectContext
  ) throws -> IncrementalStoreNode {
    let reference = referenceObject(for: objectID) as? String ?? ""
    shelf.note("values \(reference)")
    let (record, givesToOnes) = shelf.state.withLock { ($0.records[reference], $0.givesToOnes) }
    guard let record else {
      throw CoreDataError(.managedObjectReferentialIntegrity, "\(reference) has gone")
    }
    var values = record.values
    if givesToOnes {
      for (name, relationship) in objectID.entity.relationshipsByName where !relationship.isToMany {
        values[name] =
          record.links[name]?.first.flatMap { self.objectID($0) } as Any? ?? NSNull()
      }
    }
    return IncrementalStoreNode(objectID: objectID, withValues: values, version: record.version)
  }

  override func newValue(
    forRelationship relationship: RelationshipDescription,
    forObjectWith objectID: ManagedObjectID, with context: ManagedObjectContext?
  ) throws -> Any {
    let reference = referenceObject(for: objectID) as? String ?? ""
    shelf.note("\(relationship.name) of \(reference)")
    let links = shelf.state.withLock { $0.records[reference]?.links[relationship.name] ?? [] }
    let ids = links.compactMap { self.objectID($0) }
    if relationship.isToMany { return ids }
    return ids.first ?? NSNull()
  }

  override func obtainPermanentIDs(for array: [ManagedObject]) throws -> [ManagedObjectID] {
    shelf.note("permanent IDs \(array.count)")
    return array.map { object in
      let number = shelf.state.withLock { state in
        state.next += 1
        return state.next
      }
      return newObjectID(for: object.entity, referenceObject: "\(number)")
    }
  }

  override func managedObjectContextDidRegisterObjects(with objectIDs: [ManagedObjectID]) {
    for id in objectIDs { shelf.state.withLock { $0.registered["\(id)", default: 0] += 1 } }
  }

  override func managedObjectContextDidUnregisterObjects(with objectIDs: [ManagedObjectID]) {
    for id in objectIDs { shelf.state.withLock { $0.registered["\(id)", default: 0] -= 1 } }
  }

  private func reference(_ object: ManagedObject) -> String {
    referenceObject(for: object.objectID) as? String ?? "?"
  }

  private func objectID(_ reference: String) -> ManagedObjectID? {
    guard let record = shelf.state.withLock({ $0.records[reference] }),
      let entity = persistentStoreCoordinator?.managedObjectModel.entitiesByName[record.entity]
    else { return nil }
    return newObjectID(for: entity, referenceObject: reference)
  }
}
