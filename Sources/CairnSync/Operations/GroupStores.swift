import CairnStore
import Dispatch
import Foundation

/// A store as people know it.
public struct StoreReference: Hashable, Sendable {
  public let id: StoreID
  /// `local`, the name of a replica that is open, or nil for a store that is not in the group, such as
  /// another machine's, or one as it was before it went back in time.
  public let name: String?

  public init(id: StoreID, name: String?) {
    self.id = id
    self.name = name
  }

  /// The name, or the ID of a store without one.
  public var text: String { name ?? id.description }

  /// The name of the local store.
  public static let localName = "local"
}

/// A replica that an answer does not cover.
public struct AwayStore: Hashable, Sendable {
  public let name: String
  /// Why it could not be read, for people.
  public let reason: String

  public init(name: String, reason: String) {
    self.name = name
    self.reason = reason
  }
}

/// The stores of a group that can be read now, and those that cannot.
struct GroupStores: Sendable {
  struct Member: Sendable {
    let name: String
    let id: StoreID
    let access: StoreAccess
    /// Nil for the local store.
    let link: Link?
    var reference: StoreReference { StoreReference(id: id, name: name) }
    /// From the store's names to those of the local store; nil for one version of the model.
    let translation: SchemaTranslation?
  }
  /// The local store first, then the replicas by name.
  private(set) var members: [Member] = []
  private(set) var away: [AwayStore] = []

  /// - Parameter links: The replicas to read.
  init(local: StoreAccess, links: [Link]) throws {
    members.append(
      Member(
        name: StoreReference.localName, id: try local.ledger().storeID, access: local, link: nil,
        translation: nil))
    for link in links {
      let name = link.configuration.name
      guard let access = link.replica else {
        away.append(
          AwayStore(name: name, reason: link.unreadable?.message ?? Self.reason(link.life)))
        continue
      }
      do {
        members.append(
          Member(
            name: name, id: try access.ledger().storeID, access: access, link: link,
            translation: .between(access, and: local)))
      } catch {
        leaveOut(name, error)
      }
    }
  }

  var local: Member { members[0] }
  var replicas: ArraySlice<Member> { members.dropFirst() }

  func reference(_ id: StoreID) -> StoreReference {
    StoreReference(id: id, name: members.first { id.isEpoch(of: $0.id) }?.name)
  }

  /// Captures all that was written, and makes journals that a version without index wrote fit to be looked up.
  ///
  /// - Throws: What the local store throws.
  mutating func catchUp() throws {
    try read { member in
      try HistoryCapture(access: member.access).run()
      // Where it cannot be made, the journal is read from its beginning.
      try? JournalIndex(access: member.access).complete()
    }
  }

  /// Reads every member; one that cannot be read is away.
  ///
  /// - Throws: What the local store throws.
  mutating func read(_ work: (Member) throws -> Void) throws {
    for member in members {
      do {
        try work(member)
      } catch  where member.link != nil {
        members.removeAll { $0.name == member.name }
        leaveOut(member.name, error)
      }
    }
  }

  private mutating func leaveOut(_ name: String, _ error: any Error) {
    away.append(
      AwayStore(name: name, reason: SyncError(describing: error, at: nil).message))
  }

  private static func reason(_ life: LinkLife) -> String {
    life.lastError?.message ?? "it is \(life.phase.word)"
  }
}

extension SyncEngine {
  /// Runs an operator's work apart from all links, so that it delays none of them.
  ///
  /// - Throws: ``SyncError``, whatever the work throws.
  func operating<Value: Sendable>(
    _ work: @escaping @Sendable () throws -> Value
  ) async throws -> Value {
    // A queue of its own: a store that does not answer keeps no other work waiting.
    let queue = DispatchQueue(label: "cairn.sync.operation")
    return try await withCheckedThrowingContinuation { continuation in
      queue.async {
        continuation.resume(
          with: Result { try work() }.mapError { SyncError(describing: $0, at: nil) as any Error })
      }
    }
  }

  /// - Parameter names: Replicas, or `local`; nil means all. The local store is always a member.
  /// - Throws: ``SyncError`` with `noSuchReplica`.
  func group(_ names: [String]? = nil) throws -> GroupStores {
    let links = try links(names.map { $0.filter { $0 != StoreReference.localName } })
    return try GroupStores(local: local, links: links)
  }
}
