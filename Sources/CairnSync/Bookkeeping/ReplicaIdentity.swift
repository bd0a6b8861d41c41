import CairnStore
import Foundation

/// Which store lies at a replica's place, as the local store remembers it over restarts.
struct ReplicaIdentity: Hashable, Sendable {
  /// The store's UUID.
  let identifier: String
  /// Where it was: a replica that is given another place may be another store.
  let place: String
  /// The folder that the place was in, as its disk knows it; empty for no file.
  let folder: String

  init(identifier: String, at url: URL) {
    self.identifier = identifier
    place = Self.place(of: url)
    folder = Self.folder(of: url)
  }

  /// Whether the place is in the folder that it was in: not where its disk is not mounted.
  func isInFolder(of url: URL) -> Bool { folder == Self.folder(of: url) }

  private static func folder(of url: URL) -> String {
    guard url.isFileURL else { return "" }
    let path = url.resolvingSymlinksInPath().deletingLastPathComponent().path
    let manager = FileManager.default
    guard let facts = try? manager.attributesOfItem(atPath: path) else { return "" }
    func number(_ value: Any?) -> UInt64 { (value as? NSNumber)?.uint64Value ?? 0 }
    // The file system's own number, where it has one: that of its device goes to the next disk that is plugged in,
    // and is another after a restart of the machine.
    let ownNumber = number(try? manager.attributesOfFileSystem(forPath: path)[.systemNumber])
    let disk = ownNumber == 0 ? number(facts[.systemNumber]) : ownNumber
    return "\(disk):\(number(facts[.systemFileNumber]))"
  }

  func isAt(_ url: URL) -> Bool { place == Self.place(of: url) }

  private static func place(of url: URL) -> String {
    url.isFileURL ? url.standardizedFileURL.path : url.absoluteString
  }

  // Bytes: identifier string · place string · folder string
  var encoded: Data {
    var writer = ByteWriter()
    writer.string(identifier)
    writer.string(place)
    writer.string(folder)
    return writer.data
  }

  init(decoding data: Data) throws {
    var reader = ByteReader(data)
    identifier = try reader.string()
    place = try reader.string()
    folder = try reader.string()
  }
}

extension StoreAccess {
  /// Which store a replica was when it was open last; nil for one that is new.
  func replicaIdentity(named name: String) throws -> ReplicaIdentity? {
    try ledger().value(SyncKey.replica(name)).map(ReplicaIdentity.init(decoding:))
  }

  /// - Parameter identity: Nil for a replica that was removed: what is added under its name is new.
  func setReplicaIdentity(_ identity: ReplicaIdentity?, named name: String) throws {
    try keep(identity?.encoded, at: SyncKey.replica(name))
  }

  /// The names under which stores are remembered.
  fileprivate func namesOfReplicas() throws -> [String] {
    guard let sidecar = store.capabilities.sidecar else { return [] }
    let prefix = SyncKey.replica("").key
    return try sidecar.sidecarEntries(
      of: SyncMap.meta.rawValue, from: prefix, to: SyncKey.end(of: prefix), limit: 0
    ).map { String(decoding: $0.key.dropFirst(prefix.count), as: UTF8.self) }
  }
}

extension SyncEngine {
  /// Forgets which stores the replicas were that the engine does not have, so that whatever is added under
  /// their names is new.
  ///
  /// Call when all replicas of the group are added: the others were removed while no engine ran.
  ///
  /// - Throws: What the local store throws.
  public func forgetRemovedReplicas() throws {
    let names = Set(try links(nil).map(\.configuration.name))
    for name in try local.namesOfReplicas() where !names.contains(name) {
      try local.setReplicaIdentity(nil, named: name)
    }
  }
}
