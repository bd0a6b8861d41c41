// Lists of fetched results, nodes of stores, and history, as programs use them.

import CoreData
import TestSupport
import Testing

/// Chapters 18, 21, 23, II.6, II.8 and II.9 of the specification.
@Suite struct ResultsAndNodesTests {
  /// A delegate that writes down what it hears, and compares the controller as programs do.
  private final class Table: NSObject, NSFetchedResultsControllerDelegate {
    weak var mine: NSFetchedResultsController<Clerk>?
    var calls: [String] = []

    private func note(
      _ what: String, _ controller: NSFetchedResultsController<any NSFetchRequestResult>
    ) {
      #expect(controller === mine && controller.isEqual(mine))
      #expect(controller.managedObjectContext === mine?.managedObjectContext)
      calls.append(what)
    }
    func controllerWillChangeContent(
      _ controller: NSFetchedResultsController<any NSFetchRequestResult>
    ) { note("will", controller) }
    func controllerDidChangeContent(
      _ controller: NSFetchedResultsController<any NSFetchRequestResult>
    ) { note("did \(controller.fetchedObjects?.count ?? -1)", controller) }
    func controller(
      _ controller: NSFetchedResultsController<any NSFetchRequestResult>,
      didChange sectionInfo: any NSFetchedResultsSectionInfo, atSectionIndex sectionIndex: Int,
      for type: NSFetchedResultsChangeType
    ) {
      note(
        "section \(sectionInfo.name) \(sectionInfo.indexTitle ?? "") \(type.rawValue)", controller)
    }
    func controller(
      _ controller: NSFetchedResultsController<any NSFetchRequestResult>, didChange anObject: Any,
      at indexPath: IndexPath?, for type: NSFetchedResultsChangeType, newIndexPath: IndexPath?
    ) {
      note("object \(type.rawValue)", controller)
      guard let newIndexPath else { return }
      #expect(controller.object(at: newIndexPath) as? Clerk === anObject as? Clerk)
      #expect(controller.sections?[newIndexPath.section].objects?.count ?? 0 > newIndexPath.item)
    }
    func controller(
      _ controller: NSFetchedResultsController<any NSFetchRequestResult>,
      sectionIndexTitleForSectionName sectionName: String
    ) -> String? { "<\(sectionName)>" }
  }

  private func controller(
    _ context: NSManagedObjectContext, sections: String? = "name"
  ) -> NSFetchedResultsController<Clerk> {
    let request = NSFetchRequest<Clerk>(entityName: "Clerk")
    request.sortDescriptors = [NSSortDescriptor(key: "name", ascending: true)]
    return NSFetchedResultsController(
      fetchRequest: request, managedObjectContext: context, sectionNameKeyPath: sections,
      cacheName: nil)
  }

  @Test func aDelegateKnowsTheControllerOfItsProgram() throws {
    try Company.use { context in
      let ada = try Company.clerk("Ada", in: context)
      let list = controller(context)
      let table = Table()
      table.mine = list
      list.delegate = table
      try list.performFetch()
      #expect(list.sectionIndexTitle(forSectionName: "x") == "<x>")
      #expect(list.sections?.first?.indexTitle == "<Ada>")
      let bea = try Company.clerk("Bea", in: context)
      context.processPendingChanges()
      #expect(table.calls == ["will", "section Bea <Bea> 1", "object 1", "did 2"])
      table.calls = []
      bea.setValue("Abe", forKey: "name")
      ada.setValue(77, forKey: "age")
      context.processPendingChanges()
      #expect(Set(table.calls).isSuperset(of: ["will", "object 3", "object 4", "did 2"]))
      #expect(list.fetchedObjects == [bea, ada])
      #expect(list.indexPath(forObject: ada) == IndexPath(indexes: [1, 0]))
      #expect(list.object(at: IndexPath(indexes: [0, 0])) === bea)
    }
  }

  /// Delegates of the newer kinds.
  private final class Snapshots: NSObject, NSFetchedResultsControllerDelegate {
    var seen: [[Int]] = []
    func controller(
      _ controller: NSFetchedResultsController<any NSFetchRequestResult>,
      didChangeContentWith snapshot: NSDiffableDataSourceSnapshotReference
    ) { seen.append([snapshot.numberOfSections, snapshot.numberOfItems]) }
  }
  private final class Differences: NSObject, NSFetchedResultsControllerDelegate {
    var seen: [CollectionDifference<NSManagedObjectID>] = []
    func controller(
      _ controller: NSFetchedResultsController<any NSFetchRequestResult>,
      didChangeContentWith diff: CollectionDifference<NSManagedObjectID>
    ) { seen.append(diff) }
  }

  @Test func snapshotsAndDifferencesTellTheSameChange() throws {
    try Company.use { context in
      _ = try Company.clerk("Ada", in: context)
      try context.save()
      let (snapshots, differences) = (Snapshots(), Differences())
      let (sectioned, flat) = (controller(context), controller(context, sections: nil))
      sectioned.delegate = snapshots
      flat.delegate = differences
      try sectioned.performFetch()
      try flat.performFetch()
      let before = (flat.fetchedObjects ?? []).map(\.objectID)
      let bea = try Company.clerk("Bea", in: context)
      try context.obtainPermanentIDs(for: [bea])
      context.processPendingChanges()
      #expect(snapshots.seen.last == [2, 2])
      let applied = differences.seen.first.flatMap { before.applying($0) }
      #expect(applied == (flat.fetchedObjects ?? []).map(\.objectID))
    }
  }

  // MARK: Nodes

  @Test func aNodeOfAnIncrementalStoreIsUpdated() throws {
    try Company.use { context in
      let clerk = try Company.clerk("Ada", in: context)
      try context.save()
      let name = try #require(clerk.entity.propertiesByName["name"])
      let office = try #require(clerk.entity.propertiesByName["office"])
      let node = NSIncrementalStoreNode(
        objectID: clerk.objectID, withValues: ["name": "Ada", "office": NSNull()], version: 3)
      #expect(node.objectID == clerk.objectID && node.version == 3)
      #expect(node.value(for: name) as? String == "Ada" && node.value(for: office) is NSNull)
      node.update(withValues: ["name": "Bea"], version: 4)
      #expect(node.value(for: name) as? String == "Bea" && node.value(for: office) == nil)
      #expect(node.version == 4)
    }
  }

  @Test func aNodeOfAnAtomicStoreKeepsItsValues() throws {
    try Company.use { context in
      let clerk = try Company.clerk("Ada", in: context)
      let node = NSAtomicStoreCacheNode(objectID: clerk.objectID)
      #expect(node.objectID == clerk.objectID && node.value(forKey: "name") == nil)
      node.setValue("Ada", forKey: "name")
      #expect(node.propertyCache?["name"] as? String == "Ada")
      node.propertyCache = ["name": "Bea"]
      #expect(node.value(forKey: "name") as? String == "Bea")
    }
  }

  // MARK: History

  @Test func historyIsReadAsTransactionsWithChanges() throws {
    try TemporaryFolder.with { folder in
      let coordinator = try Company.coordinator(
        NSSQLiteStoreType, at: folder.appendingPathComponent("a.sqlite"),
        options: [NSPersistentHistoryTrackingKey: true as NSNumber])
      let context = Company.context(coordinator)
      try context.performAndWait { () throws -> Void in
        context.transactionAuthor = "test"
        let clerk = try Company.clerk("Ada", in: context)
        try context.save()
        clerk.setValue("Bea", forKey: "name")
        try context.save()
        let request = NSPersistentHistoryChangeRequest.fetchHistory(after: Date.distantPast)
        #expect((request as NSPersistentStoreRequest).affectedStores == nil)
        let result: NSPersistentStoreResult = try context.execute(request)
        let history = try #require(result as? NSPersistentHistoryResult)
        let transactions = history.result as? [NSPersistentHistoryTransaction] ?? []
        #expect(transactions.count == 2 && transactions[0].author == "test")
        let transaction = try #require(transactions[0].copy() as? NSPersistentHistoryTransaction)
        #expect(transaction.transactionNumber == transactions[0].transactionNumber)
        #expect(transaction.bundleID == transactions[1].bundleID)
        let changes = transactions.flatMap { $0.changes ?? [] }
        #expect(changes.map(\.changeType) == [.insert, .update])
        #expect(changes[0].changeID < changes[1].changeID)
        let change = try #require(changes[1].copy() as? NSPersistentHistoryChange)
        #expect(change.updatedProperties?.map(\.name) == ["name"])
        #expect(change.changedObjectID == clerk.objectID)
        let token: NSPersistentHistoryToken = transactions[1].token
        #expect(token.copy() as? NSPersistentHistoryToken == token)
        #expect(coordinator.currentPersistentHistoryToken(fromStores: nil) == token)
      }
    }
  }
}
