import CairnCoordinator
import CairnModel
@_spi(Stores) import CairnStore
import Foundation
import Testing

@testable import CairnSync

/// Specification: sync.md 2.5: only what a replica says of its model is a verdict on it.
struct StoredModelTests {
  /// A kind whose stores, at other versions of the model, fail to say which.
  private struct UnansweringKind: StoreKind {
    let type = "Unanswering"
    let keepsFiles = false
    var storeClass: PersistentStore.Type { UnansweringStore.self }
    func metadata(at url: URL, options: StoreOptions) throws -> [String: Any] {
      [
        StoreMetadataKey.uuid: UUID().uuidString,
        StoreMetadataKey.versionHashes: ["Item": Data([1])],
      ]
    }
    func setMetadata(_ metadata: [String: Any], at url: URL, options: StoreOptions) throws {}
    func destroy(at url: URL, options: StoreOptions) throws {}
    func replace(at destination: URL, withStoreAt source: URL, options: StoreOptions) throws {}
  }

  // Unchecked: no state of its own.
  private final class UnansweringStore: PersistentStore, InPlaceMigrating, @unchecked Sendable {
    override class var inPlaceMigration: (any InPlaceMigrating.Type)? { self }

    static func migrateInPlace(
      at url: URL, from source: ManagedObjectModel, to destination: ManagedObjectModel,
      options: StoreOptions
    ) throws {}

    static func cachedModel(at url: URL, options: StoreOptions) throws -> ManagedObjectModel? {
      switch url.host {
      case "ended": throw CoreDataError(.persistentStoreOperation, "The connection ended.")
      case "unreadable": throw CoreDataError(.migrationMissingSourceModel, "It cannot be read.")
      default: throw ModelFileError(file: "Z_MODELCACHE", .malformed, "It cannot be read.")
      }
    }
  }

  private func inspection(of host: String) throws -> ReplicaInspection {
    let url = try #require(URL(string: "unanswering://\(host)/inventory"))
    return ReplicaInspection(
      coordinator: PersistentStoreCoordinator(
        managedObjectModel: SampleModel.make(), storeKinds: [UnansweringKind()]),
      configuration: ReplicaConfiguration(name: "hub", type: "Unanswering", url: url),
      neighbours: [], expectedIdentifier: nil, patience: .seconds(1))
  }

  @Test func aConnectionThatEndsIsTriedAgain() throws {
    let inspection = try inspection(of: "ended")
    let error = #expect(throws: CoreDataError.self) { _ = try inspection.run() }
    #expect(error?.code == .persistentStoreOperation)
    let described = error.map { SyncError(describing: $0, at: inspection.configuration.url) }
    #expect(described?.recovery == .wait)
  }

  @Test(arguments: ["unreadable", "malformed"])
  func aModelThatCannotBeReadIsLeftToTheOpening(host: String) throws {
    let version = try inspection(of: host).run()
    #expect(version?.isOlder == nil)
  }
}
