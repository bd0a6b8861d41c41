// How often a deletion asks the store.
import CairnContext
import CairnModel
import Foundation
import Testing

/// Chapter 9: what delete rules lead to is read at once, not one object after the other.
@Suite struct DeletionTrafficTests {
  private static let count = 40

  @Test(arguments: [true, false])
  func destinationsOfToOneRelationshipsAreReadTogether(cascades: Bool) throws {
    // owner.passport denies; passport.owner is what the rule is of here.
    let stack = try CountingStack { model in
      let owner = model.entitiesByName["Passport"]?.relationshipsByName["owner"]
      owner?.deleteRule = cascades ? .cascade : .nullify
      owner?.inverseRelationship?.deleteRule = .nullify
    }
    try stack.use { context in
      for number in 0..<Self.count {
        let author = context.make("Author", ["name": "\(number)"])
        context.make("Passport", ["number": number, "owner": author])
      }
      try context.save()
    }
    try stack.use { context in
      let passports = try context.all("Passport")
      #expect(passports.count == Self.count)
      _ = stack.takeTraffic()
      for passport in passports { context.delete(passport) }
      context.processPendingChanges()
      let traffic = stack.takeTraffic()
      #expect(traffic.rowReads <= 2 && traffic.rows >= Self.count, "\(traffic)")
      #expect(context.deletedObjects.count == (cascades ? 2 : 1) * Self.count)
      try context.save()
      let left = try context.all("Author")
      #expect(left.count == (cascades ? 0 : Self.count))
      #expect(left.allSatisfy { $0.one("passport") == nil })
    }
  }
}
