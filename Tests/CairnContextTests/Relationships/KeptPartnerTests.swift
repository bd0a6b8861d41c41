// One-to-one relationships that both sides changed, and an object that takes the newer row.
import CairnContext
import CairnModel
import CairnStore
import Foundation
import Testing

/// Chapter 8.1 with 6 and 7.4: an object that keeps its own value over a newer row leaves no other
/// object with a key to it, neither in memory nor in the file.
@Suite struct KeptPartnerTests {
  /// How the context hears of the newer rows.
  enum Way: String, CaseIterable {
    case refreshOne, refreshAll, merge, remoteMerge

    func take(
      _ object: ManagedObject, _ partner: ManagedObject, _ note: Notification,
      in context: ManagedObjectContext
    ) {
      switch self {
      case .refreshOne: context.refresh(object, mergeChanges: true)
      case .refreshAll: context.refreshAllObjects()
      case .merge: context.mergeChanges(fromContextDidSave: note)
      case .remoteMerge:
        ManagedObjectContext.mergeChanges(
          fromRemoteContextSave: ["updated": [object.objectID, partner.objectID]], into: [context])
      }
    }
  }

  /// Here the author gets passport 1, there passport 2, which is saved first.
  private func quarrel(
    _ way: Way, elsewhere: Bool,
    _ check: (ManagedObjectContext, ManagedObject, [ManagedObject]) throws -> Void
  ) throws {
    let stack = try Stack(in: .sqlite)
    try stack.use { context in
      context.stalenessInterval = 0
      let manager = UndoManager()
      manager.groupsByEvent = false
      context.undoManager = manager
      let author = context.make("Author", ["name": "a"])
      let passports = (0..<3).map { context.make("Passport", ["number": $0]) }
      author.setValue(passports[0], forKey: "passport")
      try context.save()
      manager.forgetAllActions()
      manager.beginUndoGrouping()
      author.setValue(passports[1], forKey: "passport")
      context.processPendingChanges()
      manager.endUndoGrouping()
      var note: Notification?
      let change: (ManagedObjectContext) throws -> Void = { other in
        let saves = NotificationRecorder(other, ManagedObjectContext.didSaveObjectsNotification)
        let same = try #require(try other.all("Author").first)
        let third = try #require(try other.all("Passport", "number == 2").first)
        same.setValue(third, forKey: "passport")
        try other.save()
        note = saves.notifications.last
      }
      if elsewhere { try stack.useElsewhere(change) } else { try stack.use(change) }
      way.take(author, passports[2], try #require(note), in: context)
      try check(context, author, passports)
    }
  }

  @Test(arguments: Way.allCases, [false, true])
  func whatAnotherProgramRelatedLetsGo(way: Way, elsewhere: Bool) throws {
    try quarrel(way, elsewhere: elsewhere) { context, author, passports in
      #expect(author.one("passport") === passports[1] && passports[1].one("owner") === author)
      #expect(passports[2].one("owner") == nil)
      // The partner that both sides left may be the older row still.
      context.mergePolicy = MergePolicy.mergeByPropertyObjectTrump
      try context.save()
      #expect(author.one("passport") === passports[1])
    }
  }

  @Test(arguments: Way.allCases, [false, true])
  func takingTheChangeBackRelatesNobodyOnOneSideOnly(way: Way, elsewhere: Bool) throws {
    try quarrel(way, elsewhere: elsewhere) { context, author, passports in
      context.undo()
      for passport in passports {
        #expect((passport.one("owner") === author) == (author.one("passport") === passport))
      }
      context.mergePolicy = MergePolicy.mergeByPropertyObjectTrump
      try context.save()
    }
  }

  /// What is taken back was saved, and another program has related another one since.
  @Test(arguments: Way.allCases, [false, true])
  func takingASavedChangeBackLeavesThePartnerOfNowAlone(way: Way, elsewhere: Bool) throws {
    let stack = try Stack(in: .sqlite)
    try stack.use(policy: .mergeByPropertyObjectTrump) { context in
      context.stalenessInterval = 0
      let manager = UndoManager()
      manager.groupsByEvent = false
      context.undoManager = manager
      let author = context.make("Author", ["name": "a"])
      let passports = (0..<2).map { context.make("Passport", ["number": $0]) }
      try context.save()
      manager.forgetAllActions()
      manager.beginUndoGrouping()
      author.setValue(passports[0], forKey: "passport")
      context.processPendingChanges()
      manager.endUndoGrouping()
      try context.save()
      var note: Notification?
      let change: (ManagedObjectContext) throws -> Void = { other in
        let saves = NotificationRecorder(other, ManagedObjectContext.didSaveObjectsNotification)
        let second = try #require(try other.all("Passport", "number == 1").first)
        try other.all("Author").first?.setValue(second, forKey: "passport")
        try other.save()
        note = saves.notifications.last
      }
      if elsewhere { try stack.useElsewhere(change) } else { try stack.use(change) }
      way.take(author, passports[1], try #require(note), in: context)
      context.undo()
      #expect(author.one("passport") == nil)
      try context.save()
      context.refreshAllObjects()
      #expect(author.one("passport") == nil && passports.map { $0.one("owner") } == [nil, nil])
    }
  }

  /// A refresh without merging takes the partner's side of the change away.
  @Test(arguments: [false, true])
  func aPartnerThatWasRefreshedLeadsBackIfItIsStillThere(isGone: Bool) throws {
    let stack = try Stack(in: .sqlite)
    try stack.use { context in
      context.stalenessInterval = 0
      let (author, passport) = (context.make("Author"), context.make("Passport", ["number": 1]))
      try context.save()
      author.setValue(passport, forKey: "passport")
      context.refresh(passport, mergeChanges: false)
      if isGone {
        try stack.useElsewhere { other in
          for same in try other.all("Passport") { other.delete(same) }
          try other.save()
        }
      }
      try context.save()
      context.refreshAllObjects()
      #expect(author.one("passport") === (isGone ? nil : passport))
      #expect(isGone || passport.one("owner") === author)
    }
  }

  // MARK: Older rows of the other side

  /// The author is read again after another program gave it passport 1 instead of passport 0; the
  /// passports are known as they were.
  private func late(
    _ type: MergePolicyType, elsewhere: Bool,
    _ check: (ManagedObjectContext, ManagedObject, [ManagedObject]) throws -> Void
  ) throws {
    let stack = try Stack(in: .sqlite)
    try stack.use(policy: MergePolicy(merge: type)) { context in
      context.stalenessInterval = 0
      let author = context.make("Author", ["name": "a"])
      let passports = (0..<3).map { context.make("Passport", ["number": $0]) }
      author.setValue(passports[0], forKey: "passport")
      try context.save()
      let change: (ManagedObjectContext) throws -> Void = { other in
        let same = try #require(try other.all("Author").first)
        let second = try #require(try other.all("Passport", "number == 1").first)
        same.setValue(second, forKey: "passport")
        try other.save()
      }
      if elsewhere { try stack.useElsewhere(change) } else { try stack.use(change) }
      context.refresh(author, mergeChanges: true)
      #expect(author.one("passport") === passports[1] && passports[1].one("owner") == nil)
      try check(context, author, passports)
    }
  }

  @Test(arguments: PolicyRuleTests.types, [false, true])
  func aPartnerKnownByAnOlderRowIsLeftInTheFileToo(type: MergePolicyType, elsewhere: Bool) throws {
    try late(type, elsewhere: elsewhere) { context, author, passports in
      author.setValue(passports[2], forKey: "passport")
      try context.save()
      context.refreshAllObjects()
      #expect(passports.map { $0.one("owner") } == [nil, nil, author])
    }
  }

  @Test(arguments: PolicyRuleTests.types, [false, true])
  func aPartnerThatLedBackByItsOlderRowIsAConflict(type: MergePolicyType, elsewhere: Bool) throws {
    try late(type, elsewhere: elsewhere) { context, author, passports in
      author.setValue(passports[0], forKey: "passport")
      if type == .errorMergePolicyType {
        let error = #expect(throws: CoreDataError.self) { try context.save() }
        let conflicts = error?.userInfo["conflictList"] as? [MergeConflict]
        #expect(conflicts?.map(\.sourceObject) == [passports[0]])
        return
      }
      try context.save()
      context.refreshAllObjects()
      let isMine =
        type == .mergeByPropertyObjectTrumpMergePolicyType || type == .overwriteMergePolicyType
      #expect(author.one("passport") === (isMine ? passports[0] : nil))
      #expect(passports[0].one("owner") === (isMine ? author : nil))
    }
  }

  @Test(arguments: [false, true])
  func anObjectKnownByAnOlderRowDoesNotLeadToADeletedPartner(elsewhere: Bool) throws {
    let stack = try Stack(in: .sqlite)
    try stack.use { context in
      context.stalenessInterval = 0
      let authors = ["a", "b"].map { context.make("Author", ["name": $0]) }
      let passport = context.make("Passport", ["owner": authors[0]])
      try context.save()
      let change: (ManagedObjectContext) throws -> Void = { other in
        let second = try #require(try other.all("Author", "name == 'b'").first)
        try other.all("Passport").first?.setValue(second, forKey: "owner")
        try other.save()
      }
      if elsewhere { try stack.useElsewhere(change) } else { try stack.use(change) }
      context.refresh(passport, mergeChanges: true)
      #expect(passport.one("owner") === authors[1] && authors[1].one("passport") == nil)
      context.delete(passport)
      try context.save()
      context.refreshAllObjects()
      #expect(authors.map { $0.one("passport") } == [nil, nil])
    }
  }
}
