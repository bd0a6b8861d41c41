import CairnModel
import CairnStore
import Foundation

/// Which stores a coordinator has, in the order they were added, and which are being opened.
///
/// A value: the coordinator keeps it inside its mutex and does no work there.
struct StoreRegistry {
  private(set) var stores: [PersistentStore] = []
  /// Files that are being opened now, so that two threads cannot add the same one.
  private var reserved: Set<URL> = []

  /// One spelling for each file.
  static func key(for url: URL) -> URL {
    url.isFileURL ? url.standardizedFileURL.resolvingSymlinksInPath() : url
  }

  /// Whether the URL names a file that only one store of a coordinator may use.
  ///
  /// `/dev/null` stands for no file at all: Core Data's idiom for a SQLite store in memory.
  static func isExclusive(_ url: URL) -> Bool { url.path != "/dev/null" }

  /// Claims a file until ``release(_:)``; false when a store has it or is about to.
  mutating func reserve(_ url: URL) -> Bool {
    let key = Self.key(for: url)
    if reserved.contains(key) { return false }
    if stores.contains(where: { $0.url.map(Self.key(for:)) == key }) { return false }
    reserved.insert(key)
    return true
  }

  mutating func release(_ url: URL) { reserved.remove(Self.key(for: url)) }

  /// Adds an open store; false when a store with its UUID is there already.
  mutating func append(_ store: PersistentStore) -> Bool {
    if self.store(withIdentifier: store.identity.identifier) != nil { return false }
    stores.append(store)
    return true
  }

  /// Puts a store in the place of another.
  mutating func replace(_ old: PersistentStore, by new: PersistentStore) {
    if let index = stores.firstIndex(where: { $0 === old }) {
      stores[index] = new
    } else {
      stores.append(new)
    }
  }

  /// Takes a store out; false when it was not there.
  mutating func remove(_ store: PersistentStore) -> Bool {
    guard let index = stores.firstIndex(where: { $0 === store }) else { return false }
    stores.remove(at: index)
    return true
  }

  func contains(_ store: PersistentStore) -> Bool { stores.contains { $0 === store } }

  func store(with identity: StoreIdentity) -> PersistentStore? {
    for place in stores.indices where stores[place].identity === identity { return stores[place] }
    return nil
  }

  func store(withIdentifier identifier: String) -> PersistentStore? {
    stores.first { $0.identity.identifier.caseInsensitiveCompare(identifier) == .orderedSame }
  }

  func store(at url: URL) -> PersistentStore? {
    let key = Self.key(for: url)
    return stores.first { $0.url.map(Self.key(for:)) == key }
  }
}
