import CairnContext
import CairnCoordinator
import CairnModel
import CairnStore
import Foundation
import Synchronization

/// Model, coordinator, stores and contexts, put together. Source: `NSPersistentContainer`.
///
/// ```swift
/// let container = PersistentContainer(name: "Library", managedObjectModel: model)
/// container.loadPersistentStores { description, error in
///   if let error { print("\(description): \(error)") }
/// }
/// let books = try container.viewContext.fetch(FetchRequest<ManagedObject>(entityName: "Book"))
/// ```
///
/// May be used from any thread; contexts and their objects belong to their queues.
// Unchecked: mutable state is `state`, inside a mutex; the rest is immutable.
open class PersistentContainer: NSObject, @unchecked Sendable {
  // Unchecked: descriptions are filled by the thread that sets the container up and only read
  // while their stores are loaded.
  private struct State: @unchecked Sendable {
    var descriptions: [PersistentStoreDescription]
    /// Descriptions whose stores were asked for.
    var loaded: Set<ObjectIdentifier> = []
    /// Those of them whose stores have been added.
    var added: Set<ObjectIdentifier> = []
    /// Why there is no model; told when stores are loaded.
    var modelError: (any Error)?
  }
  private let state: Mutex<State>

  public let name: String
  public let managedObjectModel: ManagedObjectModel
  public let persistentStoreCoordinator: PersistentStoreCoordinator
  /// The context of the main queue.
  ///
  /// It neither merges changes by itself nor resolves conflicts, unless told to.
  public let viewContext: ManagedObjectContext

  /// A container whose model has its name, in the resources of the program or next to its
  /// executable.
  ///
  /// Accepted are compiled models (`.momd`, `.mom`) and Xcode's sources (`.xcdatamodeld`). Without
  /// a usable one the model is empty, and loading the stores reports why.
  public convenience init(name: String) {
    self.init(name: name, lookup: ModelLookup(name: name))
  }

  convenience init(name: String, lookup: ModelLookup) {
    do {
      self.init(name: name, managedObjectModel: try lookup.model())
    } catch {
      self.init(name: name, managedObjectModel: ManagedObjectModel())
      state.withLock { $0.modelError = error }
    }
  }

  /// A container with a model, and one description: a SQLite store called `name.sqlite` in the
  /// default folder.
  public init(name: String, managedObjectModel model: ManagedObjectModel) {
    self.name = name
    managedObjectModel = model
    persistentStoreCoordinator = PersistentStoreCoordinator(managedObjectModel: model)
    viewContext = ManagedObjectContext(.mainQueue)
    let folder = Self.defaultDirectoryURL()
    state = Mutex(
      State(descriptions: [
        PersistentStoreDescription(url: folder.appendingPathComponent("\(name).sqlite"))
      ]))
    super.init()
    viewContext.persistentStoreCoordinator = persistentStoreCoordinator
  }

  /// Where stores are kept unless their description says otherwise: a folder with the program's
  /// name in `$XDG_DATA_HOME`, or in `~/.local/share`.
  open class func defaultDirectoryURL() -> URL {
    let program = ProcessInfo.processInfo.processName
    let base: URL
    if let home = ProcessInfo.processInfo.environment["XDG_DATA_HOME"], home.hasPrefix("/") {
      base = URL(fileURLWithPath: home, isDirectory: true)
    } else {
      base = FileManager.default.homeDirectoryForCurrentUser
        .appendingPathComponent(".local/share", isDirectory: true)
    }
    return base.appendingPathComponent(program, isDirectory: true)
  }

  /// The stores to load.
  ///
  /// Replace or extend before loading.
  open var persistentStoreDescriptions: [PersistentStoreDescription] {
    get { state.withLock { $0 }.descriptions }
    set {
      let new = State(descriptions: newValue)
      state.withLock { $0.descriptions = new.descriptions }
    }
  }

  /// Adds the store of every description that has not been loaded yet, or whose store was removed or
  /// destroyed since.
  ///
  /// The handler is called once for each, with the error of a store that could not be added; that
  /// does not stop the others. For synchronous descriptions it is called before the method
  /// returns, for asynchronous ones on a background queue.
  open func loadPersistentStores(
    completionHandler block: @escaping (PersistentStoreDescription, (any Error)?) -> Void
  ) {
    forgetRemovedStores()
    let snapshot = state.withLock { state in
      let copy = state
      state.loaded.formUnion(state.descriptions.map(ObjectIdentifier.init))
      return copy
    }
    for description in snapshot.descriptions
    where !snapshot.loaded.contains(ObjectIdentifier(description)) {
      if let modelError = snapshot.modelError {
        forget(ObjectIdentifier(description))
        block(description, modelError.asCocoaError)
        continue
      }
      makeDefaultFolder(for: description)
      persistentStoreCoordinator.addPersistentStore(with: description) { [weak self] added, error in
        self?.note(added, error)
        block(added, error)
      }
    }
  }

  private func note(_ description: PersistentStoreDescription, _ error: (any Error)?) {
    // A store that could not be added may be tried again.
    if error != nil { return forget(ObjectIdentifier(description)) }
    _ = state.withLock { $0.added.insert(ObjectIdentifier(description)) }
  }

  private func forget(_ description: ObjectIdentifier) {
    _ = state.withLock { $0.loaded.remove(description) }
  }

  /// Stores that were removed from the coordinator are loaded again.
  private func forgetRemovedStores() {
    let coordinator = persistentStoreCoordinator
    let snapshot = state.withLock { $0 }
    for description in snapshot.descriptions
    where snapshot.added.contains(ObjectIdentifier(description)) {
      let isThere: Bool
      if let url = description.url, description.type != StoreTypeName.inMemory {
        isThere = coordinator.persistentStore(for: url) != nil
      } else {
        // Stores in memory have no place by which they could be known.
        isThere = !coordinator.persistentStores.isEmpty
      }
      if isThere { continue }
      state.withLock { state in
        state.added.remove(ObjectIdentifier(description))
        state.loaded.remove(ObjectIdentifier(description))
      }
    }
  }

  /// Creates the default folder when the store is to be in it.
  ///
  /// Other folders are the program's business: a missing one is an error.
  private func makeDefaultFolder(for description: PersistentStoreDescription) {
    guard let url = description.url, url.isFileURL else { return }
    let folder = Self.defaultDirectoryURL().standardizedFileURL
    guard url.deletingLastPathComponent().standardizedFileURL.path == folder.path else { return }
    // A failure shows when the store is opened, with the file's path.
    try? FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true)
  }

  // MARK: Contexts

  /// A new context with a queue of its own.
  open func newBackgroundContext() -> ManagedObjectContext {
    let context = ManagedObjectContext(.privateQueue)
    context.persistentStoreCoordinator = persistentStoreCoordinator
    return context
  }

  /// Runs the block later on the queue of a new context.
  open func performBackgroundTask(_ block: @escaping (ManagedObjectContext) -> Void) {
    let context = newBackgroundContext()
    context.perform { block(context) }
  }

  /// Runs the block on the queue of a new context and returns what it returns.
  nonisolated(nonsending) public func performBackgroundTask<T>(
    _ block: @escaping (ManagedObjectContext) throws -> T
  ) async rethrows -> T {
    let context = newBackgroundContext()
    return try await context.perform { try block(context) }
  }
}
