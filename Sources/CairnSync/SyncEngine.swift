import CairnContext
import CairnCoordinator
import CairnModel
import CairnStore
import Foundation
import Synchronization

/// Keeps one group of stores in step: the local store with each of its replicas.
///
/// The stores share one coordinator, but for replicas at a newer version of the model; objects of the local store are read and written through
/// ordinary contexts while the engine works. All methods may be called from anywhere. Replicas open,
/// migrate and catch up in the background; none of them can delay another or the local store.
///
/// Mutable state: the links by name and the event listeners, in `state`'s mutex.
public final class SyncEngine: Sendable {
  public let coordinator: PersistentStoreCoordinator
  public let configuration: SyncConfiguration
  let local: StoreAccess
  /// The kinds of replicas that are no stores, by type.
  private let kinds: [String: any ReplicaKind]

  private struct State {
    var links: [String: Link] = [:]
    /// The removed replicas whose store is remembered all the same, because the local store takes no writes.
    var forgotten: Set<String> = []
    var listeners: [Int: AsyncStream<SyncEvent>.Continuation] = [:]
    var nextListener = 0
    var isStopped = false
    var rest = Rest()
    /// When the stores were looked at last, by the machine's clock.
    var lastLook: UInt64 = 0
  }
  private let state = Mutex(State())
  private let watch = EngineCommitWatch()

  /// An engine without replicas.
  ///
  /// - Parameters:
  ///   - local: A store of the coordinator that keeps history.
  ///   - knownModels: All versions of the model, as its package has them. They are asked for when what a store has
  ///     written down is of another version: what was renamed more than once is followed through those between the two.
  /// - Throws: ``SyncError`` when the store cannot be synchronised or the configuration does not
  ///   fit the model.
  public convenience init(
    coordinator: PersistentStoreCoordinator, local: PersistentStore,
    configuration: SyncConfiguration = SyncConfiguration(),
    environment: SyncEnvironment = .live,
    knownModels: @escaping @Sendable () -> [ManagedObjectModel] = { [] }
  ) throws {
    try self.init(
      coordinator: coordinator, local: local, configuration: configuration,
      environment: environment, kinds: [], knownModels: knownModels)
  }

  /// - Parameter kinds: The kinds of replicas that are no stores.
  init(
    coordinator: PersistentStoreCoordinator, local: PersistentStore,
    configuration: SyncConfiguration, environment: SyncEnvironment, kinds: [any ReplicaKind],
    knownModels: @escaping @Sendable () -> [ManagedObjectModel] = { [] }
  ) throws {
    self.kinds = Dictionary(kinds.map { ($0.type, $0) }, uniquingKeysWith: { $1 })
    let model = coordinator.managedObjectModel
    self.coordinator = coordinator
    self.configuration = configuration
    self.local = StoreAccess(
      store: local,
      schema: try SyncSchema(
        model: model, defaultPolicy: configuration.deleteConflicts,
        policies: configuration.deleteConflictsByEntity,
        versions: KnownVersions { knownModels() + [model] }),
      environment: environment, configuration: configuration, arrivals: ChangeArrivals())
    _ = try self.local.history()
    _ = try self.local.ledger()
    watch.engine = self
    coordinator.addObserver(watch)
  }

  // MARK: Replicas

  /// Adds a replica and returns at once; opening, migrating and the first copy follow in the
  /// background.
  ///
  /// Adding one that is there with the same settings does nothing.
  ///
  /// - Parameter isPaused: Whether the link rests from the start, until it is resumed.
  /// - Throws: ``SyncError`` with `duplicateReplica` when the name is taken by another one, and
  ///   `invalidConfiguration` when it is to have entities that the model does not have.
  public func addReplica(_ replica: ReplicaConfiguration, isPaused: Bool = false) throws {
    let link = try Link(
      configuration: replica, local: local, coordinator: coordinator, observer: watch,
      kind: kinds[replica.type],
      isNew: state.withLock { $0.forgotten.contains(replica.name) },
      neighbours: { [weak self] in self?.neighbours(of: replica.name) ?? [] }
    ) { [weak self] event in self?.publish(event) }
    let isNew = try state.withLock { state -> Bool in
      if state.isStopped {
        throw SyncError(.cancelled, "the engine is stopping", recovery: .wait)
      }
      if let old = state.links[replica.name] {
        if old.configuration == replica { return false }
        throw SyncError(
          .duplicateReplica,
          "there is a replica \(replica.name) with other settings; remove it first",
          recovery: .person)
      }
      state.links[replica.name] = link
      return true
    }
    guard isNew else { return }
    if isPaused { link.pause() }
    link.start()
    // What those said of their files was said without knowing of this one.
    for other in try links(nil) where other.isStoppedByItsFile { other.retry() }
  }

  /// Looks whether a replica can be added, before it is.
  ///
  /// - Throws: ``SyncError`` for what a person has to mend: a folder, a pipe or a device, a file of
  ///   something else, another model's store, a file or copy of another store of the group, a damaged file. Trouble
  ///   that may mend itself, such as a lock or a folder that is not mounted yet, is none.
  public func check(_ replica: ReplicaConfiguration) async throws {
    let opening = ReplicaOpening(
      coordinator: coordinator, configuration: replica, neighbours: neighbours(of: replica.name),
      expectedIdentifier: nil, progress: { _ in })
    do {
      // As long as a person waits for an answer.
      try await opening.inspect(patience: .seconds(4))
    } catch let error as SyncError
      where error.recovery != .person && ![.storeDamaged, .notAStore].contains(error.code)
    {
      return
    }
  }

  private func neighbours(of name: String) -> [ReplicaInspection.Neighbour] {
    let links = state.withLock { $0.links.values.filter { $0.configuration.name != name } }
    let store = local.store
    return [
      .init(name: "local", url: store.url, identifier: store.identifier, isLocal: true)
    ]
      + links.map {
        .init(
          name: $0.configuration.name, url: $0.configuration.url,
          identifier: $0.store?.identifier ?? $0.knownIdentifier)
      }
  }

  /// Ends a link after the step that is running, and closes the replica's store.
  ///
  /// Its file stays. A replica that is added under the name from now on is new, whatever store it is, unless it
  /// is the one that replaces this.
  ///
  /// - Parameter next: The replica that is added in its place at once, with other settings: at the same place it
  ///   is the same store, and a file that is missing there is missed.
  public func removeReplica(
    named name: String, replacedBy next: ReplicaConfiguration? = nil
  ) async throws {
    let link = try self.link(name)
    let isSamePlace = next.map { $0.name == name && $0.url == link.configuration.url } ?? false
    state.withLock { $0.links[name] = nil }
    let wasInOrder = link.life.lastError == nil && link.life.phase == .ready
    link.change { $0.remove() }
    do {
      if !isSamePlace { try local.setReplicaIdentity(nil, named: name) }
    } catch {
      // A full disk keeps no replica from being removed: `forgetRemovedReplicas()` tries again at the next start.
      state.withLock { _ = $0.forgotten.insert(name) }
    }
    await link.stop()
    // What the other direction needed is needed no more.
    if !isSamePlace || next?.direction != link.configuration.direction {
      await release(link, isInOrder: wasInOrder)
    }
    link.close()
  }

  /// How long a step is left to itself when the engine ends: one that waits for a machine in silence is given up then.
  private static let patience = Duration.seconds(2)

  /// Ends all links after the steps that are running, and closes the replicas' stores.
  public func stop() async {
    let links = state.withLock { state -> [Link] in
      state.isStopped = true
      defer { state.links = [:] }
      return Array(state.links.values)
    }
    let hurry = Task {
      guard (try? await Task.sleep(for: Self.patience)) != nil else { return }
      for link in links { link.store?.capabilities.resources?.abandonWaits() }
    }
    let reason = SyncError(.cancelled, "the engine is stopping", recovery: .wait)
    await withTaskGroup(of: Void.self) { group in
      for link in links { group.addTask { await link.stop(reason) } }
    }
    hurry.cancel()
    for link in links { link.close() }
    let listeners = state.withLock { state in
      defer { state.listeners = [:] }
      return Array(state.listeners.values)
    }
    for listener in listeners { listener.finish() }
  }

  /// Whether it has been told to stop; its links end then as links of removed replicas do.
  package var isStopped: Bool { state.withLock { $0.isStopped } }

  func link(_ name: String) throws -> Link {
    guard let link = state.withLock({ $0.links[name] }) else {
      let known = state.withLock { $0.links.keys.sorted() }.joined(separator: ", ")
      throw SyncError(
        .noSuchReplica,
        "there is no replica \(name); there is \(known.isEmpty ? "none" : known)",
        recovery: .person, replicas: [name])
    }
    return link
  }

  /// The names of the replicas, sorted; says nothing of how they are, and reads no store.
  public var replicaNames: [String] { state.withLock { $0.links.keys.sorted() } }

  func links(_ names: [String]?) throws -> [Link] {
    guard let names else {
      return state.withLock {
        $0.links.values.sorted { $0.configuration.name < $1.configuration.name }
      }
    }
    return try names.map(link)
  }

  // MARK: Driving

  /// Makes links run a pass now, also those in trouble; nil means all.
  ///
  /// Returns at once.
  public func syncNow(names: [String]? = nil) throws {
    for link in try links(names) { link.retry() }
  }

  /// Stops links after the step that is running, until they are resumed; nil means all.
  public func pause(names: [String]? = nil) throws {
    for link in try links(names) { link.pause() }
  }

  public func resume(names: [String]? = nil) throws {
    for link in try links(names) { link.resume() }
  }

  /// Returns when everything that was committed to the local store before the call is visible in the
  /// replicas, and what the replicas had by then in the local store; nil means all of them.
  ///
  /// No replica delays the answer about another: each has the same time, and all are waited for.
  ///
  /// - Throws: ``SyncError``: `timedOut`; `recordsHeld` when something arrived that is not visible
  ///   (validation, clock skew, a record that it refers to), with how much and why; `leftOut` when records
  ///   stay where they are because the link goes in one direction only; `paused`, `noSuchReplica` and the link's own
  ///   error for a link that cannot get there by itself. With several in trouble the error is that of the
  ///   first by name, of one that has brought all it brings last, and its message tells of all.
  public func wait(for names: [String]? = nil, timeout: Duration? = nil) async throws {
    let links = try links(names)
    let failures = await withTaskGroup(of: (String, SyncError)?.self) { group in
      for link in links {
        group.addTask {
          do {
            try await link.sync(timeout: timeout)
            return nil
          } catch {
            return (link.configuration.name, SyncError(describing: error, at: nil))
          }
        }
      }
      var failures: [String: SyncError] = [:]
      for await case let (name, failure)? in group { failures[name] = failure }
      return failures.sorted { $0.key < $1.key }
    }
    let complete: Set<SyncError.Code> = [.recordsHeld, .leftOut]
    let gravest = failures.first { !complete.contains($0.value.code) }
    let first = gravest ?? failures.first { $0.value.code == .recordsHeld } ?? failures.first
    guard let first = first?.value else { return }
    let message = failures.map(\.value.message).joined(separator: "; ")
    throw SyncError(
      first.code, message, recovery: first.recovery, replicas: failures.map(\.key))
  }

  /// Tells that a store changed, as a watcher of files or a notification learned; nil for the
  /// local store, which concerns all links.
  public func poke(replica name: String? = nil) {
    let links = state.withLock { state in
      name.map { name in state.links[name].map { [$0] } ?? [] } ?? Array(state.links.values)
    }
    for link in links { link.poke() }
  }

  /// What a link has written itself, it goes on from in the same pass.
  fileprivate func noticeCommit(in store: PersistentStore) {
    let links = state.withLock { Array($0.links.values) }
    for link in links where link !== Link.current {
      if store === local.store || link.store === store { link.poke() }
    }
  }

  /// What a look at the stores gave back to the allocator.
  public enum MemoryRelease: Sendable {
    case nothing
    /// What stores had gathered that are written to without pause, and that they will need again in part.
    case amongWork
    /// What a store had that is at rest.
    case atRest
  }

  /// Looks once at all stores: whether their files are still those that their names lead to, and whether
  /// a commit went unnoticed, or the clock was set back, which a pass then reports; gives back memory that has
  /// not been needed since the last look.
  ///
  /// To be called about every ``SyncConfiguration/pollInterval``, where the stores tell of
  /// commits by themselves: links then take no look of their own. Blocks while a file hangs; a call
  /// meanwhile looks at the others.
  ///
  /// - Returns: What was given back: the process may give it back to the system.
  @discardableResult
  public func lookAtStores() -> MemoryRelease {
    let links = state.withLock { Array($0.links.values) }
    let now = local.environment.now()
    let isSetBack = state.withLock { state in
      defer { state.lastLook = now }
      return now < state.lastLook
    }
    if isSetBack { poke() }
    var findings = links.map { $0.look() }
    func release() -> MemoryRelease {
      findings.contains(.rest) ? .atRest : findings.contains(.longWork) ? .amongWork : .nothing
    }
    guard state.withLock({ $0.rest.beginLook() }) else { return release() }
    defer { state.withLock { $0.rest.endLook() } }
    local.store.capabilities.commits?.lookForCommits()
    do {
      try local.store.capabilities.place?.checkFilePlace()
    } catch {
      poke()
    }
    if local.store.severalFileNames != nil { poke() }
    let passes = links.reduce(0) { $0 + $1.life.counters.passes }
    let finding = state.withLock { $0.rest.finding(after: passes) }
    if finding != .nothingNew { local.store.capabilities.resources?.releaseMemory() }
    findings.append(finding)
    return release()
  }

  // MARK: Looking

  /// What happens, from now on.
  ///
  /// Ends with the engine; a listener that does not keep up misses the oldest events.
  public func events() -> AsyncStream<SyncEvent> {
    let (stream, continuation) = AsyncStream.makeStream(
      of: SyncEvent.self, bufferingPolicy: .bufferingNewest(1024))
    let id = state.withLock { state -> Int in
      state.nextListener += 1
      state.listeners[state.nextListener] = continuation
      return state.nextListener
    }
    continuation.onTermination = { [weak self] _ in
      self?.state.withLock { $0.listeners[id] = nil }
    }
    return stream
  }

  func publish(_ event: SyncEvent) {
    let listeners = state.withLock { Array($0.listeners.values) }
    for listener in listeners { listener.yield(event) }
  }
}

/// Tells the engine of the commits of this process and of those that the stores notice.
private final class EngineCommitWatch: CoordinatorObserver {
  private struct Reference {
    weak var engine: SyncEngine?
  }
  private let reference = Mutex(Reference())

  var engine: SyncEngine? {
    get { reference.withLock { $0.engine } }
    set { reference.withLock { $0.engine = newValue } }
  }

  func coordinator(
    _ coordinator: PersistentStoreCoordinator, didCommit notice: CommitNotice,
    by source: (any CoordinatorObserver)?
  ) {
    if notice.isSidecarOnly { return }
    engine?.noticeCommit(in: notice.store)
  }

  func coordinator(
    _ coordinator: PersistentStoreCoordinator, didRemove store: PersistentStore
  ) {}
}
