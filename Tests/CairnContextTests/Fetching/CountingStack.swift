// A SQLite store that counts what it is asked, to see when a fetch reads and how much.
@_spi(Runtime) import CairnContext
import CairnCoordinator
import CairnModel
import CairnPredicates
import CairnSQLite
import TestSupport
@_spi(Stores) import CairnStore
import Foundation
import Synchronization

/// What a store was asked since the counters were last reset.
struct StoreTraffic: Equatable {
  var fetches = 0
  /// Calls for rows by their IDs, and the number of rows in all of them.
  var rowReads = 0
  var rows = 0
  var memberReads = 0
}

final class CountingStore: SQLiteStore, @unchecked Sendable {
  private let traffic = Mutex(StoreTraffic())

  override func fetch(_ request: StoreFetchRequest) throws -> StoreFetchResult {
    traffic.withLock { $0.fetches += 1 }
    return try super.fetch(request)
  }

  override func snapshots(for objectIDs: [ManagedObjectID]) throws -> [RowSnapshot?] {
    traffic.withLock {
      $0.rowReads += 1
      $0.rows += objectIDs.count
    }
    return try super.snapshots(for: objectIDs)
  }

  override func members(
    of relationship: RelationshipDescription, owners: [ManagedObjectID]
  ) throws -> [[ManagedObjectID]] {
    traffic.withLock { $0.memberReads += 1 }
    return try super.members(of: relationship, owners: owners)
  }

  /// What was asked since the last call.
  func takeTraffic() -> StoreTraffic {
    traffic.withLock { traffic in
      defer { traffic = StoreTraffic() }
      return traffic
    }
  }
}

/// A coordinator of the library model over one or more counting stores; their files go with it.
final class CountingStack {
  let coordinator: PersistentStoreCoordinator
  private(set) var stores: [CountingStore] = []
  private let folder: TemporaryFolder

  init(
    stores count: Int = 1, history: Bool = false,
    change: (ManagedObjectModel) -> Void = { _ in }
  ) throws {
    Author.registerClass(forEntityName: "Author")
    let model = Library.model()
    change(model)
    coordinator = PersistentStoreCoordinator(
      managedObjectModel: model,
      storeKinds: [DerivedStoreKind(of: SQLiteStoreKind(), storeClass: CountingStore.self)])
    folder = try TemporaryFolder()
    for number in 0..<count {
      let store = try coordinator.addPersistentStore(
        ofType: StoreTypeName.sqlite, configurationName: nil,
        at: folder.fileURL("Library\(number).sqlite"),
        options: history ? [StoreOptionKey.historyTracking: true] : nil)
      if let store = store as? CountingStore { stores.append(store) }
    }
  }

  deinit {
    for store in stores { try? coordinator.remove(store) }
  }

  /// What all stores were asked since the last call.
  func takeTraffic() -> StoreTraffic {
    stores.map { $0.takeTraffic() }.reduce(into: StoreTraffic()) { sum, part in
      sum.fetches += part.fetches
      sum.rowReads += part.rowReads
      sum.rows += part.rows
      sum.memberReads += part.memberReads
    }
  }

  func context(policy: MergePolicy = .error) -> ManagedObjectContext {
    let context = ManagedObjectContext(.privateQueue)
    context.persistentStoreCoordinator = coordinator
    context.mergePolicy = policy
    return context
  }

  /// Runs the body on the queue of a new context.
  func use<Result>(
    policy: MergePolicy = .error, _ body: (ManagedObjectContext) throws -> Result
  ) throws -> Result {
    let context = context(policy: policy)
    return try context.performAndWait { try body(context) }
  }

  /// Saves books titled by their number, three digits long, with as many pages.
  func addBooks(_ count: Int, to store: PersistentStore? = nil) throws {
    try use { context in
      for number in 0..<count {
        let book = context.make("Book", ["title": Self.title(number), "pages": number + 1])
        if let store { context.assign(book, to: store) }
      }
      try context.save()
    }
    // The row cache keeps rows that were just saved; these tests want them read.
    _ = takeTraffic()
  }

  static func title(_ number: Int) -> String { String(format: "%03d", number) }
}

extension FetchRequest {
  /// A request sorted by keys; a minus sign before a key sorts backwards.
  convenience init(_ entity: String, where format: String? = nil, by keys: String...) {
    self.init(entityName: entity)
    if let format { predicate = ObjectPredicate(format: format) }
    if keys.isEmpty { return }
    sortDescriptors = keys.map { key in
      key.hasPrefix("-")
        ? ObjectSortDescriptor(key: String(key.dropFirst()), ascending: false)
        : ObjectSortDescriptor(key: key, ascending: true)
    }
  }
}
