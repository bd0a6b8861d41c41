// A store that is one file: what is on disk after each step, and after steps that fail.

import CairnAtomicStores
import CairnCoordinator
import CairnModel
import CairnStore
import Foundation
import TestSupport
import Testing

/// Section 3 of the document on Core Data's XML format, chapters 20.1 and 20.2.
@Suite struct WholeFileTests {
  static let types = ["XML", "Binary"]

  @Test(arguments: types) func aNewStoreHasItsFileAtOnce(type: String) throws {
    let place = try TemporaryFolder()
    let (_, store) = try Shelf.open(type, at: place.fileURL("store"))
    #expect(place.names == ["store"])
    #expect(try Shelf.open(type, at: place.fileURL("store")).1.identifier == store.identifier)
  }

  /// As the SQLite store has it, and because Foundation does not survive its description.
  @Test(arguments: types) func aDateOfNoNumberIsKeptAsNothing(type: String) throws {
    let place = try TemporaryFolder()
    let (_, store) = try Shelf.open(type, at: place.fileURL("store"))
    let none = Date(timeIntervalSinceReferenceDate: .nan)
    try Shelf.insert("Book", ["printed": .date(none)], into: store)
    let (_, again) = try Shelf.open(type, at: place.fileURL("store"))
    let row = try #require(try Shelf.rows("Book", of: again).first)
    #expect(try Shelf.value("printed", of: row) == .null)
  }

  @Test(arguments: types) func aSaveLeavesNothingBesideTheFile(type: String) throws {
    let place = try TemporaryFolder()
    let (_, store) = try Shelf.open(type, at: place.fileURL("store"))
    for _ in 0..<3 { try Shelf.insert("Tag", ["word": .string("x")], into: store) }
    #expect(place.names == ["store"])
    #expect(try Shelf.rows("Tag", of: Shelf.open(type, at: place.fileURL("store")).1).count == 3)
  }

  /// Core Data's name for no file: `NSPersistentStoreDescription()` has it.
  @Test(arguments: types) func atTheNullDeviceAStoreIsEmptyAndSavesToNowhere(type: String) throws {
    let null = URL(fileURLWithPath: "/dev/null")
    let place = try TemporaryFolder()
    try FileManager.default.createSymbolicLink(at: place.fileURL("link"), withDestinationURL: null)
    for url in [null, place.fileURL("link")] {
      for _ in 0..<2 {
        let (coordinator, store) = try Shelf.open(type, at: url)
        #expect(try Shelf.rows("Tag", of: store).isEmpty)
        try Shelf.insert("Tag", ["word": .string("x")], into: store)
        try Shelf.insert("Tag", ["word": .string("y")], into: store)
        #expect(try Shelf.rows("Tag", of: store).count == 2)
        try coordinator.remove(store)
      }
    }
    var facts = stat()
    #expect(stat("/dev/null", &facts) == 0 && facts.st_mode & S_IFMT == S_IFCHR)
  }

  @Test(arguments: types) func permissionsAreKept(type: String) throws {
    let place = try TemporaryFolder()
    let (_, store) = try Shelf.open(type, at: place.fileURL("store"))
    func mode() throws -> Int? {
      try FileManager.default.attributesOfItem(atPath: place.fileURL("store").path)[
        .posixPermissions] as? Int
    }
    #expect(try mode() == 0o600)
    try FileManager.default.setAttributes(
      [.posixPermissions: 0o640], ofItemAtPath: place.fileURL("store").path)
    let (_, again) = try Shelf.open(type, at: place.fileURL("store"))
    try Shelf.insert("Tag", [:], into: again)
    #expect(try mode() == 0o640)
    _ = store
  }

  @Test(arguments: types) func aSymbolicLinkStays(type: String) throws {
    let place = try TemporaryFolder()
    try FileManager.default.createSymbolicLink(
      at: place.fileURL("link"), withDestinationURL: place.fileURL("real"))
    _ = try Shelf.open(type, at: place.fileURL("real"))
    let (_, store) = try Shelf.open(type, at: place.fileURL("link"))
    try Shelf.insert("Tag", [:], into: store)
    let destination = try FileManager.default.destinationOfSymbolicLink(
      atPath: place.fileURL("link").path)
    #expect(destination.hasSuffix("real"))
    #expect(try Shelf.rows("Tag", of: Shelf.open(type, at: place.fileURL("real")).1).count == 1)
  }

  @Test(arguments: types) func anotherProgramsChangesAreNotOverwritten(type: String) throws {
    let place = try TemporaryFolder()
    let (_, first) = try Shelf.open(type, at: place.fileURL("store"))
    let (_, second) = try Shelf.open(type, at: place.fileURL("store"))
    try Shelf.insert("Tag", ["word": .string("theirs")], into: second)
    let after = try Data(contentsOf: place.fileURL("store"))
    let error = Shelf.error { try Shelf.insert("Tag", ["word": .string("mine")], into: first) }
    #expect(error?.code == .persistentStoreSaveConflicts)
    #expect(try Data(contentsOf: place.fileURL("store")) == after)
    #expect(try Shelf.rows("Tag", of: first).isEmpty, "a refused save is not in memory either")
  }

  @Test(arguments: types) func aFileThatHasGoneIsWrittenAnew(type: String) throws {
    let place = try TemporaryFolder()
    let (_, store) = try Shelf.open(type, at: place.fileURL("store"))
    try Shelf.insert("Tag", [:], into: store)
    try FileManager.default.removeItem(at: place.fileURL("store"))
    try Shelf.insert("Tag", [:], into: store)
    #expect(try Shelf.rows("Tag", of: Shelf.open(type, at: place.fileURL("store")).1).count == 2)
  }

  @Test(arguments: types) func aSaveThatCannotBeWrittenChangesNothing(type: String) throws {
    let place = try TemporaryFolder()
    let folder = place.fileURL("folder")
    try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true)
    let url = folder.appendingPathComponent("store")
    let (_, store) = try Shelf.open(type, at: url)
    try FileManager.default.removeItem(at: folder)
    let error = Shelf.error { try Shelf.insert("Tag", [:], into: store) }
    #expect(error?.code == .persistentStoreSave)
    #expect(try Shelf.rows("Tag", of: store).isEmpty)
  }

  @Test(arguments: types) func aReadOnlyStoreIsNotWritten(type: String) throws {
    let place = try TemporaryFolder()
    _ = try Shelf.open(type, at: place.fileURL("store"))
    let before = try Data(contentsOf: place.fileURL("store"))
    let (_, store) = try Shelf.open(
      type, at: place.fileURL("store"), options: [StoreOptionKey.readOnly: true])
    #expect(store.isReadOnly)
    let error = Shelf.error { try Shelf.insert("Tag", [:], into: store) }
    #expect(error?.code == .persistentStoreSave)
    #expect(try Data(contentsOf: place.fileURL("store")) == before)
  }

  @Test(arguments: types) func aMissingFolderAndAMissingReadOnlyFileAreErrors(type: String) throws {
    let place = try TemporaryFolder()
    let url = place.fileURL("nowhere").appendingPathComponent("store")
    #expect(Shelf.error { _ = try Shelf.open(type, at: url) }?.code == .persistentStoreOpen)
    let readOnly = Shelf.error {
      _ = try Shelf.open(type, at: place.fileURL("store"), options: [StoreOptionKey.readOnly: true])
    }
    #expect(readOnly?.code == .persistentStoreOpen)
    #expect(place.names.isEmpty)
  }

  @Test(arguments: types) func metadataOfAClosedFileIsReadAndReplaced(type: String) throws {
    let place = try TemporaryFolder()
    let (_, store) = try Shelf.open(type, at: place.fileURL("store"))
    try Shelf.insert("Tag", ["word": .string("x")], into: store)
    let kinds: [any StoreKind] = [XMLStoreKind(), BinaryStoreKind()]
    try PersistentStoreCoordinator.setMetadata(
      [
        "mood": "good",
        StoreMetadataKey.versionHashes: store.metadata[StoreMetadataKey.versionHashes] ?? "",
      ],
      forPersistentStoreOfType: type, at: place.fileURL("store"), options: nil, storeKinds: kinds)
    let metadata = try PersistentStoreCoordinator.metadataForPersistentStore(
      ofType: type, at: place.fileURL("store"), options: nil, storeKinds: kinds)
    #expect(metadata["mood"] as? String == "good")
    #expect(metadata[StoreMetadataKey.type] as? String == type)
    #expect(metadata[StoreMetadataKey.uuid] as? String == store.identity.identifier)
    let again = try Shelf.open(type, at: place.fileURL("store")).1
    #expect(try Shelf.rows("Tag", of: again).count == 1, "the rows are still there")
  }

  /// The store could not be opened again.
  @Test func metadataThatCannotBeReadBackIsRefused() throws {
    let place = try TemporaryFolder()
    _ = try Shelf.open("Binary", at: place.fileURL("store"))
    let before = try Data(contentsOf: place.fileURL("store"))
    let error = Shelf.error {
      try PersistentStoreCoordinator.setMetadata(
        ["since": Date(timeIntervalSinceReferenceDate: .nan)],
        forPersistentStoreOfType: "Binary", at: place.fileURL("store"), options: nil,
        storeKinds: [BinaryStoreKind()])
    }
    #expect(error?.message.contains("no property-list value") == true)
    #expect(try Data(contentsOf: place.fileURL("store")) == before)
  }

  @Test(arguments: types) func destroyingDeletesTheFile(type: String) throws {
    let place = try TemporaryFolder()
    let coordinator = Shelf.coordinator()
    _ = try Shelf.open(type, at: place.fileURL("store"))
    try coordinator.destroyPersistentStore(at: place.fileURL("store"), ofType: type)
    #expect(place.names.isEmpty)
    try coordinator.destroyPersistentStore(at: place.fileURL("store"), ofType: type)
    try Data("precious".utf8).write(to: place.fileURL("store"))
    #expect(
      Shelf.error {
        try coordinator.destroyPersistentStore(at: place.fileURL("store"), ofType: type)
      }?.code
        == .persistentStoreInvalidType)
    #expect(place.names == ["store"])
    try coordinator.destroyPersistentStore(
      at: place.fileURL("store"), ofType: type, options: [StoreOptionKey.forceDestroy: true])
    #expect(place.names.isEmpty)
  }

  @Test(arguments: types) func replacingCopiesTheWholeStore(type: String) throws {
    let place = try TemporaryFolder()
    let (_, store) = try Shelf.open(type, at: place.fileURL("a"))
    try Shelf.insert("Tag", ["word": .string("x")], into: store)
    try Shelf.coordinator().replacePersistentStore(
      at: place.fileURL("b"), withPersistentStoreFrom: place.fileURL("a"), ofType: type)
    let copy = try Shelf.open(type, at: place.fileURL("b")).1
    #expect(try Shelf.rows("Tag", of: copy).count == 1)
    #expect(copy.identifier == store.identifier)
  }

  @Test(arguments: types) func manyThreadsReadWhileOneSaves(type: String) async throws {
    let place = try TemporaryFolder()
    let (_, store) = try Shelf.open(type, at: place.fileURL("store"))
    let entity = try #require(store.managedObjectModel.entitiesByName["Tag"])
    await withTaskGroup(of: Bool.self) { group in
      for _ in 0..<4 {
        group.addTask {
          for _ in 0..<50 {
            guard case .snapshots? = try? store.fetch(StoreFetchRequest(entity: entity)) else {
              return false
            }
          }
          return true
        }
      }
      group.addTask {
        for _ in 0..<10 where (try? Shelf.insert("Tag", [:], into: store)) == nil { return false }
        return true
      }
      for await succeeded in group { #expect(succeeded) }
    }
    #expect(try Shelf.rows("Tag", of: Shelf.open(type, at: place.fileURL("store")).1).count == 10)
  }
}
