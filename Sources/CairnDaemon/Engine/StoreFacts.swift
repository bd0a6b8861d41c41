// What there is to say of one store.

import CairnControl
import CairnPlatform
import CairnStore
import CairnSync
import Synchronization

extension GroupEngine {
  /// Everything about one store.
  ///
  /// - Throws: ``CairnControl/ControlError``: there is no such store, or the local store is not open.
  func describe(_ name: String) async throws -> DescribeStore.Reply {
    let group = try current()
    let stores = try stores()
    guard let store = stores.first(where: { $0.name == name }) else {
      throw OpenGroup.unknownStore(name, among: stores.map(\.name))
    }
    let status = status()
    if name == StoreReference.localName {
      return .init(
        store: store, local: status.local, file: await Self.file(of: group.local))
    }
    let opened = try? group.engine.openStore(ofReplica: name)?.store
    var file: DescribeStore.File?
    if let opened { file = await Self.file(of: opened) }
    let counters = try? group.engine.status().replicas.first { $0.name == name }?.counters
    return .init(
      store: store, replica: status.replicas.first { $0.name == name },
      file: file, counters: counters.map(DescribeStore.Counters.init))
  }

  /// How long a file may take to answer.
  private static let patience = Duration.seconds(5)

  /// Looks at the files of an open store; nil when they do not answer.
  private static func file(of store: PersistentStore) async -> DescribeStore.File? {
    await Blocking.value(atMost: patience) { try DescribeStore.File(of: store) } ?? nil
  }
}

extension PersistentStore {
  /// The store's file; nil for one that has none.
  var filePath: String? { url.flatMap { $0.isFileURL ? $0.path : nil } }
}

extension DescribeStore.File {
  fileprivate init?(of store: PersistentStore) throws {
    guard let path = store.filePath else { return nil }
    let last = try store.capabilities.history?.lastTransactionNumber()
    self.init(
      bytes: Int(try FileFacts(path: path).size),
      logBytes: Int((try? FileFacts(path: path + "-wal"))?.size ?? 0),
      lastTransaction: last.map { Int($0) },
      checksum: store.metadata[StoreMetadataKey.versionChecksum] as? String)
  }
}

extension DescribeStore.Counters {
  fileprivate init(_ counters: SyncCounters) {
    self.init(
      passes: counters.passes, failedPasses: counters.failedPasses,
      recordsPulled: counters.recordsPulled, recordsPushed: counters.recordsPushed,
      linksPulled: counters.linksPulled, linksPushed: counters.linksPushed,
      conflicts: counters.conflicts, quarantined: counters.quarantined, replans: counters.replans)
  }
}
