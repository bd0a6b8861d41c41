import CairnStore

// What coordinators add to stores: who has them, and their types as values.

extension PersistentStore {
  /// The coordinator the store was added to, nil after its removal.
  public var persistentStoreCoordinator: PersistentStoreCoordinator? {
    coordinatorReference?.target as? PersistentStoreCoordinator
  }

  /// A store type, for the typed variants of methods that take its string.
  public struct StoreType: RawRepresentable, Hashable, Sendable {
    public let rawValue: String
    public init(rawValue: String) { self.rawValue = rawValue }
    public static let sqlite = StoreType(rawValue: StoreTypeName.sqlite)
    public static let xml = StoreType(rawValue: StoreTypeName.xml)
    public static let binary = StoreType(rawValue: StoreTypeName.binary)
    public static let inMemory = StoreType(rawValue: StoreTypeName.inMemory)
  }
}
