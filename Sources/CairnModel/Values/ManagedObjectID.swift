import Foundation
import Synchronization

/// The identity of one open store, shared by the IDs of all its objects.
///
/// It outlives the store, so that an ID can still be printed and compared after the store has
/// been removed. Mutable state: `identifier` (a store may be given another UUID), inside the mutex.
public final class StoreIdentity: Sendable {
  private struct State {
    var identifier: String
    var rowPrefix = "p"
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

  /// What stands before row keys in URIs: `p`, or `z` in stores whose file names objects so.
  package var rowPrefix: String {
    get { state.withLock { $0.rowPrefix } }
    set { state.withLock { $0.rowPrefix = newValue } }
  }

  /// The open store, which sets it, and clears it when it goes.
  package let store = LooseReference<AnyObject>()
}

/// The part of an object ID that tells one object of a store's entity hierarchy from another.
public enum ObjectKey: Hashable, Sendable {
  /// The primary key of a row.
  case row(Int64)
  /// Not saved yet; unique within the process.
  case temporary(UInt64)
  /// The reference object of an atomic or incremental store, as text.
  case reference(String)

  /// The last part of an object URI, percent-encoded; see ``init(uriText:)``.
  ///
  /// References that read like a row key, begin like one that was marked, or are empty, are marked
  /// with an apostrophe.
  package func uriText(rowPrefix: String) -> String {
    switch self {
    case .row(let number): return "\(rowPrefix)\(number)"
    case .temporary(let number): return "t\(number)"
    case .reference(let text):
      let isMarked = Int64(text) != nil || text.hasPrefix("'") || text.isEmpty
      let marked = isMarked ? "'" + text : text
      return "p" + (marked.addingPercentEncoding(withAllowedCharacters: Self.uriCharacters) ?? "")
    }
  }

  /// The permanent key that the last part of an object URI stands for, still percent-encoded; nil
  /// when it is none.
  package init?(uriText: String) {
    guard let first = uriText.first, first == "p" || first == "z",
      let text = String(uriText.dropFirst()).removingPercentEncoding, !text.isEmpty
    else { return nil }
    if let number = Int64(text) {
      self = .row(number)
    } else if first == "z" {
      return nil
    } else if text.hasPrefix("'") {
      self = .reference(String(text.dropFirst()))
    } else {
      self = .reference(text)
    }
  }

  private static let uriCharacters = CharacterSet.urlPathAllowed.subtracting(
    CharacterSet(charactersIn: "/;%"))
}

/// The identity of a managed object, valid in every context of a coordinator.
///
/// Two IDs are equal when they name the same object of the same store. A temporary ID is replaced
/// by a permanent one when the object is saved. IDs are immutable and may be used on any thread.
/// Source: Core Data's `NSManagedObjectID`.
// Unchecked: both stored properties are of Sendable types, and neither is written after `init` except
// by ``becomePermanent(in:key:)``, while the caller has the one reference there is; only NSObject, the
// superclass, is not declared Sendable.
public final class ManagedObjectID: NSObject, NSCopying, @unchecked Sendable {
  // `@exclusivity(unchecked)`: written in one assignment each, by one caller alone; see above.
  @exclusivity(unchecked)
  @usableFromInline final var home: ObjectHome
  /// The key, which the home tells how to read.
  @exclusivity(unchecked)
  @usableFromInline final var number: UInt64

  /// The ID of the row with a key.
  @inlinable package init(home: ObjectHome, rowKey: Int64) {
    self.home = home
    number = UInt64(bitPattern: rowKey)
  }

  /// An ID of no object, of an entity without a name; equal to itself only.
  public override convenience init() {
    let number = Self.nextTemporaryNumber.wrappingAdd(1, ordering: .relaxed).newValue
    self.init(
      home: ObjectHome(newObjectsOf: EntityDescription()), rowKey: Int64(bitPattern: number))
  }

  package init(entity: EntityDescription, storeIdentity: StoreIdentity?, key: ObjectKey) {
    home = ObjectHome(of: key, entity, storeIdentity)
    switch key {
    case .row(let number): self.number = UInt64(bitPattern: number)
    case .temporary(let number): self.number = number
    case .reference: number = 0
    }
  }

  // Inlinable getters: what another module inlines of a property by itself is checked for exclusive
  // access in spite of the attribute, and those checks were a twelfth of a fetch.

  /// The object's exact entity.
  @inlinable public final var entity: EntityDescription { home.entity }
  /// Which store the object lives in; nil while it is not assigned to one.
  @inlinable package final var storeIdentity: StoreIdentity? { home.store }
  @inlinable package final var key: ObjectKey {
    switch home.kind {
    case .rows: return .row(Int64(bitPattern: number))
    case .temporary: return .temporary(number)
    case .reference(let text): return .reference(text)
    }
  }
  /// The primary key, nil for temporary IDs and for stores that use reference objects.
  @inlinable package final var rowKey: Int64? {
    if case .rows = home.kind { return Int64(bitPattern: number) }
    return nil
  }
  /// The same for an ID that has a certain home of rows, nil for others.
  @inlinable package final func rowKey(in home: ObjectHome) -> Int64? {
    self.home === home ? Int64(bitPattern: number) : nil
  }
  /// The home of the ID of a row.
  package final var rowHome: ObjectHome? {
    if case .rows = home.kind { return home }
    return nil
  }
  /// Equal for IDs that share entity and store because one read has found them.
  @inlinable package final var homeIdentity: ObjectIdentifier { ObjectIdentifier(home) }
  /// Whether it is the ID of the row with a key, spelled as IDs of that home are.
  @inlinable package final func isRow(_ key: Int64, of home: ObjectHome) -> Bool {
    guard case .rows = self.home.kind, number == UInt64(bitPattern: key) else { return false }
    return self.home === home
      || (self.home.entity === home.entity && self.home.store === home.store)
  }
  /// Whether it is an ID of an object of that store.
  @inlinable package final func isIn(_ store: StoreIdentity?) -> Bool { home.store === store }

  /// A new temporary ID, unique in this process.
  package static func temporary(entity: EntityDescription) -> ManagedObjectID {
    temporary(home: ObjectHome(newObjectsOf: entity))
  }
  /// The same with a home for new objects.
  package static func temporary(home: ObjectHome) -> ManagedObjectID {
    let number = nextTemporaryNumber.wrappingAdd(1, ordering: .relaxed).newValue
    return ManagedObjectID(home: home, rowKey: Int64(bitPattern: number))
  }
  private static let nextTemporaryNumber = Atomic<UInt64>(0)
  /// Constant for the process; part of the URIs of temporary IDs.
  private static let processUUID = UUID().uuidString

  /// Makes a temporary ID permanent, where a new ID would take its place and this one would go.
  ///
  /// Only the object that has the ID may know it: any other holder of one sees it unchanged for
  /// ever.
  package func becomePermanent(in home: ObjectHome, key: Int64) {
    self.home = home
    number = UInt64(bitPattern: key)
  }

  /// The ID itself, which never changes.
  public func copy(with zone: NSZone? = nil) -> Any { self }

  /// Whether the object has not been saved yet.
  public var isTemporaryID: Bool {
    if case .temporary = home.kind { return true }
    return false
  }

  /// A URI that names the object across launches: `x-coredata://STORE-UUID/Entity/p42`.
  ///
  /// The URI of a temporary ID has no store and is meaningful only in this process.
  public func uriRepresentation() -> URL {
    var components = URLComponents()
    components.scheme = "x-coredata"
    let name = entity.name ?? ""
    switch key {
    case .temporary(let number):
      components.host = ""
      components.path = "/\(name)/t\(Self.processUUID)\(number)"
    case .row, .reference:
      components.host = storeIdentity?.identifier ?? ""
      let path = "/\(name)".addingPercentEncoding(withAllowedCharacters: .urlPathAllowed) ?? ""
      components.percentEncodedPath =
        path + "/" + key.uriText(rowPrefix: storeIdentity?.rowPrefix ?? "p")
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
    guard let other = ObjectIdentity.instance(of: object, as: self) ?? object as? ManagedObjectID
    else { return false }
    if self === other { return true }
    return key == other.key
      && (storeIdentity === other.storeIdentity
        || storeIdentity?.identifier == other.storeIdentity?.identifier)
      && entity.rootEntity === other.entity.rootEntity
  }

  public override var description: String { "<\(uriRepresentation().absoluteString)>" }
}
