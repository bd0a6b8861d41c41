// Property lists that mean harm: binary ones with sets, which Foundation on Linux crashes on.

import CFaultVFS
import Cairn
import CairnTesting
import Foundation
import TestSupport
import Testing

/// Specification: issue "Reliability" – fuzzed store files are an error or a right answer, never a
/// crash.
@Suite struct HostilePropertyListTests {
  /// A binary property list of a dictionary with one key, and under it a set (kind 12) or ordered
  /// set (kind 11) of one string.
  private static func list(_ kind: UInt8, key: String) -> Data {
    list([
      [0xD1, 1, 2], [0x50 | UInt8(key.utf8.count)] + Array(key.utf8), [kind << 4 | 1, 3],
      [0x51, 0x78],
    ])
  }

  /// A short binary property list with these objects, the first at its top.
  private static func list(_ objects: [[UInt8]]) -> Data {
    var bytes = Array("bplist00".utf8)
    var offsets: [UInt8] = []
    for object in objects {
      offsets.append(UInt8(bytes.count))
      bytes += object
    }
    let table = UInt8(bytes.count)
    bytes += offsets + [0, 0, 0, 0, 0, 0, 1, 1]
    for number in [UInt8(objects.count), 0, table] { bytes += [0, 0, 0, 0, 0, 0, 0, number] }
    return Data(bytes)
  }

  /// Puts a property list in the place of a store's metadata, and opens the store.
  private func expectRefusal(ofMetadata list: Data) throws {
    let folder = try TemporaryFolder()
    let model = try HostileStore.model(in: folder.url)
    try HostileStore(in: folder.url, model: model).close()
    let digits = list.map { String(format: "%02x", $0) }.joined()
    let path = HostileStore.url(in: folder.url).path
    try #require(cfault_execute(path, "UPDATE Z_METADATA SET Z_PLIST = x'\(digits)'") == 0)
    #expect {
      _ = try HostileStore(in: folder.url, model: model)
    } throws: {
      ($0 as? CoreDataError)?.code == .persistentStoreOpen
    }
  }

  @Test(arguments: [UInt8(11), 12])
  func aStoreWithSuchMetadataIsRefused(kind: UInt8) throws {
    try expectRefusal(ofMetadata: Self.list(kind, key: "a"))
  }

  /// An array that has the next one twice, sixty times: a trillion places, and more.
  @Test(.timeLimit(.minutes(10)), arguments: [true, false])
  func aStoreWhoseMetadataGrowWithoutEndIsRefused(isCircle: Bool) throws {
    var objects: [[UInt8]] = [[0xD1, 1, 2], [0x51, 0x61]]
    for level in 0..<60 {
      let next = isCircle && level == 59 ? 2 : UInt8(objects.count + 1)
      objects.append([0xA2, next, next])
    }
    objects.append([0x51, 0x78])
    try expectRefusal(ofMetadata: Self.list(objects))
  }

  @Test func aStoreWithADateOfNoNumberInItsMetadataIsRefused() throws {
    try expectRefusal(
      ofMetadata: Self.list([[0xD1, 1, 2], [0x51, 0x61], [0x33, 0x7F, 0xF8, 0, 0, 0, 0, 0, 0]]))
  }

  @Test(arguments: [UInt8(11), 12])
  func anArchiveWithOneIsNoValue(kind: UInt8) {
    let transformer = SecureUnarchiveFromDataTransformer()
    #expect(transformer.transformedValue(Self.list(kind, key: "$objects")) == nil)
  }

  /// What fuzzing has found: Foundation's unarchiver traps for them.
  @Test(arguments: ["class-without-ancestors", "fewer-keys-than-objects"])
  func anArchiveThatLacksWhatFoundationTakesForGrantedIsNoValue(name: String) throws {
    let tests = URL(fileURLWithPath: #filePath).deletingLastPathComponent()
      .deletingLastPathComponent().deletingLastPathComponent()
    let archive = try Data(
      contentsOf: tests.appendingPathComponent("Fuzzing/Corpora/archives/\(name)"))
    #expect(SecureUnarchiveFromDataTransformer().transformedValue(archive) == nil)
  }

  @Test(arguments: [UInt8(11), 12])
  func aModelPackageWithOneIsRefused(kind: UInt8) throws {
    let folder = try TemporaryFolder()
    let package = folder.fileURL("Model.momd")
    try FileManager.default.createDirectory(at: package, withIntermediateDirectories: true)
    try Self.list(kind, key: "a").write(to: package.appendingPathComponent("VersionInfo.plist"))
    #expect(throws: (any Error).self) { try ManagedObjectModel.load(contentsOf: package) }
  }
}
