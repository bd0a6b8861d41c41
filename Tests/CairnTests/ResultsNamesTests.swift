// Source written for Apple's fetched results, history and query generations compiles and works.

import CoreData
import Testing

/// Chapters 18, 19 and 23 of the specification, in Apple's words.
@Suite struct ResultsNamesTests {
  private final class List: NSObject, NSFetchedResultsControllerDelegate {
    var changes: [NSFetchedResultsChangeType] = []
    var sections = 0

    func controllerWillChangeContent(_ controller: NSFetchedResultsController<NSFetchRequestResult>)
    {}

    func controller(
      _ controller: NSFetchedResultsController<NSFetchRequestResult>,
      didChange sectionInfo: NSFetchedResultsSectionInfo, atSectionIndex sectionIndex: Int,
      for type: NSFetchedResultsChangeType
    ) {
      switch type {
      case .insert: sections += 1
      case .delete: sections -= 1
      default: break
      }
    }

    func controller(
      _ controller: NSFetchedResultsController<NSFetchRequestResult>, didChange anObject: Any,
      at indexPath: IndexPath?, for type: NSFetchedResultsChangeType, newIndexPath: IndexPath?
    ) {
      changes.append(type)
      if let newIndexPath {
        #expect(controller.object(at: newIndexPath) is NSManagedObject)
        #expect(newIndexPath.section >= 0 && newIndexPath.row >= 0)
      }
    }
  }

  /// A stack as Apple's documentation builds it, with history.
  private func container() throws -> NSPersistentContainer {
    let title = NSAttributeDescription()
    title.name = "title"
    title.attributeType = .stringAttributeType
    let book = NSEntityDescription()
    book.name = "Book"
    book.managedObjectClassName = NSStringFromClass(NSManagedObject.self)
    book.properties = [title]
    let model = NSManagedObjectModel()
    model.entities = [book]
    let container = NSPersistentContainer(name: "Library", managedObjectModel: model)
    let description = NSPersistentStoreDescription()
    description.type = NSInMemoryStoreType
    description.setOption(true as NSNumber, forKey: NSPersistentHistoryTrackingKey)
    container.persistentStoreDescriptions = [description]
    container.loadPersistentStores { _, error in #expect(error == nil) }
    return container
  }

  @Test func aTableViewsControllerCompilesAndRuns() throws {
    let context = try container().newBackgroundContext()
    try context.performAndWait { () throws -> Void in
      let request = NSFetchRequest<NSManagedObject>(entityName: "Book")
      request.sortDescriptors = [NSSortDescriptor(key: "title", ascending: true)]
      let controller = NSFetchedResultsController(
        fetchRequest: request, managedObjectContext: context, sectionNameKeyPath: "title",
        cacheName: "Root")
      defer { NSFetchedResultsController<NSManagedObject>.deleteCache(withName: "Root") }
      let list = List()
      controller.delegate = list
      try controller.performFetch()
      let object = NSEntityDescription.insertNewObject(forEntityName: "Book", into: context)
      object.setValue("Lavinia", forKey: "title")
      try context.save()
      #expect(list.changes == [.insert] && list.sections == 1)
      #expect(controller.sections?[0].numberOfObjects == 1)
      #expect(controller.sectionIndexTitles == ["L"])
    }
  }

  @Test func historyIsFilteredByAuthorAsInArticles() throws {
    let container = try container()
    let context = container.newBackgroundContext()
    try context.performAndWait { () throws -> Void in
      for author in ["app", "extension"] {
        context.transactionAuthor = author
        NSEntityDescription.insertNewObject(forEntityName: "Book", into: context)
          .setValue(author, forKey: "title")
        try context.save()
      }
      let request = NSPersistentHistoryChangeRequest.fetchHistory(after: Date.distantPast)
      if let fetch = NSPersistentHistoryTransaction.fetchRequest {
        fetch.predicate = NSPredicate(
          format: "%K != %@", "author", "app")
        request.fetchRequest = fetch
      }
      let result = try context.execute(request) as? NSPersistentHistoryResult
      let transactions = result?.result as? [NSPersistentHistoryTransaction] ?? []
      #expect(transactions.map(\.author) == ["extension"])
      let other = container.newBackgroundContext()
      NSManagedObjectContext.mergeChanges(
        fromRemoteContextSave: transactions[0].objectIDNotification().userInfo ?? [:],
        into: [other])
      other.performAndWait { #expect(other.registeredObjects.count <= 1) }
    }
  }

  @Test func aContextIsPinnedAsInArticles() throws {
    let container = try container()
    let context = container.newBackgroundContext()
    try context.performAndWait { () throws -> Void in
      try context.setQueryGenerationFrom(NSQueryGenerationToken.current)
      #expect(context.queryGenerationToken != nil)
      let request = NSFetchRequest<NSManagedObject>(entityName: "Book")
      #expect(try context.count(for: request) == 0)
      let writer = container.newBackgroundContext()
      try writer.performAndWait { () throws -> Void in
        NSEntityDescription.insertNewObject(forEntityName: "Book", into: writer)
        try writer.save()
      }
      #expect(try context.count(for: request) == 0)
      try context.setQueryGenerationFrom(nil)
      #expect(try context.count(for: request) == 1)
    }
  }
}
