// Uniqueness constraints of stores that are one file, also where another program has left duplicates.

import CairnAtomicStores
import CairnCoordinator
import CairnModel
import CairnStore
import Foundation
import TestSupport
import Testing

/// Chapter 3.3 of the specification.
@Suite struct UniquenessTests {
  static let types = ["XML", "Binary"]
  let place: TemporaryFolder
  init() throws { place = try TemporaryFolder() }

  /// Tags with a unique word.
  private static func model() throws -> ManagedObjectModel {
    let model = Shelf.model()
    model.entitiesByName["Tag"]?.uniquenessConstraints = [["word"]]
    try model.prepareForUse()
    return model
  }

  private func open(_ type: String) throws -> PersistentStore {
    try Shelf.open(type, at: place.fileURL("store"), model: Self.model()).1
  }

  /// A store with two tags of one word, as a program leaves it that keeps no constraints.
  private func openWithDuplicates(_ type: String) throws -> PersistentStore {
    let url = place.fileURL("store")
    let (_, store) = try Shelf.open(type, at: url)
    for _ in 0..<2 { try Shelf.insert("Tag", ["word": .string("x")], into: store) }
    try PersistentStoreCoordinator.setMetadata(
      [StoreMetadataKey.versionHashes: try Self.model().entityVersionHashesByName],
      forPersistentStoreOfType: type, at: url, options: nil,
      storeKinds: [XMLStoreKind(), BinaryStoreKind()])
    return try open(type)
  }

  /// What one more tag with a word would violate.
  private func violations(
    adding word: String, to store: PersistentStore
  ) throws -> [ConstraintViolation] {
    var request = SaveChangesRequest()
    request.insertions = [
      .init(snapshot: try Shelf.row("Tag", ["word": .string(word)], in: store))
    ]
    guard case .constraintViolations(let found) = try store.save(request) else { return [] }
    return found
  }

  @Test(arguments: types) func aValueOfTheFileIsRefusedASecondTime(type: String) throws {
    let first = try Shelf.insert("Tag", ["word": .string("x")], into: try open(type))
    let store = try open(type)
    let found = try violations(adding: "x", to: store)
    #expect(found.map(\.constraint) == [["word"]])
    #expect(found.first?.persisted?.objectID.rowKey == first.objectID.rowKey)
    #expect(try Shelf.rows("Tag", of: open(type)).count == 1)
  }

  @Test(arguments: types) func aFileWithDuplicatesOpensAndTakesOtherChanges(type: String) throws {
    let store = try openWithDuplicates(type)
    try Shelf.insert("Tag", ["word": .string("y")], into: store)
    try Shelf.insert("Author", ["fullName": .string("Ada")], into: store)
    // One of the two, whose word stays as it is.
    let tag = try #require(try Shelf.rows("Tag", of: store).first)
    var request = SaveChangesRequest()
    request.updates = [.init(snapshot: tag, changedSlots: [])]
    guard case .saved = try store.save(request) else {
      Issue.record("a row that keeps its values violates nothing")
      return
    }
    #expect(try Shelf.rows("Tag", of: open(type)).count == 3)
  }

  @Test(arguments: types) func aValueIsFreeOnceTheLastOfItsDuplicatesIsGone(type: String) throws {
    let store = try openWithDuplicates(type)
    for tag in try Shelf.rows("Tag", of: store) {
      #expect(try violations(adding: "x", to: store).count == 1)
      var request = SaveChangesRequest()
      request.deletions = [.init(snapshot: tag)]
      _ = try store.save(request)
    }
    #expect(try violations(adding: "x", to: store).isEmpty)
    #expect(try Shelf.rows("Tag", of: store).count == 1)
  }
}
