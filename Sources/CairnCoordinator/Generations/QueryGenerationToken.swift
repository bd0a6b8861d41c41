import CairnModel
import CairnStore
import Foundation
import Synchronization

/// One state of all stores of a coordinator, to which contexts can be pinned, or the one that is
/// current when it is first read.
///
/// A state lasts as long as a token of it, or a context pinned to it, exists; a SQLite store may
/// give it up earlier, see ``StoreOptionKey/queryGenerationMaximumAge``. Archived tokens keep
/// nothing: one that is unarchived is worth something only in the same process, while the original
/// is still there. Immutable. Source: `NSQueryGenerationToken`.
// Unchecked: every stored property is an immutable `let` of Sendable type.
public final class QueryGenerationToken: NSObject, NSCopying, NSSecureCoding, @unchecked Sendable {
  private enum Kind {
    case current
    case pinned(UUID, [ObjectIdentifier: any StoreGeneration])
    /// From an archive, when the state is gone.
    case gone(UUID)
  }
  private let kind: Kind
  /// Keeps the identities alive that stand as keys in `kind`.
  private let stores: [StoreIdentity]

  private init(_ kind: Kind, stores: [StoreIdentity] = []) {
    self.kind = kind
    self.stores = stores
    super.init()
  }

  /// Stands for the state at the first read after pinning.
  public class var current: QueryGenerationToken { theCurrent }
  private static let theCurrent = QueryGenerationToken(.current)

  /// The state of the given stores now; those that cannot keep one are left out.
  static func pinning(_ stores: [PersistentStore]) throws -> QueryGenerationToken {
    var generations: [ObjectIdentifier: any StoreGeneration] = [:]
    var references: [(identity: StoreIdentity, reference: Known.Reference)] = []
    for store in stores {
      guard let keeper = store.capabilities.generations,
        let generation = try keeper.currentGeneration()
      else { continue }
      generations[ObjectIdentifier(store.identity)] = generation
      references.append((store.identity, Known.Reference(generation)))
    }
    let id = UUID()
    let token = QueryGenerationToken(.pinned(id, generations), stores: stores.map(\.identity))
    let entry = Known(generations: references, stores: token.stores)
    known.withLock { known in
      for gone in known.filter({ $0.value.isGone }).keys { known[gone] = nil }
      known[id] = entry
    }
    return token
  }

  // MARK: Reading

  package var isCurrent: Bool {
    if case .current = kind { return true }
    return false
  }

  /// The state of one store; nil when the token has none for it, so that its rows of now are read.
  func generation(of identity: StoreIdentity) -> (any StoreGeneration)? {
    guard case .pinned(_, let generations) = kind else { return nil }
    return generations[ObjectIdentifier(identity)]
  }

  /// Whether a context of the given stores can be pinned to it.
  ///
  /// - Throws: 134060 when it is of other stores, 134070 when its state is gone.
  package func checkUse(with stores: [PersistentStore]) throws {
    let gone = CoreDataError(
      .persistentStoreOperation,
      "The query generation is no longer there. Use QueryGenerationToken.current for a new one.")
    switch kind {
    case .current: return
    case .gone: throw gone
    case .pinned(_, let generations):
      if generations.values.contains(where: { !$0.isReadable }) { throw gone }
      if self.stores.isEmpty && stores.isEmpty { return }
      guard stores.contains(where: { store in self.stores.contains { $0 === store.identity } })
      else {
        throw CoreDataError(
          .coreData, "The query generation belongs to stores that the context does not have.")
      }
    }
  }

  // MARK: Copying and archiving

  /// What is known of the states in this process, for tokens from archives.
  private struct Known {
    struct Reference {
      weak var generation: (any StoreGeneration)?
      init(_ generation: any StoreGeneration) { self.generation = generation }
    }
    let generations: [(identity: StoreIdentity, reference: Reference)]
    let stores: [StoreIdentity]
    var isGone: Bool { generations.allSatisfy { $0.reference.generation == nil } }
  }
  // All mutable state of this type.
  private static let known = Mutex<[UUID: Known]>([:])

  public func copy(with zone: NSZone? = nil) -> Any { self }

  public override func isEqual(_ object: Any?) -> Bool {
    guard let other = object as? QueryGenerationToken else { return false }
    return identifier == other.identifier
  }
  public override var hash: Int { identifier.hashValue }

  private var identifier: UUID? {
    switch kind {
    case .current: return nil
    case .pinned(let id, _), .gone(let id): return id
    }
  }

  public static var supportsSecureCoding: Bool { true }

  public func encode(with coder: NSCoder) {
    if let identifier {
      coder.encode(identifier.uuidString as NSString, forKey: "generation")
    }
  }

  /// The token of a state that is still there, or one that no context accepts.
  public required init?(coder: NSCoder) {
    guard let text = coder.decodeObject(of: NSString.self, forKey: "generation") as String? else {
      (kind, stores) = (.current, [])
      super.init()
      return
    }
    guard let id = UUID(uuidString: text) else { return nil }
    let known = Self.known.withLock { $0[id] }
    var generations: [ObjectIdentifier: any StoreGeneration] = [:]
    for (identity, reference) in known?.generations ?? [] {
      guard let generation = reference.generation else { continue }
      generations[ObjectIdentifier(identity)] = generation
    }
    let isWhole = known.map { $0.generations.count == generations.count } ?? false
    kind = isWhole ? .pinned(id, generations) : .gone(id)
    stores = known?.stores ?? []
    super.init()
  }

  public override var description: String {
    "<QueryGenerationToken: \(identifier?.uuidString ?? "current")>"
  }
}
