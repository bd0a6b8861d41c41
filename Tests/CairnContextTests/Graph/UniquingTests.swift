// One object for each ID, held only while a program needs it.
import CairnModel
import CairnStore
import Testing

@testable import CairnContext

@Suite struct UniquingTests {
  @Test func anUnchangedObjectThatNobodyHoldsLeavesTheContext() throws {
    try Stack().use { context in
      context.make("Author")
      #expect(context.registeredObjects.count == 1)
      try context.save()
      #expect(context.registeredObjects.isEmpty)
    }
  }

  @Test func aChangedObjectStaysThoughNobodyHoldsIt() throws {
    let stack = try Stack()
    try stack.use { context in
      context.make("Author")
      try context.save()
      try context.all("Author").first?.setValue("changed", forKey: "name")
      #expect(context.updatedObjects.count == 1)
      try context.save()
      let names = try context.all("Author").map { $0.text("name") }
      #expect(names == ["changed"])
    }
  }

  @Test func retainedContextsKeepTheirObjects() throws {
    try Stack().use { context in
      context.retainsRegisteredObjects = true
      context.make("Author")
      try context.save()
      context.refreshAllObjects()
      _ = try context.all("Author")
      #expect(context.registeredObjects.count == 1)
    }
  }

  @Test func anUnknownIDIsAFaultUntilItIsFired() throws {
    let stack = try Stack()
    let id = try stack.use { context in
      let author = context.make("Author")
      try context.save()
      let id = author.objectID
      context.delete(author)
      try context.save()
      return id
    }
    try stack.use { context in
      let object = context.object(with: id)
      #expect(object.isFault)
      #expect(throws: CoreDataError.self) { try context.existingObject(with: id) }
      #expect(object.text("name") == nil && object.isDeleted)
    }
  }

  @Test func aRowTableAgreesWithADictionary() {
    var random = SeededGenerator(seed: 7)
    var table = RowTable()
    var plain: [Int64: UInt] = [:]
    for _ in 0..<20_000 {
      let key = Int64.random(in: -300...300, using: &random)
      let value = Bool.random(using: &random) ? UInt.random(in: 1...9, using: &random) : 0
      table[key] = value
      plain[key] = value == 0 ? nil : value
      #expect(table.count == plain.count)
    }
    for key in Int64(-300)...300 { #expect(table[key] == plain[key] ?? 0) }
  }

  @Test func aRowTableAddsOnlyWhatIsNotThere() {
    var table = RowTable()
    for key in Int64(1)...100 { #expect(table.add(UInt(key), for: key) == 0) }
    for key in Int64(1)...100 { #expect(table.add(999, for: key) == UInt(key)) }
    #expect(table.count == 100 && table[7] == 7)
  }

  /// Few of many, most, and all; some asked for with an address that they do not have.
  @Test(arguments: [10, 400, 1000])
  func aRowTableTakesManyOutAtOnce(_ many: Int) {
    var random = SeededGenerator(seed: UInt64(many))
    var table = RowTable()
    for key in Int64(1)...1000 { table[key] = UInt(key) * 16 }
    let keys = (1...Int64(1000)).shuffled(using: &random).prefix(many)
    let others = Set(keys.filter { $0 % 5 == 0 && many < 1000 })
    // One that is not there.
    let asked = keys + [2000]
    table.remove(asked.count) {
      (asked[$0], UInt(asked[$0]) * 16 + (others.contains(asked[$0]) ? 8 : 0))
    }
    let gone = Set(keys).subtracting(others)
    #expect(table.count == 1000 - gone.count)
    for key in Int64(1)...1000 { #expect(table[key] == (gone.contains(key) ? 0 : UInt(key) * 16)) }
    #expect(table[2000] == 0 && table.all.count == table.count)
  }

  @Test func manyObjectsOfSeveralEntitiesLeaveTheContextTogether() throws {
    try Stack().use { context in
      let authors = (0..<20).map { _ in context.make("Author") }
      let books = (0..<20).map { _ in context.make("Book") }
      try context.save()
      let gone = Array(authors.prefix(15)) + books.suffix(15)
      for object in gone { context.delete(object) }
      try context.save()
      #expect(context.registeredObjects == Set(authors.suffix(5) + books.prefix(5)))
      for object in gone {
        #expect(object.managedObjectContext == nil && !object.isDeleted && !object.hasChanges)
        #expect(context.registeredObject(for: object.objectID) == nil)
      }
      for object in authors.suffix(5) {
        #expect(context.registeredObject(for: object.objectID) === object)
      }
    }
  }

  @Test func permanentIDsCanBeHadBeforeTheSave() throws {
    try Stack().use { context in
      let author = context.make("Author")
      let book = context.make("Book", ["author": author])
      try context.obtainPermanentIDs(for: [author])
      #expect(!author.objectID.isTemporaryID && author.isInserted && book.one("author") === author)
      let id = author.objectID
      try context.save()
      #expect(author.objectID === id)
    }
  }
}
