// Uses the classes that the plugin generated: every kind of property is written through its
// accessor, saved, and read again in another context. Prints what does not come back.
import Cairn
import Foundation

/// The entity asks for accessors only; its class is written by hand.
final class Paperback: Book {
}

@main
struct Sample {
  private var failures = 0
  private let identity = UUID()
  private let day = Date(timeIntervalSinceReferenceDate: 700_000_000)

  static func main() throws {
    var sample = Sample()
    let library = try open("Library")
    try sample.write(to: library)
    try sample.read(from: library)
    try sample.usePackages()
    if sample.failures > 0 { exit(1) }
    print("All accessors work.")
  }

  private mutating func expect(_ holds: Bool, _ rule: String, line: Int = #line) {
    if holds { return }
    failures += 1
    print("line \(line): \(rule)")
  }

  private static func open(_ name: String) throws -> PersistentContainer {
    let container = PersistentContainer(name: name)
    container.persistentStoreDescriptions = [PersistentStoreDescription()]
    container.persistentStoreDescriptions[0].type = PersistentStore.StoreType.inMemory.rawValue
    var problem: (any Error)?
    container.loadPersistentStores { _, error in problem = error }
    if let problem { throw problem }
    return container
  }

  private mutating func write(to library: PersistentContainer) throws {
    let writing = library.newBackgroundContext()
    try writing.performAndWait {
      let author = Author(context: writing)
      author.id = identity
      author.name = "Ursula"
      let friend = Author(context: writing)
      friend.name = "Octavia"
      author.addToFriends(friend)
      expect(friend.friends?.contains(author) == true, "the inverse follows a generated accessor")

      let book = Book(context: writing)
      expect(book.price == NSDecimalNumber(string: "12.5"), "defaults of the model are there")
      book.added = day
      book.cover = Data([1, 2, 3])
      book.page = URL(string: "https://example.org/a")
      book.price = NSDecimalNumber(string: "7.25")
      book.rating = 4.5
      book.read = 1000
      book.scratch = "not kept"
      book.size = ["height": 20.0, "width": 12.5]
      book.title = "The Word"
      book.weight = 0.5
      book.year = 1972
      book.isSigned = true
      book.pages = 350
      book.shelf = 7
      book.tags = ["forest", "war"]
      book.author = author

      let second = Paperback(context: writing)
      second.title = "Second"
      second.case = "B"
      let third = Book(context: writing)
      third.title = "Third"
      author.addToWorks(third)
      author.insertIntoWorks(second, at: 1)
      func titles() -> [String] {
        author.works?.array.compactMap { ($0 as? Work)?.title } ?? []
      }
      expect(titles() == ["The Word", "Second", "Third"], "insertInto at a position: \(titles())")
      author.removeFromWorks(at: IndexSet([1, 2]))
      expect(titles() == ["The Word"], "removeFrom at positions: \(titles())")
      expect(second.author == nil, "removed members lose their inverse")
      author.insertIntoWorks([third, second], at: IndexSet([0, 2]))
      expect(titles() == ["Third", "The Word", "Second"], "insertInto at positions: \(titles())")
      author.replaceWorks(at: IndexSet([0, 2]), with: [second, third])
      expect(titles() == ["Second", "The Word", "Third"], "replace at positions: \(titles())")
      author.removeFromWorks(NSOrderedSet(object: third))
      author.addToWorks([third])
      author.removeFromWorks(at: 2)
      author.addToWorks(third)
      author.works = NSOrderedSet(array: [book, second, third])
      expect(titles() == ["The Word", "Second", "Third"], "setting the whole: \(titles())")
      try writing.save()
    }
  }

  private mutating func read(from library: PersistentContainer) throws {
    let reading = library.newBackgroundContext()
    try reading.performAndWait {
      let request: FetchRequest<Author> = Author.fetchRequest()
      request.predicate = ObjectPredicate(format: "name == %@", "Ursula")
      let author = try reading.fetch(request).first
      expect(author?.id == identity, "the identity comes back")
      expect(
        (author?.friends as? Set<Author>)?.first?.name == "Octavia", "sets cast to their class")
      expect(author?.works?.count == 3, "ordered relationships come back")
      expect(author?.thickBooks.map(\.title) == ["The Word"], "fetched properties are typed")
      let book = author?.works?.firstObject as? Book
      expect(book?.added == day, "date")
      expect(book?.cover == Data([1, 2, 3]), "data")
      expect(book?.page == URL(string: "https://example.org/a"), "URL")
      expect(book?.price == NSDecimalNumber(string: "7.25"), "decimal")
      expect(book?.rating == 4.5, "double")
      expect(book?.read == 1000, "date as scalar")
      expect(book?.scratch == nil, "transient values are not kept")
      expect(book?.size?["width"] as? Double == 12.5, "composite")
      expect(book?.title == "The Word", "string")
      expect(book?.weight == 0.5, "float")
      expect(book?.year == 1972, "integer 64")
      expect(book?.isSigned == true, "boolean")
      expect(book?.pages == 350, "integer 32")
      expect(book?.shelf == 7, "integer 16 as object")
      expect(book?.tags == ["forest", "war"], "transformable")
      expect(book?.author === author, "to-one")
      let paperbacks: FetchRequest<Paperback> = Paperback.fetchRequest()
      expect(
        try reading.fetch(paperbacks).map(\.case) == ["B"], "requests of subentities are typed")
      let works: FetchRequest<Work> = Work.fetchRequest()
      expect(try reading.count(for: works) == 3, "requests of a superentity include subentities")
    }
  }

  private mutating func usePackages() throws {
    let packages = try Self.open("DebianPackages").newBackgroundContext()
    try packages.performAndWait {
      let maintainer = Maintainer(context: packages)
      maintainer.name = "Debian"
      let names = ["libc6", "bash", "dash"]
      let all = names.map { name in
        let package = Package(context: packages)
        package.name = name
        package.installedSize = 100
        package.maintainer = maintainer
        return package
      }
      all[1].addToDependencies(all[0])
      all[2].dependencies = NSSet(object: all[0])
      try packages.save()
      packages.reset()
      let request: FetchRequest<Package> = Package.fetchRequest()
      request.predicate = ObjectPredicate(format: "dependents.@count == 2")
      let found = try packages.fetch(request)
      expect(found.map(\.name) == ["libc6"], "predicates on generated classes: \(found)")
      expect(found.first?.maintainer?.packages?.count == 3, "relationships lead on")
      expect(found.first?.dependents is Set<Package>, "sets cast to their class")
    }
  }
}
