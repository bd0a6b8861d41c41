// Chapter 17: batch updates and batch deletes, through a context.
import CairnContext
import CairnModel
import CairnPredicates
import CairnStore
import Foundation
import Testing

/// Core Data semantics, 17: batch update and batch delete.
@Suite struct BatchChangeTests {
  private func titles(_ stack: CountingStack, _ entity: String = "Work") throws -> [String] {
    try stack.use { context in
      let request = FetchRequest<ManagedObject>(entity, by: "title")
      return try context.fetch(request).map {
        "\($0.text("title") ?? "nil") \($0.number("pages") ?? -1)"
      }
    }
  }

  // MARK: Update

  @Test func constantsAndExpressionsOverTheOldRowAreWritten() throws {
    let stack = try CountingStack()
    try stack.addBooks(3)
    try stack.use { context in
      let request = BatchUpdateRequest(entityName: "Book")
      #expect(request.resultType == .statusOnlyResultType && request.includesSubentities)
      #expect(request.requestType == .batchUpdateRequestType)
      request.predicate = ObjectPredicate(format: "pages > 1")
      request.propertiesToUpdate = [
        "pages": ObjectExpression(format: "pages * 10"), "isRead": true,
      ]
      request.resultType = .updatedObjectsCountResultType
      let result = try context.execute(request) as? BatchUpdateResult
      #expect(result?.result as? Int == 2)
    }
    try expect(titles(stack), is: ["000 1", "001 20", "002 30"])
  }

  @Test func keysCanBeDescriptionsAndValuesNil() throws {
    let stack = try CountingStack()
    try stack.addBooks(1)
    let entity = try #require(stack.coordinator.managedObjectModel.entitiesByName["Book"])
    let title = try #require(entity.attributesByName["title"])
    try stack.use { context in
      let request = BatchUpdateRequest(entity: entity)
      #expect(request.entity === entity && request.entityName == "Book")
      request.propertiesToUpdate = [title: NSNull()]
      let status = try context.execute(request) as? BatchUpdateResult
      #expect(status?.result as? Bool == true)
    }
    try expect(titles(stack), is: ["nil 1"])
  }

  @Test func toOneRelationshipsTakeObjectsAndIDs() throws {
    let stack = try CountingStack()
    try stack.addBooks(2)
    try stack.use { context in
      let author = context.make("Author", ["name": "Ann"])
      try context.save()
      let request = BatchUpdateRequest(entityName: "Book")
      request.propertiesToUpdate = ["author": author]
      request.resultType = .updatedObjectIDsResultType
      let result = try context.execute(request) as? BatchUpdateResult
      let ids = try #require(result?.result as? [ManagedObjectID])
      #expect(ids.count == 2)
      ManagedObjectContext.mergeChanges(
        fromRemoteContextSave: [NSUpdatedObjectsKey: ids], into: [context])
      let names = try context.all("Book").map { $0.one("author")?.text("name") }
      #expect(names == ["Ann", "Ann"])
    }
  }

  @Test func aCompositeAttributeIsSetByItsNameAsAWhole() throws {
    let stack = try WorkshopStack()
    func size() throws -> [String] {
      try stack.use { context in
        let piece = try #require(try context.all("Piece").first)
        return ["size.height", "size.unit", "size.origin.x"].map { path in
          "\(piece.value(forKeyPath: path) ?? "nil")"
        }
      }
    }
    let given: [String: Any] = ["unit": "cm", "origin": ["x": 1.5]]
    try stack.use { context in
      _ = try context.execute(BatchInsertRequest(entityName: "Piece", objects: [["size": given]]))
    }
    try expect(size(), is: ["nil", "cm", "1.5"])
    for (value, expected) in [
      (["height": 2.5] as Any, ["2.5", "nil", "nil"]), (NSNull(), ["nil", "nil", "nil"]),
    ] {
      let request = BatchUpdateRequest(entityName: "Piece")
      request.propertiesToUpdate = ["size": value]
      try stack.use { context in _ = try context.execute(request) }
      try expect(size(), is: expected)
    }
    let wrong = BatchUpdateRequest(entityName: "Piece")
    wrong.propertiesToUpdate = ["size": "large"]
    try stack.use { context in
      let error = #expect(throws: CoreDataError.self) { try context.execute(wrong) }
      #expect(error?.code == .managedObjectValidation)
    }
  }

  private let NSUpdatedObjectsKey = "updated"

  @Test func subentitiesAreIncludedUnlessToldNotTo() throws {
    let stack = try CountingStack()
    try stack.use { context in
      context.make("Book", ["title": "book"])
      context.make("Essay", ["title": "essay"])
      try context.save()
      let exact = BatchUpdateRequest(entityName: "Work")
      exact.includesSubentities = false
      exact.propertiesToUpdate = ["pages": 5]
      exact.resultType = .updatedObjectsCountResultType
      try expect((context.execute(exact) as? BatchUpdateResult)?.result as? Int, is: 0)
      let all = BatchUpdateRequest(entityName: "Work")
      all.propertiesToUpdate = ["pages": 6]
      try context.execute(all)
    }
    try expect(titles(stack), is: ["book 6", "essay 6"])
  }

  @Test func registeredObjectsStayAsTheyAreUntilChangesAreMerged() throws {
    let stack = try CountingStack()
    try stack.addBooks(1)
    try stack.use { context in
      let book = try #require(try context.all("Book").first)
      #expect(book.number("pages") == 1)
      let request = BatchUpdateRequest(entityName: "Book")
      request.propertiesToUpdate = ["pages": 9]
      request.resultType = .updatedObjectIDsResultType
      let result = try context.execute(request) as? BatchUpdateResult
      #expect(book.number("pages") == 1)
      ManagedObjectContext.mergeChanges(
        fromRemoteContextSave: [NSUpdatedObjectsKey: result?.result ?? []], into: [context])
      #expect(book.number("pages") == 9)
    }
  }

  @Test func aRequestWithoutPropertiesOrWithUnknownOnesIsRefused() throws {
    let stack = try CountingStack()
    try stack.use { context in
      let request = BatchUpdateRequest(entityName: "Book")
      #expect(throws: CoreDataError.self) { try context.execute(request) }
      request.propertiesToUpdate = ["nothing": 1]
      #expect(throws: CoreDataError.self) { try context.execute(request) }
      request.propertiesToUpdate = ["tags": NSNull()]
      #expect(throws: CoreDataError.self) { try context.execute(request) }
      request.propertiesToUpdate = ["pages": "many"]
      #expect(throws: CoreDataError.self) { try context.execute(request) }
    }
  }

  @Test func everyStoreOrThoseNamedAreChanged() throws {
    let stack = try CountingStack(stores: 2)
    try stack.addBooks(1, to: stack.stores[0])
    try stack.addBooks(1, to: stack.stores[1])
    func pages(_ request: PersistentStoreRequest) throws -> [Int] {
      try stack.use { context in
        try context.execute(request)
        return try stack.stores.map { store in
          let fetch = FetchRequest<ManagedObject>(entityName: "Book")
          fetch.affectedStores = [store]
          return try context.fetch(fetch).first?.number("pages") ?? -1
        }
      }
    }
    let request = BatchUpdateRequest(entityName: "Book")
    request.propertiesToUpdate = ["pages": 5]
    try expect(pages(request), is: [5, 5])
    request.propertiesToUpdate = ["pages": 6]
    request.affectedStores = [stack.stores[1]]
    try expect(pages(request), is: [5, 6])
    let delete = BatchDeleteRequest(fetchRequest: FetchRequest<ManagedObject>(entityName: "Book"))
    delete.affectedStores = [stack.stores[0]]
    try expect(pages(delete), is: [-1, 6])
  }

  // MARK: Delete

  @Test func whatAFetchFindsIsDeletedWithItsOrderLimitAndOffset() throws {
    let stack = try CountingStack()
    try stack.addBooks(5)
    try stack.use { context in
      let fetch = FetchRequest<any FetchRequestResult>("Book", where: "pages > 1", by: "-title")
      (fetch.fetchOffset, fetch.fetchLimit) = (1, 2)
      let request = BatchDeleteRequest(fetchRequest: fetch)
      fetch.fetchLimit = 0
      #expect(request.resultType == .resultTypeStatusOnly)
      #expect(request.requestType == .batchDeleteRequestType)
      #expect(request.fetchRequest.fetchLimit == 2, "the request has a copy")
      request.resultType = .resultTypeCount
      let result = try context.execute(request) as? BatchDeleteResult
      #expect(result?.result as? Int == 2)
    }
    try expect(titles(stack), is: ["000 1", "001 2", "004 5"])
  }

  @Test func limitAndOffsetOfADeleteCountTheRowsOfAllStores() throws {
    let stack = try CountingStack(stores: 2)
    for store in stack.stores { try stack.addBooks(2, to: store) }
    try stack.use { context in
      let fetch = FetchRequest<any FetchRequestResult>("Book", by: "title")
      (fetch.fetchOffset, fetch.fetchLimit) = (1, 2)
      let request = BatchDeleteRequest(fetchRequest: fetch)
      request.resultType = .resultTypeCount
      let result = try context.execute(request) as? BatchDeleteResult
      #expect(result?.result as? Int == 2)
    }
    try expect(titles(stack), is: ["000 1", "001 2"])
  }

  @Test func objectIDsNameWhatIsDeleted() throws {
    let stack = try CountingStack()
    try stack.addBooks(3)
    try stack.use { context in
      let ids = try context.all("Book", "pages > 1").map(\.objectID)
      let request = BatchDeleteRequest(objectIDs: ids)
      request.resultType = .resultTypeObjectIDs
      let result = try context.execute(request) as? BatchDeleteResult
      #expect(Set(result?.result as? [ManagedObjectID] ?? []) == Set(ids))
      let none = BatchDeleteRequest(objectIDs: [])
      none.resultType = .resultTypeCount
      try expect((context.execute(none) as? BatchDeleteResult)?.result as? Int, is: 0)
    }
    try expect(titles(stack), is: ["000 1"])
  }

  @Test func objectIDsOfDifferentEntitiesAreAProgrammersError() async {
    await #expect(processExitsWith: .failure) {
      let stack = try CountingStack()
      try stack.use { context in
        let ids = [context.make("Book").objectID, context.make("Author").objectID]
        _ = BatchDeleteRequest(objectIDs: ids)
      }
    }
  }

  @Test func deleteRulesAreFollowedInTheDatabase() throws {
    let stack = try CountingStack()
    try stack.use { context in
      let ann = context.make("Author", ["name": "Ann"])
      let book = context.make("Book", ["title": "of Ann", "author": ann])
      context.make("Chapter", ["title": "one", "book": book])
      book.setValue(Set([context.make("Tag", ["label": "t"])]), forKey: "tags")
      let bob = context.make("Author", ["name": "Bob"])
      context.make("Passport", ["number": 1, "owner": bob])
      try context.save()
      let request = BatchDeleteRequest(
        fetchRequest: FetchRequest<ManagedObject>("Author", where: "name == 'Ann'"))
      request.resultType = .resultTypeObjectIDs
      let result = try context.execute(request) as? BatchDeleteResult
      let names = (result?.result as? [ManagedObjectID])?.compactMap(\.entity.name).sorted()
      #expect(names == ["Author", "Book", "Chapter"])
      let denied = BatchDeleteRequest(
        fetchRequest: FetchRequest<ManagedObject>("Author", where: "name == 'Bob'"))
      let error = #expect(throws: CoreDataError.self) { try context.execute(denied) }
      #expect(error?.code == .validationRelationshipDeniedDelete)
    }
    try stack.use { context in
      let counts = try ["Author", "Book", "Chapter", "Tag", "Passport"].map {
        try context.count(for: FetchRequest<ManagedObject>(entityName: $0))
      }
      #expect(counts == [1, 0, 0, 1, 1])
      let tag = try #require(try context.all("Tag").first)
      #expect(tag.many("works").isEmpty)
    }
  }

  @Test func anOwnerThatIsDeletedLeavesItsMembersWithoutOne() throws {
    let stack = try CountingStack()
    try stack.use { context in
      let passport = context.make("Passport", ["number": 1])
      let author = context.make("Author", ["passport": passport])
      try context.save()
      try context.execute(
        BatchDeleteRequest(fetchRequest: FetchRequest<ManagedObject>(entityName: "Passport")))
      context.stalenessInterval = 0
      context.refresh(author, mergeChanges: false)
      #expect(author.one("passport") == nil)
    }
  }

  @Test func onlyObjectsAndIDsCanBeDeleted() throws {
    let stack = try CountingStack()
    try stack.use { context in
      let fetch = FetchRequest<any FetchRequestResult>(entityName: "Book")
      fetch.resultType = .dictionaryResultType
      #expect(throws: CoreDataError.self) {
        try context.execute(BatchDeleteRequest(fetchRequest: fetch))
      }
    }
  }

  @Test func blocksAreRefusedForThereAreNoObjects() throws {
    let stack = try CountingStack()
    try stack.addBooks(2)
    try stack.use { context in
      let fetch = FetchRequest<ManagedObject>(entityName: "Book")
      fetch.predicate = ObjectPredicate(block: { _, _ in true })
      let update = BatchUpdateRequest(entityName: "Book")
      update.predicate = fetch.predicate
      update.propertiesToUpdate = ["pages": 5]
      let delete = BatchDeleteRequest(fetchRequest: fetch)
      for request in [update, delete] as [PersistentStoreRequest] {
        let error = #expect(throws: CoreDataError.self) { try context.execute(request) }
        #expect(error?.message.contains("block") == true)
      }
    }
    try expect(titles(stack), is: ["000 1", "001 2"])
  }

  @Test func batchesAreInTheHistoryWithTheirAuthor() throws {
    let stack = try CountingStack(history: true)
    try stack.addBooks(2)
    let context = stack.context()
    context.transactionAuthor = "batch"
    try context.performAndWait {
      let update = BatchUpdateRequest(entityName: "Book")
      update.propertiesToUpdate = ["pages": 5]
      try context.execute(update)
      try context.execute(
        BatchDeleteRequest(fetchRequest: FetchRequest<ManagedObject>(entityName: "Book")))
      let request = PersistentHistoryChangeRequest.fetchHistory(after: Date.distantPast)
      let result = try context.execute(request) as? PersistentHistoryResult
      let own = (result?.result as? [PersistentHistoryTransaction] ?? [])
        .filter { $0.author == "batch" }
      let kinds = own.map { ($0.changes ?? []).map(\.changeType) }
      #expect(kinds == [[.update, .update], [.delete, .delete]])
      #expect(own.first?.changes?.first?.updatedProperties?.map(\.name) == ["pages"])
    }
  }

  @Test func aStoreThatCannotSaysSo() throws {
    try Stack(in: .memory).use { context in
      let update = BatchUpdateRequest(entityName: "Book")
      update.propertiesToUpdate = ["pages": 5]
      let delete = BatchDeleteRequest(
        fetchRequest: FetchRequest<ManagedObject>(entityName: "Book"))
      for request in [update, delete] {
        let error = #expect(throws: CoreDataError.self) { try context.execute(request) }
        #expect(error?.code == .persistentStoreUnsupportedRequestType)
      }
    }
  }
}
