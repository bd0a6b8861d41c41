// Inverses in every shape a pair of relationships can have.
import CairnContext
import CairnModel
import CairnStore
import Foundation
import Testing

/// Chapters 8.1 and 9 of the specification.
@Suite struct RelationshipShapeTests {
  // MARK: One to one with itself as inverse

  @Test func partnersNameEachOther() throws {
    try WorkshopStack().use { context in
      let (a, b) = (context.make("Worker"), context.make("Worker"))
      a.setValue(b, forKey: "partner")
      #expect(b.one("partner") === a)
      b.setValue(nil, forKey: "partner")
      #expect(a.one("partner") == nil)
    }
  }

  @Test func aStolenPartnerLeavesBothFormerPartnersAlone() throws {
    let stack = try WorkshopStack()
    try stack.use { context in
      let workers = (0..<4).map { context.make("Worker", ["name": "\($0)"]) }
      workers[0].setValue(workers[1], forKey: "partner")
      workers[2].setValue(workers[3], forKey: "partner")
      try context.save()
      workers[0].setValue(workers[2], forKey: "partner")
      #expect(workers[2].one("partner") === workers[0])
      #expect(workers[1].one("partner") == nil && workers[3].one("partner") == nil)
      try context.save()
    }
    try stack.use { context in
      let stored = try context.all("Worker", sortedBy: "name")
      #expect(stored.map { $0.one("partner")?.text("name") } == ["2", nil, "0", nil])
    }
  }

  @Test func anObjectMayBeItsOwnPartner() throws {
    try WorkshopStack().use { context in
      let (a, b) = (context.make("Worker"), context.make("Worker"))
      a.setValue(b, forKey: "partner")
      a.setValue(a, forKey: "partner")
      #expect(a.one("partner") === a && b.one("partner") == nil)
      try context.save()
      a.setValue(nil, forKey: "partner")
      #expect(a.one("partner") == nil)
    }
  }

  @Test func deletingOnePartnerFreesTheOther() throws {
    try WorkshopStack().use { context in
      let (a, b) = (context.make("Worker"), context.make("Worker"))
      a.setValue(b, forKey: "partner")
      try context.save()
      context.delete(a)
      context.processPendingChanges()
      #expect(b.one("partner") == nil && context.updatedObjects == [b])
    }
  }

  // MARK: Ordered on both sides

  @Test func bothOrdersAreKeptApart() throws {
    let stack = try WorkshopStack()
    func names(_ worker: ManagedObject, _ key: String) -> String {
      let set = worker.value(forKey: key) as? NSOrderedSet
      return (set?.array ?? []).compactMap { ($0 as? ManagedObject)?.text("name") }.joined()
    }
    let ids = try stack.use { context in
      let workers = ["a", "b", "c", "d"].map { context.make("Worker", ["name": $0]) }
      workers[0].setValue(NSOrderedSet(array: [workers[3], workers[2]]), forKey: "students")
      workers[1].setValue(NSOrderedSet(array: [workers[2], workers[3]]), forKey: "students")
      #expect(names(workers[2], "teachers") == "ab" && names(workers[3], "teachers") == "ab")
      workers[2].mutableOrderedSetValue(forKey: "teachers").exchangeObject(
        at: 0, withObjectAt: 1)
      try context.save()
      #expect(names(workers[0], "students") == "dc")
      return workers.map(\.objectID)
    }
    try stack.use { context in
      let workers = try ids.map { try context.existingObject(with: $0) }
      #expect(workers.map { names($0, "students") } == ["dc", "cd", "", ""])
      #expect(workers.map { names($0, "teachers") } == ["", "", "ba", "ab"])
      context.delete(workers[0])
      try context.save()
      #expect(names(workers[2], "teachers") == "b")
    }
  }

  // MARK: Trees and inheritance

  @Test func aTreeOfOneEntityMovesItsBranches() throws {
    try WorkshopStack().use { context in
      let (a, b, c) = (context.make("Piece"), context.make("Piece"), context.make("Piece"))
      b.setValue(a, forKey: "whole")
      c.setValue(b, forKey: "whole")
      c.setValue(a, forKey: "whole")
      #expect(b.many("parts").isEmpty && a.many("parts") == [b, c])
    }
  }

  @Test func inheritedRelationshipsTakeAndOwnObjectsOfSubentities() throws {
    try WorkshopStack().use { context in
      let (worker, special) = (context.make("Worker"), context.make("SpecialPiece"))
      worker.mutableSetValue(forKey: "pieces").add(special)
      #expect(special.one("maker") === worker)
      special.mutableOrderedSetValue(forKey: "parts").add(context.make("Piece"))
      try context.save()
      #expect(try context.all("SpecialPiece", "maker != nil AND parts.@count == 1").count == 1)
    }
  }

  @Test func anAssignedSetTakesMembersFromAllTheirFormerOwners() throws {
    try WorkshopStack().use { context in
      let workers = (0..<3).map { _ in context.make("Worker") }
      let pieces = workers.map { context.make("Piece", ["maker": $0]) }
      try context.save()
      workers[0].setValue(Set(pieces), forKey: "pieces")
      #expect(workers[0].many("pieces") == Set(pieces))
      #expect(workers[1].many("pieces").isEmpty && workers[2].many("pieces").isEmpty)
      try context.save()
      #expect(try context.all("Worker", "pieces.@count == 3") == [workers[0]])
    }
  }

  @Test func objectsOfDifferentContextsCannotBeRelated() async {
    await #expect(processExitsWith: .failure) {
      let stack = try WorkshopStack()
      let other = ManagedObjectContext(.privateQueue)
      other.persistentStoreCoordinator = stack.coordinator
      let piece = other.performAndWait { other.make("Piece") }
      try stack.use { context in
        context.make("Worker").mutableSetValue(forKey: "pieces").add(piece)
      }
    }
  }

  // MARK: Delete rules

  /// A parent with one child, related with the given rule.
  private func family(_ rule: DeleteRule, mandatory: Bool = false) -> ManagedObjectModel {
    let (parent, child) = (EntityDescription(name: "Parent"), EntityDescription(name: "Child"))
    let (children, owner) = (Workshop.toMany("children", rule), Workshop.toOne("parent"))
    owner.isOptional = !mandatory
    Workshop.link(children, to: child, owner, to: parent)
    parent.properties = [children]
    child.properties = [owner]
    let model = ManagedObjectModel()
    model.entities = [parent, child]
    return model
  }

  private func deleteParent(
    _ rule: DeleteRule, mandatory: Bool = false,
    _ check: (ManagedObjectContext, ManagedObject) throws -> Void
  ) throws {
    try WorkshopStack(model: family(rule, mandatory: mandatory)).use { context in
      let parent = context.make("Parent")
      let child = context.make("Child", ["parent": parent])
      try context.save()
      context.delete(parent)
      context.processPendingChanges()
      try check(context, child)
    }
  }

  @Test func nullifyClearsTheOtherSide() throws {
    try deleteParent(.nullify) { context, child in
      #expect(child.one("parent") == nil && !child.isDeleted)
      try context.save()
    }
  }

  @Test func nullifyOfAMandatoryInverseFailsTheSave() throws {
    try deleteParent(.nullify, mandatory: true) { context, child in
      let error = #expect(throws: CoreDataError.self) { try context.save() }
      #expect(error?.code == .validationMissingMandatoryProperty)
      #expect(error?.userInfo["NSValidationErrorObject"] as? ManagedObject === child)
    }
  }

  @Test func cascadeDeletesTheMembers() throws {
    try deleteParent(.cascade) { context, child in
      #expect(child.isDeleted)
      try context.save()
      #expect(try context.all("Child").isEmpty)
    }
  }

  @Test func denyFailsTheSaveWhileThereAreMembers() throws {
    try deleteParent(.deny) { context, child in
      let error = #expect(throws: CoreDataError.self) { try context.save() }
      #expect(error?.code == .validationRelationshipDeniedDelete)
      context.delete(child)
      try context.save()
      #expect(try context.all("Parent").isEmpty)
    }
  }

  @Test func noActionLeavesMembersAsTheyAre() throws {
    try deleteParent(.noAction) { context, child in
      #expect(!child.isDeleted && !context.updatedObjects.contains(child))
    }
  }

  @Test func aCycleOfCascadesEnds() throws {
    let model = ManagedObjectModel()
    let node = EntityDescription(name: "Node")
    let (next, previous) = (Workshop.toOne("next", .cascade), Workshop.toOne("previous", .cascade))
    Workshop.link(next, to: node, previous, to: node)
    node.properties = [next, previous]
    model.entities = [node]
    try WorkshopStack(model: model).use { context in
      let nodes = (0..<5).map { _ in context.make("Node") }
      for index in 0..<5 { nodes[index].setValue(nodes[(index + 1) % 5], forKey: "next") }
      try context.save()
      context.delete(nodes[2])
      try context.save()
      #expect(try context.all("Node").isEmpty)
    }
  }
}
