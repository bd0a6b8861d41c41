// What the randomised tests do, in a context and in the dictionaries alike.
import CairnModel
import CairnStore
import Foundation
import Testing

@testable import CairnContext

extension ContextTwin {
  /// Makes one random change in the active node.
  func change() {
    switch Int.random(in: 0..<86, using: &random) {
    case 0..<22: insert()
    case 22..<34: setText()
    case 34..<44: setAuthor()
    case 44..<52: changeBooks()
    case 52..<62: changeTags()
    case 62..<70: changeFriends()
    case 70..<80: placeChapter()
    default: delete()
    }
  }

  private func insert() {
    let kind = Kind.allCases.randomElement(using: &random) ?? .book
    let key = newKey()
    trail.append("insert \(kind) \(key)")
    let object = context.make(kind.rawValue)
    learn(object, key)
    current.insert(key, kind)
    if kind == .tag {
      current.texts[key] = newText()
      object.setValue(current.texts[key], forKey: "label")
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

  // MARK: A second context

  /// Whether the active node has no change of the object.
  func isSaved(_ key: Int) -> Bool { current.record(key) == committed.record(key) }

  func mergeFromSecondContext() throws {
    let other = stack.context()
    let clean = committed.kinds.keys.sorted().filter(isSaved)
    let books = clean.filter { committed.kinds[$0] == .book }
    let authors = clean.filter { committed.kinds[$0] == .author }
    let tags = clean.filter { committed.kinds[$0] == .tag }
    let choice = Int.random(in: 0..<5, using: &random)
    let book = books.randomElement(using: &random)
    let author = authors.randomElement(using: &random)
    let tag = tags.randomElement(using: &random)
    let text = newText()
    let new = newKey()
    // The old owner changes as well, so it has to be clean too.
    let oldAuthor = book.flatMap { committed.authorOfBook[$0] }
    if choice == 1, let oldAuthor, !isSaved(oldAuthor) { return }
    if choice == 2, let tag, !committed.tags.filter({ $0[1] == tag }).allSatisfy({ isSaved($0[0]) })
    {
      return
    }
    trail.append(
      "other \(choice) book \(book ?? 0) author \(author ?? 0) tag \(tag ?? 0) new \(new)")
    var newID: ManagedObjectID?
    var changes: [(inout PlainLibrary) -> Void] = []
    try other.performAndWait {
      func there(_ key: Int) throws -> ManagedObject {
        try other.existingObject(with: try #require(newest(key)))
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
            "updated_objectIDs": author.flatMap(newest).map { [$0] } ?? [],
          ], into: [context])
      } else if let note = recorder.notifications.last {
        context.mergeChanges(fromContextDidSave: note)
      }
    }
    if let newID { learn(newID, new) }
    merged(changes)
  }
}
