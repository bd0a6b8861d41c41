// One set of nasty rows in a SQLite store and in a store in memory, to ask both the same questions.

@testable import Cairn
import CairnStore
import Foundation
import ParitySamples
import TestSupport

/// Two stores with the same rows.
final class ParityFixture {
  private let folder: TemporaryFolder
  private let containers: [PersistentContainer]
  /// The contexts of the SQLite store and of the store in memory.
  let sqlite: ManagedObjectContext
  let memory: ManagedObjectContext

  init(seed: UInt64, count: Int = 60) throws {
    folder = try TemporaryFolder()
    containers = try [StoreTypeName.sqlite, StoreTypeName.inMemory].map { [folder] type in
      let container = PersistentContainer(name: "Parity", managedObjectModel: ParityRows.model)
      let description = PersistentStoreDescription(
        url: folder.fileURL("parity.\(type)"))
      description.type = type
      container.persistentStoreDescriptions = [description]
      var problem: (any Error)?
      container.loadPersistentStores { problem = $1 }
      if let problem { throw problem }
      return container
    }
    (sqlite, memory) = (
      containers[0].newBackgroundContext(), containers[1].newBackgroundContext()
    )
    for context in [sqlite, memory] {
      try context.performAndWait { try ParityRows.fill(context, seed: seed, count: count) }
    }
  }

  // MARK: Three answers

  /// The numbers of the rows found by each way; nil where it fails.
  struct Answers {
    var sqlite: [Int]?
    var memory: [Int]?
    var objects: [Int]?
    var error: (any Error)?

    var agree: Bool { sqlite == memory && memory == objects }
  }

  /// Asks the SQLite store, the store in memory, and the objects themselves.
  func answers(
    _ predicate: ObjectPredicate, sortedBy descriptors: [ObjectSortDescriptor] = [],
    limit: Int = 0, offset: Int = 0
  ) -> Answers {
    var answers = Answers()
    func fetch(_ context: ManagedObjectContext) -> [Int]? {
      let request = FetchRequest<ManagedObject>(entityName: "Item")
      request.predicate = predicate
      request.sortDescriptors = descriptors + [ObjectSortDescriptor(key: "n", ascending: true)]
      request.fetchLimit = limit
      request.fetchOffset = offset
      do {
        return try context.performAndWait { try context.fetch(request).map(Self.number) }
      } catch {
        answers.error = error
        return nil
      }
    }
    answers.sqlite = fetch(sqlite)
    answers.memory = fetch(memory)
    do {
      answers.objects = try sqlite.performAndWait {
        let all = try sqlite.fetch(FetchRequest<ManagedObject>(entityName: "Item"))
        let found = try all.filter { try predicate.test($0) }
        let order = descriptors + [ObjectSortDescriptor(key: "n", ascending: true)]
        let rest = found.sorted(using: order).dropFirst(offset)
        return (limit > 0 ? rest.prefix(limit) : rest).map(Self.number)
      }
    } catch {
      answers.error = error
    }
    return answers
  }

  /// How the SQLite store runs a predicate.
  func explanation(
    _ predicate: ObjectPredicate, limit: Int = 0
  ) throws -> StoreFetchExplanation {
    let request = FetchRequest<ManagedObject>(entityName: "Item")
    request.predicate = predicate
    request.fetchLimit = limit
    let explanation = try sqlite.performAndWait { try sqlite.explain(request) }
    guard let first = explanation.stores.first else { throw CocoaError(.featureUnsupported) }
    return first
  }

  private static func number(_ object: ManagedObject) -> Int {
    object.value(forKey: "n") as? Int ?? -1
  }
}
