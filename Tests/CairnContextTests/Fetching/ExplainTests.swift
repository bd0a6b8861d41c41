// How a fetch says how it will run.
import CairnContext
import CairnCoordinator
import CairnModel
import CairnPredicates
import CairnStore
import Foundation
import Testing

/// Core Data semantics, 25: what the SQLite store translates, as `explain` shows it.
@Suite struct ExplainTests {
  private func explain(_ request: AnyFetchRequest) throws -> FetchExplanation {
    let stack = try CountingStack()
    return try stack.use { context in
      defer { #expect(stack.takeTraffic().fetches == 0, "nothing is fetched") }
      return try context.explanation(of: request)
    }
  }

  @Test func aFetchThatSQLCanSayIsCompleteInTheDatabase() throws {
    let request = FetchRequest<ManagedObject>("Book", where: "pages > 3", by: "title")
    request.fetchLimit = 5
    let explanation = try explain(request)
    #expect(explanation.isCompleteInDatabase)
    let statement = try #require(explanation.stores.first?.statements.first)
    #expect(statement.sql.contains("WHERE") && statement.sql.contains("LIMIT"))
    #expect(statement.parameters.contains(.integer(3)))
    #expect(!statement.queryPlan.isEmpty)
    #expect(explanation.description.contains(statement.sql))
  }

  @Test func theIndexOfAUniquenessConstraintShows() throws {
    let explanation = try explain(FetchRequest<ManagedObject>("Tag", where: "label == 'x'"))
    let statement = try #require(explanation.stores.first?.statements.first)
    #expect(statement.indexes.count == 1 && statement.queryPlan[0].contains(statement.indexes[0]))
  }

  @Test func whatSQLCannotSayIsNamedWithItsConsequences() throws {
    let request = FetchRequest<ManagedObject>("Book", by: "title")
    request.predicate = CompoundPredicate(andPredicateWithSubpredicates: [
      ObjectPredicate(format: "pages > 3"),
      ObjectPredicate { _, _ in true },
    ])
    request.fetchLimit = 5
    let explanation = try explain(request)
    let store = try #require(explanation.stores.first)
    #expect(!explanation.isCompleteInDatabase)
    #expect(store.predicateInMemory?.contains("BLOCK") == true)
    #expect(store.limitsInMemory)
    let statement = try #require(store.statements.first)
    #expect(statement.sql.contains("ZPAGES > ?") && !statement.sql.contains("LIMIT"))
  }

  @Test func theOtherFormsOfResultsHaveTheirOwnStatements() throws {
    let count = FetchRequest<NSNumber>(entityName: "Book")
    count.resultType = .countResultType
    try expect(explain(count).stores[0].statements[0].sql.contains("COUNT(*)"), is: true)
    let grouped = FetchRequest<NSDictionary>(entityName: "Book")
    grouped.resultType = .dictionaryResultType
    grouped.propertiesToFetch = ["title"]
    grouped.propertiesToGroupBy = ["title"]
    try expect(explain(grouped).stores[0].statements[0].sql.contains("GROUP BY"), is: true)
    let batched = FetchRequest<ManagedObject>(entityName: "Book")
    batched.fetchBatchSize = 20
    batched.relationshipKeyPathsForPrefetching = ["author"]
    let explanation = try explain(batched)
    #expect(explanation.batchSize == 20 && explanation.prefetchedKeyPaths == ["author"])
    #expect(!explanation.stores[0].statements[0].sql.contains("ZTITLE"), "only IDs are read")
  }

  @Test func unsavedObjectsAndOtherStoresShow() throws {
    let stack = try CountingStack(stores: 2)
    try stack.use { context in
      context.make("Book")
      let explanation = try context.explanation(of: FetchRequest<ManagedObject>(entityName: "Book"))
      #expect(explanation.pendingObjectCount == 1 && explanation.mergesStores)
      #expect(explanation.description.contains("1 unsaved"))
    }
  }

  @Test func aStoreWithoutDatabaseDoesEverythingInMemory() throws {
    try Stack(in: .memory).use { context in
      let explanation = try context.explanation(
        of: FetchRequest<ManagedObject>("Book", where: "pages > 3", by: "title"))
      let store = try #require(explanation.stores.first)
      #expect(store.statements.isEmpty && store.predicateInMemory == "pages > 3")
      #expect(store.sortInMemory.count == 1 && !explanation.isCompleteInDatabase)
    }
  }

  @Test func whatTheFetchWouldRefuseIsRefused() throws {
    #expect(throws: CoreDataError.self) {
      try explain(FetchRequest<ManagedObject>("Book", where: "nothing == 1"))
    }
  }
}
