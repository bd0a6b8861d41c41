// Fetches whose predicates and sort descriptors have closures of the program.
import CairnContext
import CairnModel
import CairnPredicates
import CairnStore
import Foundation
import Testing

/// What closures are given; see the decision "One meaning of predicates".
@Suite struct BlockFetchTests {
  /// Books "a" to "e" with one page to five.
  private func stack(_ choice: StoreChoice) throws -> Stack {
    let stack = try Stack(in: choice)
    try stack.use { context in
      for (index, title) in ["a", "b", "c", "d", "e"].enumerated() {
        context.make("Book", ["title": title, "pages": index + 1])
      }
      try context.save()
    }
    return stack
  }

  /// Books with an odd number of pages.
  private var isOdd: ObjectPredicate {
    ObjectPredicate(block: { object, _ in
      ((object as? ManagedObject)?.number("pages") ?? 0) % 2 == 1
    })
  }

  private func titles(_ objects: [ManagedObject]) -> [String] {
    objects.map { $0.text("title") ?? "nil" }
  }

  @Test(arguments: StoreChoice.allCases)
  func aBlockIsGivenStoredAndUnsavedObjectsBeforeOffsetAndLimit(_ choice: StoreChoice) throws {
    try stack(choice).use { context in
      let request = FetchRequest<ManagedObject>("Book", by: "-title")
      request.predicate = CompoundPredicate(
        andPredicateWithSubpredicates: [ObjectPredicate(format: "pages < 5"), isOdd])
      try expect(titles(context.fetch(request)), is: ["c", "a"])
      (request.fetchOffset, request.fetchLimit) = (1, 2)
      try expect(titles(context.fetch(request)), is: ["a"])
      try expect(context.count(for: request), is: 1)
      context.make("Book", ["title": "b2", "pages": 3])
      try expect(titles(context.fetch(request)), is: ["b2", "a"])
      try expect(context.count(for: request), is: 2)
      let identities = FetchRequest<ManagedObjectID>("Book", by: "title")
      identities.resultType = .managedObjectIDResultType
      identities.predicate = isOdd
      try expect(
        titles(context.fetch(identities).map { context.object(with: $0) }),
        is: ["a", "b2", "c", "e"])
    }
  }

  @Test(arguments: StoreChoice.allCases)
  func aBlockInAnExpressionIsGivenObjects(_ choice: StoreChoice) throws {
    try stack(choice).use { context in
      let pages = ObjectExpression(
        block: { object, _, _ in (object as? ManagedObject)?.number("pages") ?? 0 },
        arguments: nil)
      let request = FetchRequest<ManagedObject>("Book", by: "title")
      request.predicate = ComparisonPredicate(
        leftExpression: pages, rightExpression: ObjectExpression(forConstantValue: 3),
        modifier: .direct, type: .greaterThan, options: [])
      try expect(titles(context.fetch(request)), is: ["d", "e"])
    }
  }

  @Test func aBlockIsGivenTheObjectsOfTheContextThatFetches() throws {
    let stack = try stack(.sqlite)
    let child = ManagedObjectContext(.privateQueue)
    child.parent = stack.context()
    try child.performAndWait {
      let request = FetchRequest<ManagedObject>(entityName: "Book")
      request.predicate = ObjectPredicate(block: { object, _ in
        (object as? ManagedObject)?.managedObjectContext === child
      })
      try expect(child.fetch(request).count, is: 5)
    }
  }

  @Test func aComparatorIsGivenObjectsWhereTheStoreIsNoDatabase() throws {
    try stack(.memory).use { context in
      let request = FetchRequest<ManagedObject>(entityName: "Book")
      request.sortDescriptors = [
        ObjectSortDescriptor(key: nil, ascending: true) { first, second in
          let pages = [first, second].map { ($0 as? ManagedObject)?.number("pages") ?? 0 }
          if pages[0] == pages[1] { return .orderedSame }
          return pages[0] > pages[1] ? .orderedAscending : .orderedDescending
        }
      ]
      request.fetchLimit = 2
      try expect(titles(context.fetch(request)), is: ["e", "d"])
    }
  }
}
