import CairnContext
import CairnCoordinator
import CairnStore
import Foundation

/// Tries at once what waits in one store, as a pass does.
struct QuarantineRetry {
  let member: GroupStores.Member
  /// The group's.
  let coordinator: PersistentStoreCoordinator
  /// How many entries are tried in one commit.
  private static let part = 256

  /// - Parameter entries: What to try; nil for all.
  func run(
    _ entries: [QuarantineEntry]?
  ) throws -> (released: Int, waiting: [QuarantineEntry]) {
    let context = ManagedObjectContext(.privateQueue)
    context.persistentStoreCoordinator = member.link?.openReplica?.coordinator ?? coordinator
    context.name = member.name
    context.transactionAuthor = SyncConfiguration.author
    let entries = try entries ?? all()
    var released = 0
    var waiting: [QuarantineEntry] = []
    for (source, group) in Dictionary(grouping: entries, by: \.source) {
      for start in stride(from: 0, to: group.count, by: Self.part) {
        let part = group[start...].prefix(Self.part)
        let set = ChangeSet(
          source: source, after: 0, upTo: 0, records: part.compactMap(\.state),
          links: part.compactMap(\.link))
        _ = try context.performAndWait {
          try ChangeImporter(access: member.access, context: context).apply(set, cursor: nil)
        }
        let ledger = try member.access.ledger()
        let keys = part.map { $0.link.map { SyncKey.quarantine($0.key) } ?? Self.key($0) }
        try ledger.prefetch(keys)
        for key in keys {
          if let data = try ledger.value(key) {
            waiting.append(try QuarantineEntry(decoding: data))
          } else {
            released += 1
          }
        }
      }
    }
    return (released, waiting)
  }

  private static func key(_ entry: QuarantineEntry) -> SidecarKey {
    SyncKey.quarantine(entry.state?.id ?? RecordID(high: 0, low: 0))
  }

  private func all() throws -> [QuarantineEntry] {
    guard let sidecar = member.access.store.capabilities.sidecar else { return [] }
    var found: [QuarantineEntry] = []
    try sidecar.visitEntries(of: .quarantine) { _, value in
      if let entry = try? QuarantineEntry(decoding: value) { found.append(entry) }
    }
    return found
  }
}
