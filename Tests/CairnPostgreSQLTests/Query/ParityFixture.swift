// One set of nasty rows in a PostgreSQL store and in a store in memory, to ask both the same questions.

import CairnAtomicStores
import CairnContext
import CairnCoordinator
import CairnModel
@_spi(Stores) import CairnStore
import CairnPredicates
import Foundation
import ParitySamples
import TestServers

@testable import CairnPostgreSQL

/// Two stores with the same rows.
final class ParityFixture {
  /// The contexts of the PostgreSQL store and of the store in memory.
  let postgreSQL: ManagedObjectContext
  let memory: ManagedObjectContext

  init(seed: UInt64, count: Int = 60) throws {
    let server = try PostgreSQLServer.shared
    let schema = server.newName("parity")
    let kinds: [(any StoreKind, URL?)] = [
      (PostgreSQLStoreKind(), server.storeURL(schema)), (InMemoryStoreKind(), nil),
    ]
    let opened = try kinds.map { kind, url in
      let coordinator = PersistentStoreCoordinator(
        managedObjectModel: ParityRows.model, storeKinds: [kind])
      try coordinator.addPersistentStore(
        ofType: kind.type, configurationName: nil, at: url, options: nil)
      let context = ManagedObjectContext(.privateQueue)
      context.persistentStoreCoordinator = coordinator
      return context
    }
    (postgreSQL, memory) = (opened[0], opened[1])
    for context in [postgreSQL, memory] {
      try context.performAndWait { try ParityRows.fill(context, seed: seed, count: count) }
    }
  }

  /// What both answer; nil where one fails.
  struct Answers<Answer: Equatable> {
    var postgreSQL: Answer?
    var memory: Answer?
    var error: (any Error)?

    var agree: Bool { postgreSQL == memory }
  }

  /// Asks both stores.
  func answers<Answer: Equatable>(
    _ question: (ManagedObjectContext) throws -> Answer
  ) -> Answers<Answer> {
    var answers = Answers<Answer>()
    func ask(_ context: ManagedObjectContext) -> Answer? {
      do {
        return try context.performAndWait { try question(context) }
      } catch {
        answers.error = error
        return nil
      }
    }
    answers.postgreSQL = ask(postgreSQL)
    answers.memory = ask(memory)
    return answers
  }

  /// The numbers of the rows that a predicate finds.
  func numbers(
    _ predicate: ObjectPredicate, sortedBy descriptors: [ObjectSortDescriptor] = [],
    limit: Int = 0, offset: Int = 0
  ) -> Answers<[Int]> {
    answers { context in
      let request = FetchRequest<ManagedObject>(entityName: "Item")
      request.predicate = predicate
      request.sortDescriptors = descriptors + [ObjectSortDescriptor(key: "n", ascending: true)]
      request.fetchLimit = limit
      request.fetchOffset = offset
      return try context.fetch(request).map { $0.value(forKey: "n") as? Int ?? -1 }
    }
  }

  /// How the PostgreSQL store runs a predicate.
  func explanation(
    _ predicate: ObjectPredicate, limit: Int = 0
  ) throws -> StoreFetchExplanation {
    let request = FetchRequest<ManagedObject>(entityName: "Item")
    request.predicate = predicate
    request.fetchLimit = limit
    let explanation = try postgreSQL.performAndWait { try postgreSQL.explanation(of: request) }
    guard let first = explanation.stores.first else { throw CocoaError(.featureUnsupported) }
    return first
  }
}
