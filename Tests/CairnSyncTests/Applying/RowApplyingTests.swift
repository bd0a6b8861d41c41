@_spi(Runtime) import CairnContext
import CairnModel
import CairnPredicates
import CairnStore
import Foundation
import Testing
import TestSupport

@testable import CairnSync

/// Rows that are written without objects: they are what objects would have written, and a writer that
/// comes in between is not overwritten.
struct RowApplyingTests {
  /// A class of a program's own with a say in what is saved.
  final class CarefulBook: ManagedObject {
    override func willSave() {}
  }

  /// Books on shelves in an order, by many authors; nothing that needs an object.
  static func model(bookName: String = "Book") -> ManagedObjectModel {
    let shelf = EntityDescription(name: "Shelf")
    let book = EntityDescription(name: bookName)
    let author = EntityDescription(name: "Writer")
    let books = relationship("books", to: book, isToMany: true, isOrdered: true)
    let onShelf = relationship("shelf", to: shelf)
    let authors = relationship("authors", to: author, isToMany: true)
    let written = relationship("written", to: book, isToMany: true)
    connect(books, onShelf)
    connect(authors, written)
    let title = AttributeDescription(
      name: "key", type: .string, isOptional: false, defaultValue: "")
    title.setValidationPredicates(
      [ObjectPredicate(format: "length < 20")], withValidationWarnings: ["too long"])
    shelf.properties = [AttributeDescription(name: "key", type: .string), books]
    book.properties = [
      title, AttributeDescription(name: "pages", type: .integer32), onShelf, authors,
    ]
    author.properties = [AttributeDescription(name: "key", type: .string), written]
    let model = ManagedObjectModel()
    model.entities = [shelf, book, author]
    return model
  }

  private static func fleet(
    onFiles: Bool, bookName: String = "Book"
  ) throws -> (fleet: Fleet, scratch: Scratch, a: Fleet.Site, b: Fleet.Site) {
    let scratch = try Scratch()
    let fleet = Fleet(
      seed: 5, directory: onFiles ? scratch.url : nil, model: model(bookName: bookName))
    return (fleet, scratch, try fleet.add("a"), try fleet.add("b"))
  }

  /// Shelves with their books in order, and authors with theirs.
  private static func picture(_ site: Fleet.Site, bookName: String = "Book") throws -> [String] {
    try site.write { context in
      let shelves = try site.all("Shelf", in: context).map {
        "\($0.value(forKey: "key") ?? "") \(Fleet.Site.list("books", of: $0))"
      }
      let books = try site.all(bookName, in: context).map { book in
        let authors = (book.value(forKey: "authors") as? Set<ManagedObject> ?? [])
          .compactMap { $0.value(forKey: "key") as? String }.sorted()
        return "\(book.value(forKey: "key") ?? "") \(book.value(forKey: "pages") ?? "-") \(authors)"
      }
      return shelves + books
    }
  }

  /// Writes all kinds of changes that a row can show, in three saves.
  private static func work(
    _ fleet: Fleet, _ a: Fleet.Site, _ b: Fleet.Site, bookName: String = "Book"
  ) throws {
    try a.write { context in
      let shelf = try a.insert("Shelf", ["key": "s1"], in: context)
      _ = try a.insert("Shelf", ["key": "s2"], in: context)
      let authors = try ["x", "y"].map { try a.insert("Writer", ["key": $0], in: context) }
      for number in 1...4 {
        let book = try a.insert(bookName, ["key": "b\(number)", "pages": number], in: context)
        book.setValue(shelf, forKey: "shelf")
        book.setValue(Set(authors), forKey: "authors")
      }
    }
    _ = try fleet.settle([(a, b)])
    fleet.advance(5)
    try a.write { context in
      let first = try a.find(bookName, "b1", in: context)
      first?.setValue(try a.find("Shelf", "s2", in: context), forKey: "shelf")
      try a.find(bookName, "b2", in: context)?.setValue(200, forKey: "pages")
      let author = try a.find("Writer", "x", in: context)
      try a.find(bookName, "b3", in: context)?
        .setValue(Set([author].compactMap { $0 }), forKey: "authors")
    }
    _ = try fleet.settle([(a, b)])
    fleet.advance(5)
    try a.write { context in
      let shelf = try a.find("Shelf", "s1", in: context)
      let books = (shelf?.value(forKey: "books") as? NSOrderedSet)?.array ?? []
      shelf?.setValue(NSOrderedSet(array: books.reversed()), forKey: "books")
    }
    _ = try fleet.settle([(a, b)])
  }

  @Test func whatNeedsObjectsIsFoundOut() throws {
    CarefulBook.registerClass(forEntityName: "CarefulBook")
    func plain(_ model: ManagedObjectModel) throws -> Set<String> {
      try model.prepareForUse()
      return RowRules.plainEntities(
        of: try SyncSchema(model: model, defaultPolicy: .lastWriter, policies: [:]))
    }
    #expect(try plain(Self.model()) == ["Shelf", "Book", "Writer"])
    #expect(try plain(Self.model(bookName: "CarefulBook")) == ["Shelf", "Writer"])
    // A one-to-one relationship is kept in both rows.
    #expect(try plain(SampleModel.make()) == ["Part", "Leaf", "Bloom"])
  }

  @Test(arguments: [false, true])
  func rowsLinksAndOrdersAreWhatObjectsWouldHaveWritten(onFiles: Bool) throws {
    CarefulBook.registerClass(forEntityName: "CarefulBook")
    var histories: [[String]] = []
    for name in ["Book", "CarefulBook"] {
      let (fleet, scratch, a, b) = try Self.fleet(onFiles: onFiles, bookName: name)
      defer { withExtendedLifetime(scratch) {} }
      try Self.work(fleet, a, b, bookName: name)
      let picture = try Self.picture(b, bookName: name)
      #expect(picture == (try Self.picture(a, bookName: name)))
      #expect(picture.contains("s1 [\"b4\", \"b3\", \"b2\"]"), "\(picture)")
      #expect(picture.contains("b3 3 [\"x\"]") && picture.contains("b2 200 [\"x\", \"y\"]"))
      #expect(try StoreComparison(local: a.access, replica: b.access).run(name: "b").isEqual)
      let changes = try b.access.history().readHistory(HistoryReadRequest(after: nil, limit: 0))
        .flatMap(\.changes)
      histories.append(
        changes.map { change in
          let entity = change.objectID.entity.name == "Shelf" ? "Shelf" : "other"
          return "\(entity) \(change.kind) \(change.changedProperties.map { $0.sorted() } ?? [])"
        }.sorted())
    }
    #expect(histories[0] == histories[1])
  }

  @Test(
    arguments: [SyncEnvironment.Failpoint.beforeImport, .afterPlan, .beforeImportCommit],
    [false, true])
  func aWriteInBetweenIsNotOverwritten(
    failpoint: SyncEnvironment.Failpoint, onFiles: Bool
  ) throws {
    let (fleet, scratch, a, b) = try Self.fleet(onFiles: onFiles)
    defer { withExtendedLifetime(scratch) {} }
    try a.write { _ = try a.insert("Book", ["key": "k", "pages": 1], in: $0) }
    try fleet.pass(a, b)
    fleet.advance(5)
    try a.write { try a.find("Book", "k", in: $0)?.setValue(2, forKey: "pages") }
    try HistoryCapture(access: a.access).run()
    fleet.advance(5)
    fleet.interrupt(b, at: failpoint) {
      try b.write { try b.find("Book", "k", in: $0)?.setValue(3, forKey: "pages") }
    }
    try fleet.pass(a, b)
    #expect(fleet.wasInterrupted)
    #expect(try fleet.settle([(a, b)]) < 40)
    #expect(try Self.picture(b) == ["k 3 []"])
    #expect(try Self.picture(a) == ["k 3 []"])
  }

  @Test func aRowThatBreaksARuleOfTheModelIsHeldAndTheOthersArrive() throws {
    let (fleet, scratch, a, b) = try Self.fleet(onFiles: false)
    defer { withExtendedLifetime(scratch) {} }
    try a.write { context in
      for number in 1...3 { _ = try a.insert("Book", ["key": "b\(number)"], in: context) }
    }
    try HistoryCapture(access: a.access).run()
    try HistoryCapture(access: b.access).run()
    let importer = Importer(fleet: fleet, destination: b)
    var all = try importer.everything(from: a)
    let place = try #require(
      all.records.firstIndex { $0.registers["key"]?.value == .string("b2") })
    let write = try #require(all.records[place].registers["key"]?.write)
    all.records[place].registers["key"] = Register(
      value: .string(String(repeating: "x", count: 50)), write: write)
    let outcome = try importer.deliver(all.records, from: a)
    #expect(outcome.held.count == 1)
    #expect(try Self.picture(b) == ["b1 - []", "b3 - []"])
  }

  @Test func contextsOfTheProcessMergeWhatIsWrittenWithoutObjects() throws {
    let (fleet, scratch, a, b) = try Self.fleet(onFiles: true)
    defer { withExtendedLifetime(scratch) {} }
    try a.write { _ = try a.insert("Book", ["key": "k", "pages": 1], in: $0) }
    try fleet.pass(a, b)
    let context = ManagedObjectContext(.privateQueue)
    context.persistentStoreCoordinator = fleet.coordinator
    context.automaticallyMergesChangesFromParent = true
    let book = try context.performAndWait { try b.find("Book", "k", in: context) }
    #expect(context.performAndWait { book?.value(forKey: "pages") as? Int } == 1)
    fleet.advance(5)
    try a.write { try a.find("Book", "k", in: $0)?.setValue(2, forKey: "pages") }
    _ = try fleet.settle([(a, b)])
    #expect(context.performAndWait { book?.value(forKey: "pages") as? Int } == 2)
  }
}
