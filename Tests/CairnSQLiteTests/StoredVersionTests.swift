import CairnModel
import CairnModelFiles
import CairnStore
import Foundation
import TestSupport
import Testing

@testable import CairnSQLite

/// The versions that Apple's stores record against those that Cairn computes.
@Suite struct StoredVersionTests {
  private static let folder = ProcessInfo.processInfo.environment["CAIRN_APPLE_FIXTURES"].flatMap {
    $0.isEmpty ? nil : URL(fileURLWithPath: $0)
  }
  private static let missing: Comment =
    "CAIRN_APPLE_FIXTURES names no folder; Apple's files are not checked."

  /// Runs `body` with the metadata of every store, read from a copy, and the model inside it.
  private func forEachStore(
    _ body: (String, [String: Any], ManagedObjectModel?) throws -> Void
  ) throws {
    let stores = try #require(Self.folder).appendingPathComponent("apple-stores")
    let copies = try TemporaryFolder()
    let names = try FileManager.default.contentsOfDirectory(atPath: stores.path)
    for name in names.sorted() where name.hasSuffix(".sqlite") {
      let copy = copies.fileURL(name)
      try FileManager.default.copyItem(at: stores.appendingPathComponent(name), to: copy)
      try FileManager.default.setAttributes([.posixPermissions: 0o600], ofItemAtPath: copy.path)
      try body(
        name, try SQLiteStoreKind().metadata(at: copy, options: StoreOptions()),
        try SQLiteStore.cachedModel(at: copy, options: StoreOptions()))
    }
  }

  @Test(
    "The model inside a store has the hashes, digest and checksum that the store records",
    .enabled(if: folder != nil, missing))
  func cachedModels() throws {
    var (digests, checksums, models) = (0, 0, 0)
    try forEachStore { name, metadata, model in
      guard let model else { return }
      models += 1
      #expect(
        metadata["NSStoreModelVersionHashes"] as? [String: Data] == model.entityVersionHashesByName,
        "\(name)")
      if let digest = metadata["NSStoreModelVersionHashesDigest"] as? String {
        digests += 1
        #expect(model.versionHashesDigest == digest, "\(name)")
      }
      if let checksum = metadata["NSStoreModelVersionChecksumKey"] as? String {
        checksums += 1
        #expect(model.versionChecksum == checksum, "\(name)")
      }
    }
    #expect(models >= 12)
    #expect(digests == 9)
    #expect(checksums == 5)
  }

  // Not Scout: its sources are of a later time, when all entities had other names.
  @Test(
    "The source of a model has a version that a store was made with",
    .enabled(if: folder != nil, missing),
    arguments: [
      "CoreDataPlus-SampleModel-V": "SampleModel", "CoreDataPlus-SampleModel3-V": "SampleModel3",
      "Moody-": "Moody", "ReviewJournal-": "ReviewJournal",
    ])
  func sources(prefix: String, package name: String) throws {
    let models = try #require(Self.folder).appendingPathComponent("models")
    let package = try ModelPackage(
      contentsOf: models.appendingPathComponent("\(name).xcdatamodeld"))
    var stores = 0
    try forEachStore { store, metadata, _ in
      guard store.hasPrefix(prefix) else { return }
      stores += 1
      let model = package.model(matchingStoreMetadata: metadata)
      #expect(
        metadata["NSStoreModelVersionHashes"] as? [String: Data]
          == model?.entityVersionHashesByName, "\(store)")
    }
    #expect(stores >= 1)
  }
}
