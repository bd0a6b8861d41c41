// The same random operations on a context and on plain dictionaries, compared after each step.
import CairnModel
import CairnStore
import Foundation
import Testing

@testable import CairnContext

/// A context, the dictionaries it must agree with, and which key stands for which object.
private final class Twin {
  let stack: Stack
  let context: ManagedObjectContext
  var committed = PlainLibrary()
  var current = PlainLibrary()
  private var ids: [Int: ManagedObjectID] = [:]
  /// Objects without a row are known to nobody else.
  private var unsaved: [Int: ManagedObject] = [:]
  private var nextKey = 1
  private var nextLabel = 1
  var random: SeededGenerator
  var trail: [String] = []

  init(seed: UInt64, in choice: StoreChoice) throws {
    stack = try Stack(in: choice)
    context = stack.context(policy: .error)
    random = SeededGenerator(seed: seed)
  }

  func object(_ key: Int) -> ManagedObject {
    if let object = unsaved[key] { return object }
    guard let id = ids[key] else { fatalError("no object \(key): \(trail.suffix(5))") }
    return context.object(with: id)
  }

  private func key(of object: ManagedObject) -> Int {
    if let known = unsaved.first(where: { $0.value === object }) { return known.key }
    return ids.first { $0.value == object.objectID }?.key ?? -1
  }

  // MARK: Operations

  private func pick(_ kind: Kind) -> Int? { current.keys(kind).randomElement(using: &random) }

  private func newText() -> String {
    nextLabel += 1
    return "t\(nextLabel)"
  }

  func step() throws {
    switch Int.random(in: 0..<100, using: &random) {
    case 0..<22: insert()
    case 22..<34: setText()
    case 34..<44: setAuthor()
    case 44..<52: changeBooks()
    case 52..<62: changeTags()
    case 62..<70: changeFriends()
    case 70..<80: placeChapter()
    case 80..<86: delete()
    case 86..<92: try save()
    case 92..<94: rollback()
    case 94..<96: refresh()
    case 96..<97: reset()
    default: try mergeFromSecondContext()
    }
    context.processPendingChanges()
  }

  private func insert() {
    let kind = Kind.allCases.randomElement(using: &random) ?? .book
    let key = nextKey
    nextKey += 1
    trail.append("insert \(kind) \(key)")
    unsaved[key] = context.make(kind.rawValue)
    current.insert(key, kind)
    if kind == .tag {
      current.texts[key] = newText()
      unsaved[key]?.setValue(current.texts[key], forKey: "label")
    }
  }

  private func setText() {
    guard let key = current.kinds.keys.sorted().randomElement(using: &random),
      let kind = current.kinds[key]
    else { return }
    let text = newText()
    trail.append("set \(key) \(text)")
    current.texts[key] = text
    switch kind {
    case .author: object(key).setValue(text, forKey: "name")
    case .tag: object(key).setValue(text, forKey: "label")
    case .book:
      let pages = Int.random(in: 1..<100, using: &random)
      current.pages[key] = pages
      object(key).setValue(pages, forKey: "pages")
      object(key).setValue(text, forKey: "title")
    case .chapter: object(key).setValue(text, forKey: "title")
    }
  }

  private func setAuthor() {
    guard let book = pick(.book) else { return }
    let author = Bool.random(using: &random) ? pick(.author) : nil
    trail.append("author of \(book) = \(author.map(String.init) ?? "nil")")
    object(book).setValue(author.map(object), forKey: "author")
    current.setAuthor(author, of: book)
  }

  private func changeBooks() {
    guard let author = pick(.author), let book = pick(.book) else { return }
    let books = object(author).mutableSetValue(forKey: "books")
    if Bool.random(using: &random) {
      trail.append("books of \(author) add \(book)")
      books.add(object(book))
      current.setAuthor(author, of: book)
    } else {
      trail.append("books of \(author) remove \(book)")
      books.remove(object(book))
      if current.authorOfBook[book] == author { current.setAuthor(nil, of: book) }
    }
  }

  private func changeTags() {
    guard let book = pick(.book), let tag = pick(.tag) else { return }
    let fromBook = Bool.random(using: &random)
    let set =
      fromBook
      ? object(book).mutableSetValue(forKey: "tags")
      : object(tag).mutableSetValue(forKey: "works")
    let member = fromBook ? object(tag) : object(book)
    if Int.random(in: 0..<3, using: &random) > 0 {
      trail.append("tag \(book) with \(tag)")
      set.add(member)
      current.tags.insert([book, tag])
    } else {
      trail.append("untag \(book) from \(tag)")
      set.remove(member)
      current.tags.remove([book, tag])
    }
  }

  private func changeFriends() {
    guard let a = pick(.author), let b = pick(.author) else { return }
    let friends = object(a).mutableSetValue(forKey: "friends")
    if Int.random(in: 0..<3, using: &random) > 0 {
      trail.append("friends \(a) \(b)")
      friends.add(object(b))
      current.befriend(a, b)
    } else {
      trail.append("part \(a) \(b)")
      friends.remove(object(b))
      current.part(a, b)
    }
  }

  private func placeChapter() {
    guard let chapter = pick(.chapter) else { return }
    let book = Int.random(in: 0..<4, using: &random) > 0 ? pick(.book) : nil
    if let book, Bool.random(using: &random) {
      let position = Int.random(in: 0...(current.chapters[book]?.count ?? 0), using: &random)
      trail.append("chapter \(chapter) into \(book) at \(position)")
      object(book).mutableOrderedSetValue(forKey: "chapters").insert(object(chapter), at: position)
      current.place(chapter, in: book, at: position)
    } else {
      trail.append("chapter \(chapter) to \(book.map(String.init) ?? "nil")")
      object(chapter).setValue(book.map(object), forKey: "book")
      current.place(chapter, in: book, at: nil)
    }
  }

  private func delete() {
    guard let key = current.kinds.keys.sorted().randomElement(using: &random) else { return }
    trail.append("delete \(key)")
    context.delete(object(key))
    current.delete(key)
  }

  func save() throws {
    trail.append("save")
    context.processPendingChanges()
    try context.save()
    for (key, object) in unsaved where current.kinds[key] != nil { ids[key] = object.objectID }
    unsaved = [:]
    committed = current
  }

  private func rollback() {
    trail.append("rollback")
    context.rollback()
    unsaved = [:]
    current = committed
  }

  private func refresh() {
    trail.append("refreshAll")
    context.refreshAllObjects()
  }

  private func reset() {
    trail.append("reset")
    context.reset()
    unsaved = [:]
    current = committed
  }

  // MARK: A second context

  private func isClean(_ key: Int) -> Bool { current.record(key) == committed.record(key) }

  private func mergeFromSecondContext() throws {
    let other = stack.context()
    let clean = committed.kinds.keys.sorted().filter(isClean)
    let books = clean.filter { committed.kinds[$0] == .book }
    let authors = clean.filter { committed.kinds[$0] == .author }
    let tags = clean.filter { committed.kinds[$0] == .tag }
    let choice = Int.random(in: 0..<5, using: &random)
    let book = books.randomElement(using: &random)
    let author = authors.randomElement(using: &random)
    let tag = tags.randomElement(using: &random)
    let text = newText()
    let new = nextKey
    nextKey += 1
    // The old owner changes as well, so it has to be clean too.
    let oldAuthor = book.flatMap { committed.authorOfBook[$0] }
    if choice == 1, let oldAuthor, !isClean(oldAuthor) { return }
    if choice == 2, let tag, !committed.tags.filter({ $0[1] == tag }).allSatisfy({ isClean($0[0]) })
    {
      return
    }
    trail.append(
      "other \(choice) book \(book ?? 0) author \(author ?? 0) tag \(tag ?? 0) new \(new)")
    let ids = self.ids
    var newID: ManagedObjectID?
    var changes: [(inout PlainLibrary) -> Void] = []
    try other.performAndWait {
      func there(_ key: Int) throws -> ManagedObject {
        try other.existingObject(with: try #require(ids[key]))
      }
      switch choice {
      case 0:
        guard let book else { return }
        try there(book).setValue(text, forKey: "title")
        changes.append { $0.texts[book] = text }
      case 1:
        guard let book, let author else { return }
        try there(book).setValue(try there(author), forKey: "author")
        changes.append { $0.setAuthor(author, of: book) }
      case 2:
        guard let tag else { return }
        other.delete(try there(tag))
        changes.append { $0.delete(tag) }
      case 3:
        guard let author else { return }
        let object = other.make("Book", ["title": text, "author": try there(author)])
        changes.append {
          $0.insert(new, .book)
          $0.texts[new] = text
          $0.setAuthor(author, of: new)
        }
        try other.save()
        newID = object.objectID
      default:
        guard let book, let tag else { return }
        try there(book).mutableSetValue(forKey: "tags").add(try there(tag))
        changes.append { $0.tags.insert([book, tag]) }
      }
      let recorder = NotificationRecorder(
        other, ManagedObjectContext.didSaveObjectsNotification)
      if newID == nil { try other.save() }
      if let newID {
        ManagedObjectContext.mergeChanges(
          fromRemoteContextSave: [
            "inserted_objectIDs": [newID],
            "updated_objectIDs": author.flatMap { ids[$0] }.map { [$0] } ?? [],
          ], into: [context])
      } else if let note = recorder.notifications.last {
        context.mergeChanges(fromContextDidSave: note)
      }
    }
    if let newID { self.ids[new] = newID }
    for change in changes {
      change(&committed)
      change(&current)
    }
  }

  // MARK: Comparing

  private func record(_ key: Int, _ kind: Kind) -> PlainRecord {
    let object = object(key)
    func keys(_ name: String) -> Set<Int> { Set(object.many(name).map(key(of:))) }
    switch kind {
    case .author:
      return PlainRecord(
        text: object.text("name"), sets: ["books": keys("books"), "friends": keys("friends")])
    case .book:
      let chapters = object.mutableOrderedSetValue(forKey: "chapters").members
      return PlainRecord(
        text: object.text("title"), number: object.number("pages"),
        one: object.one("author").map(key(of:)), sets: ["tags": keys("tags")],
        list: chapters.map(key(of:)))
    case .tag: return PlainRecord(text: object.text("label"), sets: ["works": keys("works")])
    case .chapter:
      return PlainRecord(text: object.text("title"), one: object.one("book").map(key(of:)))
    }
  }

  /// The differences between the context and the dictionaries.
  func differences(reading: Bool) throws -> [String] {
    var found: [String] = []
    if reading {
      for kind in Kind.allCases {
        let fetched = Set(try context.all(kind.rawValue).map(key(of:)))
        if fetched != Set(current.keys(kind)) {
          found.append("fetched \(kind) \(fetched.sorted()), not \(current.keys(kind))")
        }
      }
      for (key, kind) in current.kinds {
        let seen = record(key, kind)
        if let wanted = current.record(key), seen != wanted {
          found.append("\(kind) \(key) is \(seen), not \(wanted)")
        }
      }
    }
    let inserted = Set(context.insertedObjects.map(key(of:)))
    let deleted = Set(context.deletedObjects.map(key(of:)))
    let (now, before) = (Set(current.kinds.keys), Set(committed.kinds.keys))
    if inserted != now.subtracting(before) { found.append("inserted \(inserted.sorted())") }
    if deleted != before.subtracting(now) { found.append("deleted \(deleted.sorted())") }
    let changed = Set(now.intersection(before).filter { !isClean($0) })
    let updated = Set(
      context.updatedObjects.filter(\.hasPersistentChangedValues).map(key(of:)))
    if !updated.isSuperset(of: changed) {
      found.append("updated \(updated.sorted()) lacks some of \(changed.sorted())")
    }
    // A list put back into its old order still counts as reordered.
    let surplus = updated.subtracting(changed).filter { current.kinds[$0] != .book }
    if !surplus.isEmpty { found.append("updated without a difference: \(surplus.sorted())") }
    let ids = context.registry.objects.map(\.objectID)
    if Set(ids).count != ids.count { found.append("an ID is registered twice") }
    return found
  }

  /// What a context that knows nothing reads.
  func committedDifferences() throws -> [String] {
    let fresh = try Twin.reader(of: self)
    return try fresh.context.performAndWait { try fresh.differences(reading: true) }
  }

  private init(reading twin: Twin) {
    stack = twin.stack
    context = twin.stack.context()
    committed = twin.committed
    current = twin.committed
    ids = twin.ids
    random = twin.random
  }

  private static func reader(of twin: Twin) throws -> Twin { Twin(reading: twin) }
}

@Suite struct RandomisedTests {
  /// Ten seeds, or as many as `CAIRN_RANDOM_SEEDS` says.
  static var seeds: [UInt64] {
    let count = ProcessInfo.processInfo.environment["CAIRN_RANDOM_SEEDS"].flatMap(UInt64.init)
    return Array(1...(count ?? 10))
  }

  @Test(arguments: seeds, StoreChoice.allCases)
  func aContextAgreesWithPlainDictionariesAfterEveryStep(
    seed: UInt64, choice: StoreChoice
  ) throws {
    let twin = try Twin(seed: seed, in: choice)
    try twin.context.performAndWait {
      for step in 0..<400 {
        defer { if step == 399 { #expect(twin.current.kinds.count > 5) } }
        try twin.step()
        // Not looking leaves relationships unloaded, which is another path through the code.
        let isReading = step % 3 == 0 || twin.trail.last == "save"
        let differences = try twin.differences(reading: isReading)
        #expect(
          differences.isEmpty, "seed \(seed), step \(step), after \(twin.trail.suffix(12))")
        if !differences.isEmpty { return }
        if twin.trail.last == "save" {
          let differences = try twin.committedDifferences()
          #expect(
            differences.isEmpty,
            "seed \(seed), step \(step): stored otherwise, after \(twin.trail.suffix(12))")
          if !differences.isEmpty { return }
        }
      }
    }
  }
}
