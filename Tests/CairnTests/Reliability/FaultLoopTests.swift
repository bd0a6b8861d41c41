// Every operation of a store, with every one of its steps failing.

import Cairn
import CairnSQLite
import Foundation
import Testing

/// Specification: operations.md 3.1 – fail the 1st, the 2nd … until it runs clean, once and from then
/// on; afterwards the store is whole and holds the old state or the new one.
@Suite(.timeLimit(.minutes(10))) struct FaultLoopTests {
  /// A filled store, closed; copied for every attempt.
  static let template: Result<URL, any Error> = Result {
    let folder = FileManager.default.temporaryDirectory
      .appendingPathComponent("cairn-fault-template-\(UUID().uuidString)", isDirectory: true)
    try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true)
    let shop = try Shop(at: folder.appendingPathComponent("Shop.sqlite"))
    try shop.fill()
    try shop.context.performAndWait {
      shop.insert("later")
      try shop.context.save()
    }
    try shop.close()
    return folder
  }

  static let operations: [FaultyOperation] = [
    FaultyOperation(name: "create", needsStore: false, changesNothing: true) { _, url in
      try Shop(at: url).close()
    },
    FaultyOperation(
      name: "save inserts", prepare: { shop in for n in 0..<20 { shop.insert("new \(n)") } }
    ) { shop, _ in try shop?.context.save() },
    FaultyOperation(
      name: "save updates and deletes",
      prepare: { shop in
        for item in try shop.items("count == 1") { item.setValue(99, forKey: "count") }
        for box in try shop.context.fetch(FetchRequest<ManagedObject>(entityName: "Box")).prefix(1)
        {
          shop.context.delete(box)
        }
      }
    ) { shop, _ in try shop?.context.save() },
    FaultyOperation(
      name: "save external data",
      prepare: { shop in
        shop.insert("drawing", picture: Shop.picture(2))
        try shop.items("name == 'painting'").first?.setValue(Shop.picture(3), forKey: "picture")
      }
    ) { shop, _ in try shop?.context.save() },
    FaultyOperation(name: "batch insert", prepare: { _ in }) { shop, _ in
      _ = try shop?.context.execute(
        BatchInsertRequest(
          entityName: "Item", objects: (0..<30).map { ["name": "batch \($0)", "count": 5] }))
    },
    FaultyOperation(name: "batch update", prepare: { _ in }) { shop, _ in
      let request = BatchUpdateRequest(entityName: "Item")
      request.propertiesToUpdate = ["count": ObjectExpression(forConstantValue: 7)]
      _ = try shop?.context.execute(request)
    },
    FaultyOperation(name: "batch delete", prepare: { _ in }) { shop, _ in
      let request = FetchRequest<any FetchRequestResult>(entityName: "Item")
      request.predicate = ObjectPredicate(format: "count > 1 OR name == 'painting'")
      _ = try shop?.context.execute(BatchDeleteRequest(fetchRequest: request))
    },
    FaultyOperation(name: "purge history", prepare: { _ in }) { shop, _ in
      _ = try shop?.context.execute(
        PersistentHistoryChangeRequest.deleteHistory(before: Date.distantFuture))
    },
    FaultyOperation(
      name: "checkpoint", changesNothing: true,
      prepare: { shop in
        _ = try shop.context.execute(
          PersistentHistoryChangeRequest.deleteHistory(before: Date.distantPast))
      }
    ) { shop, _ in try shop?.store.checkpoint() },
    FaultyOperation(name: "open", changesNothing: true) { _, url in try Shop(at: url).close() },
    FaultyOperation(name: "migrate in place", isNewer: true, changesNothing: true) { _, url in
      try Shop(at: url, model: Shop.newerModel.get()).close()
    },
    FaultyOperation(
      name: "back up",
      result: { $0.deletingLastPathComponent().appendingPathComponent("Backup.sqlite") },
      mayBeEmpty: true
    ) { _, url in
      try PersistentStoreCoordinator(managedObjectModel: Shop.model.get()).replacePersistentStore(
        at: url.deletingLastPathComponent().appendingPathComponent("Backup.sqlite"),
        withPersistentStoreFrom: url, ofType: StoreTypeName.sqlite)
    },
    FaultyOperation(name: "replace") { _, url in
      try PersistentStoreCoordinator(managedObjectModel: Shop.model.get()).replacePersistentStore(
        at: url,
        withPersistentStoreFrom: Self.other.get(), ofType: StoreTypeName.sqlite)
    },
    FaultyOperation(name: "destroy", mayBeEmpty: true) { _, url in
      try PersistentStoreCoordinator(managedObjectModel: Shop.model.get()).destroyPersistentStore(
        at: url, ofType: StoreTypeName.sqlite)
    },
  ]

  /// Another store, to replace the first one with.
  static let other: Result<URL, any Error> = Result {
    let folder = FileManager.default.temporaryDirectory
      .appendingPathComponent("cairn-fault-other-\(UUID().uuidString)", isDirectory: true)
    try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true)
    let url = folder.appendingPathComponent("Other.sqlite")
    let shop = try Shop(at: url)
    try shop.context.performAndWait {
      for number in 0..<30 { shop.insert("other \(number)", picture: Shop.picture(number)) }
      try shop.context.save()
    }
    try shop.close()
    return url
  }

  @Test(arguments: operations)
  func eachFailingStepLeavesTheOldStateOrTheNew(operation: FaultyOperation) throws {
    let loop = try FaultLoop(operation, template: Self.template.get())
    let faults = try loop.run([.open, .write, .tornWrite, .fullWrite, .sync, .truncate])
    #expect(faults > 5, "\(operation.name): only \(faults) faults")
  }
}
