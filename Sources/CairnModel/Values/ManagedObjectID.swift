import Foundation
import Synchronization

/// The identity of one open store, shared by the IDs of all its objects.
///
/// It outlives the store, so that an ID can still be printed and compared after the store has
/// been removed. Mutable state: `identifier` (a store may be given another UUID) and the weak
/// back reference, both inside one mutex.
public final class StoreIdentity: Sendable {
  private struct State {
    var identifier: String
    // Unsafe to touch outside the mutex; a weak reference is not Sendable by itself.
    weak var store: (AnyObject & Sendable)?
  }
  private let state: Mutex<State>
  /// Keeps the model alive while there are IDs of its entities: entities refer to their model and
  /// superentity without holding them.
  private let model: ManagedObjectModel?

  public init(identifier: String, model: ManagedObjectModel? = nil) {
    self.model = model
    state = Mutex(State(identifier: identifier))
  }

  /// The store's UUID string, the authority of object URIs.
  public var identifier: String {
    get { state.withLock { $0.identifier } }
    set { state.withLock { $0.identifier = newValue } }
  }

  /// The open store, nil once it has been removed and released.
  package var store: (AnyObject & Sendable)? {
    get { state.withLock { $0.store } }
    set { state.withLock { $0.store = newValue } }
  }
}

/// The part of an object ID that tells one object of a store's entity hierarchy from another.
public enum ObjectKey: Hashable, Sendable {
  /// The primary key of a row.
  case row(Int64)
  /// Not saved yet; unique within the process.
  case temporary(UInt64)
  /// The reference object of an atomic or incremental store, as text.
  case reference(String)
}

/// The identity of a managed object, valid in every context of a coordinator.
///
/// Two IDs are equal when they name the same object of the same store. A temporary ID is replaced
/// by a permanent one when the object is saved. IDs are immutable and may be used on any thread.
/// Source: Core Data's `NSManagedObjectID`.
// Unchecked: every stored property is an immutable `let` of Sendable type; only NSObject, the
// superclass, is not declared Sendable.
public final class ManagedObjectID: NSObject, @unchecked Sendable {
  /// The object's exact entity.
  public let entity: EntityDescription
  /// Which store the object lives in; nil while it is not assigned to one.
  package let storeIdentity: StoreIdentity?
  package let key: ObjectKey

  package init(entity: EntityDescription, storeIdentity: StoreIdentity?, key: ObjectKey) {
    self.entity = entity
    self.storeIdentity = storeIdentity
    self.key = key
  }

  /// A new temporary ID, unique in this process.
  package static func temporary(
    entity: EntityDescription, storeIdentity: StoreIdentity? = nil
  ) -> ManagedObjectID {
    let number = nextTemporaryNumber.wrappingAdd(1, ordering: .relaxed).newValue
    return ManagedObjectID(
      entity: entity, storeIdentity: storeIdentity, key: .temporary(number))
  }
  private static let nextTemporaryNumber = Atomic<UInt64>(0)
  /// Constant for the process; part of the URIs of temporary IDs.
  private static let processUUID = UUID().uuidString

  /// Whether the object has not been saved yet.
  public var isTemporaryID: Bool {
    if case .temporary = key { return true }
    return false
  }

  /// The primary key, nil for temporary IDs and for stores that use reference objects.
  package var rowKey: Int64? {
    if case .row(let number) = key { return number }
    return nil
  }

  /// A URI that names the object across launches: `x-coredata://STORE-UUID/Entity/p42`.
  ///
  /// The URI of a temporary ID has no store and is meaningful only in this process.
  public func uriRepresentation() -> URL {
    var components = URLComponents()
    components.scheme = "x-coredata"
    let name = entity.name ?? ""
    switch key {
    case .row(let number):
      components.host = storeIdentity?.identifier ?? ""
      components.path = "/\(name)/p\(number)"
    case .temporary(let number):
      components.host = ""
      components.path = "/\(name)/t\(Self.processUUID)\(number)"
    case .reference(let text):
      components.host = storeIdentity?.identifier ?? ""
      components.path = "/\(name)/p\(text)"
    }
    return components.url ?? URL(fileURLWithPath: "/")
  }

  public override var hash: Int {
    // Sets and dictionaries hash this once more.
    switch key {
    case .row(let number): return Int(truncatingIfNeeded: number)
    case .temporary(let number): return Int(truncatingIfNeeded: ~number)
    case .reference(let text): return text.hashValue
    }
  }

  public override func isEqual(_ object: Any?) -> Bool {
    guard let other = object as? ManagedObjectID else { return false }
    if self === other { return true }
    return key == other.key
      && (storeIdentity === other.storeIdentity
        || storeIdentity?.identifier == other.storeIdentity?.identifier)
      && entity.rootEntity === other.entity.rootEntity
  }

  public override var description: String { "<\(uriRepresentation().absoluteString)>" }
}
