import CairnAtomicStores
import CairnContext
import CairnCoordinator
import CairnModel
import CairnSQLite
import CairnStore
import Foundation
import Synchronization
import TestSupport

@testable import CairnSync

/// Several stores in one process, with time and randomness from a seed and passes run by hand.
final class Fleet: Sendable {
  struct Stopped: Error {}

  /// One store and the contexts of its applications.
  struct Site: Sendable {
    let name: String
    let access: StoreAccess
    let coordinator: PersistentStoreCoordinator
    var store: PersistentStore { access.store }

    /// Runs an application's work in a context of its own and saves.
    @discardableResult
    func write<Value>(_ work: (ManagedObjectContext) throws -> Value) throws -> Value {
      let context = ManagedObjectContext(.privateQueue)
      context.persistentStoreCoordinator = coordinator
      context.transactionAuthor = "app"
      return try context.performAndWait {
        let value = try work(context)
        if context.hasChanges { try context.save() }
        return value
      }
    }

    func insert(
      _ entity: String, _ values: [String: Any], in context: ManagedObjectContext
    ) throws -> ManagedObject {
      guard let description = coordinator.managedObjectModel.entitiesByName[entity] else {
        throw Stopped()
      }
      let object = ManagedObject(entity: description, insertInto: context)
      context.assign(object, to: store)
      for (key, value) in values { object.setValue(value, forKey: key) }
      return object
    }

    /// Deletes an item, as a change of its own.
    func delete(_ key: String) throws {
      try write { context in try find("Item", key, in: context).map(context.delete) }
      try HistoryCapture(access: access).run()
    }

    func all(_ entity: String, in context: ManagedObjectContext) throws -> [ManagedObject] {
      let request = FetchRequest<ManagedObject>(entityName: entity)
      request.affectedStores = [store]
      let key = entity == "Tag" ? "name" : "key"
      return try context.fetch(request).sorted {
        ($0.value(forKey: key) as? String ?? "") < ($1.value(forKey: key) as? String ?? "")
      }
    }

    func find(
      _ entity: String, _ key: String, in context: ManagedObjectContext
    ) throws -> ManagedObject? {
      try all(entity, in: context).first {
        $0.value(forKey: entity == "Tag" ? "name" : "key") as? String == key
      }
    }

    /// The members of an ordered relationship by key or name, in order.
    static func list(_ name: String, of object: ManagedObject) -> [String] {
      let members = object.value(forKey: name) as? NSOrderedSet ?? []
      return members.compactMap { $0 as? ManagedObject }.map { member in
        let key = member.entity.propertiesByName["name"] == nil ? "key" : "name"
        return member.value(forKey: key) as? String ?? ""
      }
    }

    /// Everything an application can see, as text.
    func picture() throws -> [String] {
      try write { context in
        func key(_ value: Any?) -> String {
          (value as? ManagedObject)?.value(forKey: "key") as? String ?? "-"
        }
        let items = try all("Item", in: context).map { item in
          let tags = (item.value(forKey: "tags") as? Set<ManagedObject> ?? [])
            .compactMap { $0.value(forKey: "name") as? String }.sorted()
          return "item \(key(item)) \(item.value(forKey: "value") ?? "nil") "
            + "\(item.value(forKey: "other") ?? "nil") ^\(key(item.value(forKey: "parent"))) \(tags)"
        }
        let tags = try all("Tag", in: context).map {
          "tag \($0.value(forKey: "name") ?? "") \($0.value(forKey: "note") ?? "nil")"
        }
        let parts = try all("Part", in: context).map {
          let item = $0.value(forKey: "item") as? ManagedObject
          let place = item.map { Self.list("parts", of: $0) }?.firstIndex(of: key($0)) ?? -1
          return "part \(key($0)) of \(key(item)) at \(place)"
        }
        var lists: [String] = []
        for item in try all("Item", in: context) {
          let picks = Self.list("picks", of: item)
          if !picks.isEmpty { lists.append("picks of \(key(item)) \(picks)") }
          guard let label = item.value(forKey: "label") as? ManagedObject else { continue }
          lists.append("label of \(key(item)) \(label.value(forKey: "name") ?? "")")
        }
        for tag in try all("Tag", in: context) {
          let items = Self.list("pickedBy", of: tag)
          if items.isEmpty { continue }
          lists.append("picked \(tag.value(forKey: "name") ?? "") \(items)")
        }
        return items.sorted() + tags.sorted() + parts.sorted() + lists.sorted()
      }
    }
  }

  private struct State {
    var now: UInt64 = 1_000_000
    var random: SeededGenerator
    /// Percent of failpoints at which a pass is stopped.
    var crashes = 0
    var crashGenerator: SeededGenerator
    /// What an application does the next time a pass comes to a failpoint.
    var interruption:
      (
        at: SyncEnvironment.Failpoint, site: String, skipping: Int,
        work: @Sendable () throws -> Void
      )?
  }
  /// What the sites' clocks and failpoints ask; apart from the fleet, which holds the sites.
  private final class World: Sendable {
    let state: Mutex<State>
    init(_ state: State) { self.state = Mutex(state) }
    func withLock<R>(_ work: (inout sending State) throws -> sending R) rethrows -> sending R {
      try state.withLock(work)
    }
  }
  private let state: World
  let coordinator: PersistentStoreCoordinator
  let sites: Mutex<[String: Site]> = Mutex([:])
  let directory: URL?

  init(
    seed: UInt64, directory: URL? = nil, model: ManagedObjectModel = SampleModel.make()
  ) {
    state = World(
      State(random: SeededGenerator(seed: seed), crashGenerator: SeededGenerator(seed: ~seed)))
    coordinator = PersistentStoreCoordinator(
      managedObjectModel: model,
      storeKinds: [InMemoryStoreKind(), SQLiteStoreKind()])
    self.directory = directory
  }

  func advance(_ milliseconds: UInt64) { state.withLock { $0.now += milliseconds } }
  func crash(percent: Int) { state.withLock { $0.crashes = percent } }

  /// Lets an application do something when work on a store next comes to a failpoint, or after it has come
  /// there a number of times.
  func interrupt(
    _ site: Site, at failpoint: SyncEnvironment.Failpoint, skipping: Int = 0,
    with work: @escaping @Sendable () throws -> Void
  ) {
    state.withLock { $0.interruption = (failpoint, site.name, skipping, work) }
  }

  /// Whether no interruption is waiting any more.
  var wasInterrupted: Bool { state.withLock { $0.interruption == nil } }

  func environment(skew: Int64 = 0, site: String = "") -> SyncEnvironment {
    let world = state
    return SyncEnvironment(
      now: { world.withLock { UInt64(Int64($0.now) + skew) } },
      random: { world.withLock { $0.random.next() } },
      sleep: { _ in },
      reach: { failpoint in
        let work = world.withLock { state -> (@Sendable () throws -> Void)? in
          guard let interruption = state.interruption, interruption.at == failpoint,
            interruption.site == site
          else {
            return nil
          }
          state.interruption?.skipping -= 1
          if interruption.skipping > 0 { return nil }
          state.interruption = nil
          return interruption.work
        }
        try work?()
        if world.withLock({ $0.crashGenerator.chance($0.crashes) }) { throw Stopped() }
      })
  }

  /// Opens a store under a fixed UUID, so that a seed gives the same stamps again.
  func add(
    _ name: String, skew: Int64 = 0,
    configure: (inout SyncConfiguration) -> Void = { _ in }
  ) throws -> Site {
    let options = [StoreOptionKey.historyTracking: true as AnyObject]
    let store: PersistentStore
    if let directory {
      store = try coordinator.addPersistentStore(
        ofType: StoreTypeName.sqlite, configurationName: nil,
        at: directory.appendingPathComponent(name + ".sqlite"), options: options)
    } else {
      store = try coordinator.addPersistentStore(
        ofType: StoreTypeName.inMemory, configurationName: nil, at: nil, options: options)
      let number = name.utf8.reduce(UInt64(0)) { $0 << 8 | UInt64($1) }
      store.identifier = StoreID(high: number, low: 0).description
    }
    var configuration = SyncConfiguration()
    // Believe no writer: all stamps come from the simulated time.
    configuration.allowedClockSkew = 0
    configuration.batchSize = 7
    configure(&configuration)
    let site = Site(
      name: name,
      access: StoreAccess(
        store: store,
        schema: try SyncSchema(
          model: coordinator.managedObjectModel, defaultPolicy: configuration.deleteConflicts,
          policies: configuration.deleteConflictsByEntity),
        environment: environment(skew: skew, site: name), configuration: configuration),
      coordinator: coordinator)
    sites.withLock { $0[name] = site }
    return site
  }

  /// Runs one pass, or as much of it as the failpoints let through.
  ///
  /// - Returns: How many records and links it moved; nil when it was stopped.
  @discardableResult
  func pass(
    _ local: Site, _ replica: Site, direction: SyncDirection = .both, stopAfter: Int = .max,
    deletions: DeletionLimit? = nil, filter: EntityFilter? = nil
  ) throws -> Int? {
    let context = ManagedObjectContext(.privateQueue)
    context.persistentStoreCoordinator = coordinator
    context.name = replica.name
    var pass = SyncPass(
      local: local.access.cachingHead(), replica: replica.access.cachingHead(), context: context,
      filter: filter)
    pass.direction = direction
    pass.deletions = deletions.map { DeletionGuard(replica: replica.name, limit: $0) }
    var machine = PassState(direction: direction)
    var moved = 0
    var steps = 0
    do {
      while let step = machine.step {
        if steps == stopAfter { return nil }
        steps += 1
        let report = try context.performAndWait { try pass.perform(step) }
        moved += report.records + report.links
        machine.take(report.event)
      }
    } catch is Stopped {
      return nil
    }
    return moved
  }

  /// Runs passes over all links until none moves anything.
  func settle(_ links: [(Site, Site)], limit: Int = 40) throws -> Int {
    for round in 1...limit {
      var moved = 0
      for (local, replica) in links { moved += try pass(local, replica) ?? 1 }
      if moved == 0 { return round }
      advance(1)
    }
    return .max
  }
}

/// Where the files of a test's replicas are.
typealias Scratch = TemporaryFolder
