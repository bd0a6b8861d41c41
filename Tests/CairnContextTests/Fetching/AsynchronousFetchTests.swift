// Chapter 16.7: fetches that do not keep the context's queue waiting.
import CairnContext
import CairnModel
import CairnStore
import Foundation
import Testing

/// Core Data semantics, 16.7: asynchronous fetch.
@Suite struct AsynchronousFetchTests {
  /// What a completion block saw.
  private struct Outcome: Sendable {
    var titles: [String]?
    var errorCode: Int?
    var wasOnQueue = false
    var returnedFirst = false
  }

  private func run(
    _ request: FetchRequest<ManagedObject>, in context: ManagedObjectContext,
    afterwards: @escaping @Sendable (PersistentStoreAsynchronousResult) -> Void = { _ in }
  ) async throws -> Outcome {
    try await withCheckedThrowingContinuation { continuation in
      context.perform {
        var hasReturned = false
        let asynchronous = AsynchronousFetchRequest(fetchRequest: request) { result in
          var outcome = Outcome()
          outcome.titles = result.finalResult?.map { $0.text("title") ?? "nil" }
          outcome.errorCode = (result.operationError as? CoreDataError)?.code.rawValue
          outcome.wasOnQueue = (try? request.execute()) != nil
          outcome.returnedFirst = hasReturned
          continuation.resume(returning: outcome)
        }
        do {
          let result = try context.execute(asynchronous)
          hasReturned = true
          guard let result = result as? AsynchronousFetchResult<ManagedObject> else {
            throw CoreDataError(.coreData, "not an asynchronous result: \(result)")
          }
          #expect(result.finalResult == nil && result.fetchRequest === asynchronous)
          #expect(result.managedObjectContext === context)
          afterwards(result)
        } catch {
          continuation.resume(throwing: error)
        }
      }
    }
  }

  @Test(arguments: StoreChoice.allCases)
  func theResultsComeLaterOnTheContextsQueue(_ choice: StoreChoice) async throws {
    let stack = try Stack(in: choice)
    try stack.use { context in
      for title in ["b", "a", "c"] { context.make("Book", ["title": title]) }
      try context.save()
    }
    let request = FetchRequest<ManagedObject>("Book", by: "title")
    request.fetchLimit = 2
    let outcome = try await run(request, in: stack.context())
    #expect(outcome.titles == ["a", "b"] && outcome.errorCode == nil)
    #expect(outcome.wasOnQueue && outcome.returnedFirst)
  }

  @Test func unsavedChangesAreAsTheyAreWhenTheResultsCome() async throws {
    let stack = try Stack(in: .sqlite)
    let context = stack.context()
    try await context.perform {
      for title in ["a", "c"] { context.make("Book", ["title": title]) }
      try context.save()
      context.make("Book", ["title": "b"])
    }
    let outcome = try await run(FetchRequest("Book", by: "title"), in: context)
    #expect(outcome.titles == ["a", "b", "c"])
  }

  @Test func aCancelledFetchEndsWithoutResults() async throws {
    let stack = try Stack(in: .sqlite)
    try stack.use { context in
      for number in 0..<50 { context.make("Book", ["title": "\(number)"]) }
      try context.save()
    }
    let outcome = try await run(FetchRequest(entityName: "Book"), in: stack.context()) {
      $0.cancel()
    }
    #expect(outcome.titles == nil)
    #expect(outcome.errorCode == CoreDataError.Code.userCancelled.rawValue)
  }

  @Test func aFetchThatFailsSaysSo() async throws {
    let stack = try Stack(in: .sqlite)
    let outcome = try await run(
      FetchRequest("Book", where: "title MATCHES '['"), in: stack.context())
    #expect(outcome.titles == nil && outcome.errorCode != nil)
  }

  @Test func aRequestThatIsWrongIsRefusedAtOnce() async throws {
    let stack = try Stack()
    await #expect(throws: CoreDataError.self) {
      try await run(FetchRequest(entityName: "Nothing"), in: stack.context())
    }
  }

  @Test func withACurrentProgressTheFetchIsPartOfIt() async throws {
    let stack = try Stack(in: .sqlite)
    try stack.use { context in
      for number in 0..<3 { context.make("Book", ["title": "\(number)"]) }
      try context.save()
    }
    let context = stack.context()
    let fraction: Double = try await withCheckedThrowingContinuation { continuation in
      context.perform {
        let parent = Progress(totalUnitCount: 1)
        let request = AsynchronousFetchRequest(
          fetchRequest: FetchRequest<ManagedObject>(entityName: "Book")
        ) { result in
          #expect(result.progress?.completedUnitCount == 3)
          #expect(result.progress?.totalUnitCount == 3)
          continuation.resume(returning: parent.fractionCompleted)
        }
        #expect(request.estimatedResultCount == 0)
        request.estimatedResultCount = 10
        parent.becomeCurrent(withPendingUnitCount: 1)
        defer { parent.resignCurrent() }
        do {
          let result = try context.execute(request) as? PersistentStoreAsynchronousResult
          #expect(result?.progress?.totalUnitCount == 10)
        } catch {
          continuation.resume(throwing: error)
        }
      }
    }
    #expect(fraction == 1)
  }

  @Test func cancellingTheProgressCancelsTheFetch() async throws {
    let stack = try Stack(in: .sqlite)
    try stack.use { context in
      for number in 0..<50 { context.make("Book", ["title": "\(number)"]) }
      try context.save()
    }
    let context = stack.context()
    let found: Int? = try await withCheckedThrowingContinuation { continuation in
      context.perform {
        let parent = Progress(totalUnitCount: 1)
        let request = AsynchronousFetchRequest(
          fetchRequest: FetchRequest<ManagedObject>(entityName: "Book")
        ) { result in
          continuation.resume(returning: result.finalResult?.count)
        }
        parent.becomeCurrent(withPendingUnitCount: 1)
        do { _ = try context.execute(request) } catch { continuation.resume(throwing: error) }
        parent.resignCurrent()
        parent.cancel()
      }
    }
    #expect(found == nil)
  }

  @Test func dictionariesCountsAndIDsComeToo() async throws {
    let stack = try Stack(in: .sqlite)
    let context = stack.context()
    try await context.perform {
      for title in ["a", "b"] { context.make("Book", ["title": title]) }
      try context.save()
      context.make("Book", ["title": "c"])
    }
    func results(_ type: FetchRequestResultType) async throws -> [String] {
      try await withCheckedThrowingContinuation { continuation in
        context.perform {
          let request = FetchRequest<any FetchRequestResult>("Book", by: "title")
          request.resultType = type
          let asynchronous = AsynchronousFetchRequest(fetchRequest: request) { result in
            let texts = (result.finalResult ?? []).map { value in
              if let row = value as? NSDictionary { return "\(row["title"] ?? "nil")" }
              if let id = value as? ManagedObjectID { return "\(id.isTemporaryID)" }
              return "\(value)"
            }
            continuation.resume(returning: texts)
          }
          do {
            _ = try context.execute(asynchronous)
          } catch {
            continuation.resume(throwing: error)
          }
        }
      }
    }
    #expect(try await results(.dictionaryResultType) == ["a", "b"])
    #expect(try await results(.countResultType) == ["3"])
    #expect(try await results(.managedObjectIDResultType) == ["false", "false", "true"])
  }
}
