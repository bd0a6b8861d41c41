// What a conflict does to each property under each policy, decided from rows alone.

import CairnModel
import CairnStore
import Foundation
import Testing

@testable import CairnContext

/// Chapter 9: no context, no coordinator and no store are made here.
@Suite struct ConflictDecisionTests {
  /// A book with a title, a number of pages, an author and a transient note.
  private struct Shelf {
    let model = ManagedObjectModel()
    let layout: EntityLayout
    let id: ManagedObjectID

    init() throws {
      let book = EntityDescription(name: "Book")
      let note = AttributeDescription(name: "note", type: .string)
      note.isTransient = true
      book.properties = [
        AttributeDescription(name: "title", type: .string),
        AttributeDescription(name: "pages", type: .integer64), note,
      ]
      model.entities = [book]
      try model.prepareForUse()
      layout = book.layout
      id = ManagedObjectID(entity: book, storeIdentity: nil, key: .row(1))
    }

    func slot(_ name: String) throws -> Int { try #require(layout.slotByName[name]) }

    func row(_ title: String, pages: Int64, version: Int64 = 1) throws -> RowSnapshot {
      var values = [AttributeValue](repeating: .null, count: layout.slots.count)
      values[try slot("title")] = .string(title)
      values[try slot("pages")] = .integer(pages)
      return .make(objectID: id, version: version, values: values)
    }

    func set(_ names: [String]) throws -> SlotSet {
      var set = SlotSet()
      for name in names { set.insert(try slot(name)) }
      return set
    }

    func names(_ set: SlotSet) -> Set<String> { Set(set.members.map { layout.slots[$0].name }) }

    func decision(
      _ policy: MergePolicyType, isDeleted: Bool = false, changed: [String] = ["title", "note"],
      base: RowSnapshot?, stored: RowSnapshot?
    ) throws -> ConflictDecision {
      ConflictDecision(
        policy, isDeleted: isDeleted, changed: try set(changed), base: base, stored: stored,
        layout: layout)
    }
  }

  private static let mine: [MergePolicyType] = [
    .errorMergePolicyType, .mergeByPropertyObjectTrumpMergePolicyType, .overwriteMergePolicyType,
  ]
  private static let theirs: [MergePolicyType] = [
    .mergeByPropertyStoreTrumpMergePolicyType, .rollbackMergePolicyType,
  ]

  @Test(arguments: mine + theirs)
  func anObjectThatBothSidesChangedStays(policy: MergePolicyType) throws {
    let shelf = try Shelf()
    let decision = try shelf.decision(
      policy, base: shelf.row("A", pages: 1), stored: shelf.row("B", pages: 1, version: 2))
    #expect(decision.outcome == .stays)
  }

  @Test(arguments: mine)
  func whereThisSideWinsAnObjectWithoutRowIsWrittenWhole(policy: MergePolicyType) throws {
    let shelf = try Shelf()
    let decision = try shelf.decision(policy, base: shelf.row("A", pages: 1), stored: nil)
    #expect(decision.outcome == .comesBack)
    #expect(shelf.names(decision.mine) == ["title", "pages", "note"])
    #expect(decision.theirs.isEmpty)
  }

  @Test(arguments: theirs)
  func whereTheStoreWinsAnObjectWithoutRowGoes(policy: MergePolicyType) throws {
    let shelf = try Shelf()
    let decision = try shelf.decision(policy, base: shelf.row("A", pages: 1), stored: nil)
    #expect(decision.outcome == .goes)
    #expect(decision.mine.isEmpty && decision.theirs.isEmpty)
  }

  @Test(arguments: mine)
  func aDeletionStaysWhereThisSideWins(policy: MergePolicyType) throws {
    let shelf = try Shelf()
    let decision = try shelf.decision(
      policy, isDeleted: true, base: shelf.row("A", pages: 1),
      stored: shelf.row("B", pages: 1, version: 2))
    #expect(decision.outcome == .staysDeleted)
  }

  @Test(arguments: theirs)
  func aDeletionIsGivenUpWhereTheStoreWins(policy: MergePolicyType) throws {
    let shelf = try Shelf()
    let decision = try shelf.decision(
      policy, isDeleted: true, base: shelf.row("A", pages: 1),
      stored: shelf.row("B", pages: 1, version: 2))
    #expect(decision.outcome == .isNotDeleted)
    #expect(shelf.names(decision.theirs) == ["title", "note"])
  }

  @Test(arguments: mine + theirs)
  func whatBothSidesDeletedIsGone(policy: MergePolicyType) throws {
    let shelf = try Shelf()
    let decision = try shelf.decision(
      policy, isDeleted: true, base: shelf.row("A", pages: 1), stored: nil)
    #expect(decision.outcome == .isGone)
    #expect(decision.mine.isEmpty && decision.theirs.isEmpty)
  }

  @Test func theObjectsPropertiesTrump() throws {
    let shelf = try Shelf()
    let decision = try shelf.decision(
      .mergeByPropertyObjectTrumpMergePolicyType, base: shelf.row("A", pages: 1),
      stored: shelf.row("B", pages: 2, version: 2))
    // The pages, which only the other side has changed, are in neither set.
    #expect(shelf.names(decision.mine) == ["title", "note"])
    #expect(decision.theirs.isEmpty)
    #expect(!decision.dropsMembers && !decision.keepsEqualValues)
  }

  @Test func theStoresPropertiesTrumpWhereBothSidesChangedThem() throws {
    let shelf = try Shelf()
    let decision = try shelf.decision(
      .mergeByPropertyStoreTrumpMergePolicyType, changed: ["title", "pages", "note"],
      base: shelf.row("A", pages: 1), stored: shelf.row("B", pages: 1, version: 2))
    #expect(shelf.names(decision.theirs) == ["title"])
    #expect(shelf.names(decision.mine) == ["pages", "note"])
    #expect(!decision.dropsMembers)
  }

  @Test func withoutTheBaseNothingIsKnownToBeChangedThere() throws {
    let shelf = try Shelf()
    let decision = try shelf.decision(
      .mergeByPropertyStoreTrumpMergePolicyType, base: nil,
      stored: shelf.row("B", pages: 1, version: 2))
    #expect(shelf.names(decision.mine) == ["title", "note"])
    #expect(decision.theirs.isEmpty)
  }

  @Test func overwritingWritesEveryPersistentProperty() throws {
    let shelf = try Shelf()
    let decision = try shelf.decision(
      .overwriteMergePolicyType, base: shelf.row("A", pages: 1),
      stored: shelf.row("B", pages: 2, version: 2))
    #expect(shelf.names(decision.mine) == ["title", "pages", "note"])
    #expect(decision.keepsEqualValues && !decision.dropsMembers)
  }

  @Test func rollingBackTakesEverythingBack() throws {
    let shelf = try Shelf()
    let decision = try shelf.decision(
      .rollbackMergePolicyType, base: shelf.row("A", pages: 1),
      stored: shelf.row("A", pages: 1, version: 2))
    #expect(shelf.names(decision.theirs) == ["title", "note"])
    #expect(decision.mine.isEmpty)
    #expect(decision.dropsMembers)
  }
}
