// Every operation of a store, with every one of its steps failing.

import Cairn
import CairnSQLite
import CairnTesting
import Foundation
import TestSupport
import Testing

/// Specification: operations.md 3.1 and 3.3 – fail the 1st, the 2nd … until it runs clean, once and from then
/// on; afterwards the store is whole and holds the old state or the new one.
@Suite struct FaultLoopTests {
  /// A filled store, closed; copied for every attempt.
  static let template: Result<TemporaryFolder, any Error> = Result {
    let folder = try TemporaryFolder()
    let shop = try Shop(at: folder.fileURL("Shop.sqlite"))
    try shop.fill()
    try shop.context.performAndWait {
      shop.insert("later")
      try shop.context.save()
    }
    try shop.close()
    return folder
  }

  static let operations: [FaultyOperation] = [
    FaultyOperation(name: "create", needsStore: false, changesNothing: true) { _, place in
      try Shop(at: place.url, options: place.options).close()
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
    FaultyOperation(
      name: "save and delete external data with a rollback journal",
      pragmas: ["journal_mode": "DELETE"],
      prepare: { shop in
        shop.insert("drawing", picture: Shop.picture(2))
        for item in try shop.items("name == 'painting'") { shop.context.delete(item) }
      }
    ) { shop, _ in try shop?.context.save() },
    FaultyOperation(
      name: "delete external data",
      prepare: { shop in
        for item in try shop.items("name == 'painting'") { shop.context.delete(item) }
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
      name: "read", changesNothing: true, pragmas: ["cache_size": "2"], prepare: { _ in }
    ) { shop, _ in
      let contents = try shop?.contents()
      #expect(contents == Self.contents)
    },
    FaultyOperation(
      name: "read a pinned generation", changesNothing: false, pragmas: ["cache_size": "2"],
      prepare: { shop in
        try shop.context.setQueryGenerationFrom(.current)
        _ = try shop.items()
        try shop.changeElsewhere()
        shop.context.refreshAllObjects()
      }
    ) { shop, _ in
      guard let shop else { return }
      let boxes = try shop.context.fetch(FetchRequest<ManagedObject>(entityName: "Box"))
      let items = boxes.map { ($0.value(forKey: "items") as? NSOrderedSet)?.count ?? 0 }
      let pictures = try shop.items().map { ($0.value(forKey: "picture") as? Data)?.count ?? 0 }
      if let error = shop.context.faultError {
        shop.context.faultError = nil
        throw error
      }
      #expect(items == [4, 4, 4] && pictures.count == 14 && pictures.reduce(0, +) == 110_000)
    },
    FaultyOperation(
      name: "checkpoint", changesNothing: true,
      prepare: { shop in
        _ = try shop.context.execute(
          PersistentHistoryChangeRequest.deleteHistory(before: Date.distantPast))
      }
    ) { shop, _ in try shop?.store.checkpoint() },
    FaultyOperation(name: "open", changesNothing: true) { _, place in
      try Shop(at: place.url, options: place.options).close()
    },
    FaultyOperation(name: "migrate in place", isNewer: true, changesNothing: true) { _, place in
      try Shop(at: place.url, model: Shop.newerModel.get(), options: place.options).close()
    },
    FaultyOperation(
      name: "migrate with a mapping model", isNewer: true,
      codes: [.migrationManagerSourceStore, .migrationManagerDestinationStore, .migration]
    ) { _, place in
      let (old, new) = (try Shop.model.get(), try Shop.newerModel.get())
      let mapping = MappingModel()
      mapping.entityMappings = try MappingModel.inferredMappingModel(
        forSourceModel: old, destinationModel: new
      ).entityMappings
      let options = place.options.merging([StoreOptionKey.migrationMappingModels: [mapping]]) { $1 }
      try Shop(at: place.url, model: new, options: options).close()
    },
    FaultyOperation(
      name: "back up",
      result: { $0.deletingLastPathComponent().appendingPathComponent("Backup.sqlite") },
      mayBeEmpty: true
    ) { _, place in
      let folder = place.url.deletingLastPathComponent()
      try PersistentStoreCoordinator(managedObjectModel: Shop.model.get()).replacePersistentStore(
        at: folder.appendingPathComponent("Backup.sqlite"), destinationOptions: place.options,
        withPersistentStoreFrom: place.url, ofType: StoreTypeName.sqlite)
    },
    FaultyOperation(name: "replace") { _, place in
      try PersistentStoreCoordinator(managedObjectModel: Shop.model.get()).replacePersistentStore(
        at: place.url, destinationOptions: place.options,
        withPersistentStoreFrom: Self.other.get().fileURL("Other.sqlite"),
        ofType: StoreTypeName.sqlite)
    },
    FaultyOperation(name: "destroy", mayBeEmpty: true) { _, place in
      try PersistentStoreCoordinator(managedObjectModel: Shop.model.get()).destroyPersistentStore(
        at: place.url, ofType: StoreTypeName.sqlite, options: place.options)
    },
    FaultyOperation(name: "destroy by force", mayBeEmpty: true) { _, place in
      try PersistentStoreCoordinator(managedObjectModel: Shop.model.get()).destroyPersistentStore(
        at: place.url, ofType: StoreTypeName.sqlite,
        options: place.options.merging([StoreOptionKey.forceDestroy: true]) { $1 })
    },
  ]

  /// Another store, to replace the first one with.
  static let other: Result<TemporaryFolder, any Error> = Result {
    let folder = try TemporaryFolder()
    let shop = try Shop(at: folder.fileURL("Other.sqlite"))
    try shop.context.performAndWait {
      for number in 0..<30 { shop.insert("other \(number)", picture: Shop.picture(number)) }
      try shop.context.save()
    }
    try shop.close()
    return folder
  }

  /// What the template holds.
  private static var contents: [String] {
    ["box 0", "box 1", "box 2"].map { box in
      "\(box): " + "\((0..<4).map { "item \(box.suffix(1))\($0)" as Any })"
    }
      + (0..<12).map { "item \($0 / 4)\($0 % 4) \($0 % 4) none" } + ["later 1 none"]
      + ["painting 1 110000 1", "2 transactions"]
  }

  @Test(.timeLimit(.minutes(FaultLoop.isComplete ? 60 : 10)), arguments: operations)
  func eachFailingStepLeavesTheOldStateOrTheNew(operation: FaultyOperation) throws {
    let loop = try FaultLoop(operation, template: Self.template.get().url)
    let faults = try loop.run(
      [.open, .read, .write, .tornWrite, .fullWrite, .sync, .truncate, .delete],
      [.once, .fromThenOn])
    print("\(operation.name): \(faults) faults")
    #expect(faults > (operation.name.hasPrefix("read") ? 1 : 5), "\(operation.name): \(faults)")
  }

  @Test(.timeLimit(.minutes(FaultLoop.isComplete ? 60 : 10)), arguments: operations)
  func aPowerCutAtEachStepLeavesTheOldStateOrTheNew(operation: FaultyOperation) throws {
    let loop = try FaultLoop(operation, template: Self.template.get().url)
    var numbers = SeededNumbers(seed: TestSeed.get("power cuts of \(operation.name)"))
    let seeds =
      [0]
      + (0..<(FaultLoop.isComplete ? 3 : 1)).map { _ in
        UInt64.random(in: 1 ... .max, using: &numbers)
      }
    let cuts = try loop.run([.change], seeds.map { .powerCut(seed: $0) })
    print("\(operation.name): \(cuts) power cuts")
    #expect(cuts > 5 || operation.name.hasPrefix("read"), "\(operation.name): only \(cuts) cuts")
  }
}
