// What contexts of a random store do to each other: batch requests, merges and children.

import Cairn
import Foundation

extension RandomStoreRun {
  func batch(_ desk: Int) throws {
    try save(desk)
    let context = desks[desk].context
    let entities = concreteEntities(desk)
    if entities.isEmpty { return }
    let entity = random.pick(entities)
    let name = entity.name ?? ""
    let plain = attributes(of: entity).filter { attribute in
      ![.transformable, .composite].contains(attribute.attributeType)
        && !shape.entities.contains { $0.unique == attribute.name }
    }
    var told: [AnyHashable: Any] = [:]
    func tell(_ key: ManagedObjectContext.NotificationKey, _ result: Any?) {
      told[key.rawValue] = result as? [ManagedObjectID] ?? []
    }
    do {
      switch random.below(3) {
      case 0:
        trail.append("\(desk) batch insert \(name)")
        let rows = (0..<random.below(4)).map { _ in
          Dictionary(
            plain.compactMap { attribute in value(of: attribute).map { (attribute.name, $0) } },
            uniquingKeysWith: { first, _ in first })
        }
        let request = BatchInsertRequest(entityName: name, objects: rows)
        request.resultType = .objectIDs
        let result = try context.execute(request) as? BatchInsertResult
        tell(.insertedObjectIDs, result?.result)
      case 1 where !plain.isEmpty:
        let attribute = random.pick(plain)
        trail.append("\(desk) batch update \(name) \(attribute.name)")
        let request = BatchUpdateRequest(entityName: name)
        request.propertiesToUpdate = [attribute.name: value(of: attribute) ?? NSNull()]
        request.resultType = .updatedObjectIDsResultType
        let result = try context.execute(request) as? BatchUpdateResult
        tell(.updatedObjectIDs, result?.result)
      default:
        let found = desks[desk].alive.filter { $0.entity === entity }.prefix(2)
        trail.append("\(desk) batch delete \(found.map(RandomValues.key))")
        let request = BatchDeleteRequest(objectIDs: found.map(\.objectID))
        request.resultType = .resultTypeObjectIDs
        let result = try context.execute(request) as? BatchDeleteResult
        tell(.deletedObjectIDs, result?.result)
      }
    } catch let error as CoreDataError where Self.isExpected(error) {
      trail.append("refused: \(error.code)")
    }
    inspect("batch")
    // Others keep what they have not saved, or begin anew.
    let merges = random.below(2) == 0
    if merges {
      trail.append("batch merged")
      ManagedObjectContext.mergeChanges(
        fromRemoteContextSave: told, into: desks.map(\.context))
    }
    for desk in desks.indices {
      let context = desks[desk].context
      if !merges { context.performAndWait { context.reset() } }
      try reload(desk)
    }
    context.refreshAllObjects()
    try compare(context, after: "batch", isFresh: true)
  }

  /// A child changes something, and saves it into the context.
  func child(_ desk: Int) throws {
    let parent = desks[desk].context
    let context = ManagedObjectContext(concurrencyType: .privateQueueConcurrencyType)
    context.parent = parent
    trail.append("child of \(desk)")
    desks.append(Desk(context: context))
    let own = desks.count - 1
    defer { desks.removeLast() }
    try reload(own)
    for _ in 0..<(1 + random.below(4)) {
      context.performAndWait {
        edit(own)
        context.processPendingChanges()
      }
    }
    if random.below(6) == 0 {
      trail.append("child discarded")
      return
    }
    parent.performAndWait { parent.undoManager?.beginUndoGrouping() }
    defer { parent.performAndWait { parent.undoManager?.endUndoGrouping() } }
    do {
      try context.performAndWait { try context.save() }
      trail.append("child saved")
    } catch let error as CoreDataError where Self.isExpected(error) {
      trail.append("child refused: \(error.code)")
      return
    }
    let (above, below) = (
      try contents(in: parent, isFresh: false), try contents(in: context, isFresh: false)
    )
    // The parent may show changed objects whose rows another program has deleted.
    for key in below.keys.sorted() where above[key] != below[key] {
      let (there, here) = (above[key] ?? [:], below[key] ?? [:])
      for name in Set(there.keys).union(here.keys).sorted() where there[name] != here[name] {
        fail(
          "child: \(key) \(name) is \(here[name] ?? "nothing"), in its parent "
            + "\(there[name] ?? "nothing")")
      }
    }
    try reload(desk)
  }

  /// Others may hear of a save.
  func tellOthers(_ note: Notification?, than desk: Int) throws {
    guard let note else { return }
    for other in desks.indices where other != desk && random.below(2) == 0 {
      trail.append("\(other) merges")
      let context = desks[other].context
      context.performAndWait { context.mergeChanges(fromContextDidSave: note) }
      try reload(other)
    }
  }
}
