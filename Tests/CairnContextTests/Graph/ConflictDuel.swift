// Two contexts that change one library at the same time, at random.
import CairnModel
import CairnStore
import Foundation

@testable import CairnContext

/// One context saves first; the other one meets what it did, and its merge policy decides.
///
/// In a tree the other one is the parent, which only changes its objects.
final class ConflictDuel {
  let stack: Stack
  let mine: ManagedObjectContext
  private let parent: ManagedObjectContext?
  private var random: SeededGenerator
  private(set) var trail: [String] = []
  private var nextText = 0
  /// How many saves met conflicts that were resolved.
  private(set) var resolved = 0
  private(set) var refused = 0

  init(
    seed: UInt64, policy: MergePolicyType, in choice: StoreChoice, isTree: Bool = false
  ) throws {
    stack = try Stack(in: choice)
    if isTree {
      parent = stack.context()
      mine = ManagedObjectContext(.privateQueue)
      mine.parent = parent
      mine.mergePolicy = Counting(merge: policy)
    } else {
      parent = nil
      mine = stack.context(policy: Counting(merge: policy))
    }
    random = SeededGenerator(seed: seed)
    try stack.use { context in
      for _ in 0..<30 { try change(context) }
      try context.save()
    }
    trail = []
  }

  /// A policy that knows whether it was asked.
  final class Counting: MergePolicy, @unchecked Sendable {
    var count = 0
    override func resolve(mergeConflicts list: [Any]) throws {
      count += 1
      try super.resolve(mergeConflicts: list)
    }
  }

  // MARK: Changes

  private func text() -> String {
    nextText += 1
    return "t\(nextText)"
  }

  private static let keys = [
    "Author": "name", "Book": "title", "Tag": "label", "Chapter": "title", "Passport": "number",
  ]

  private func pick(_ entity: String, _ context: ManagedObjectContext) throws -> ManagedObject? {
    try context.all(entity, sortedBy: Self.keys[entity] ?? "").randomElement(using: &random)
  }

  private func note(_ what: String, _ objects: ManagedObject?...) {
    let names = objects.map { object -> String in
      guard let object, let key = Self.keys[object.entity.name ?? ""] else { return "nil" }
      return "\(object.entity.name ?? "") \(object.value(forKey: key) ?? "")"
    }
    trail.append("\(what) \(names)")
  }

  func change(_ context: ManagedObjectContext) throws {
    switch Int.random(in: 0..<100, using: &random) {
    case 0..<20:
      let entity = Self.keys.keys.sorted().randomElement(using: &random) ?? "Book"
      let value: Any = entity == "Passport" ? Int(text().dropFirst()) ?? 0 : text()
      note("insert", context.make(entity, [Self.keys[entity] ?? "": value]))
    case 20..<35:
      guard let book = try pick("Book", context) else { return }
      let new = text()
      note("title \(new) of", book)
      book.setValue(new, forKey: "title")
    case 35..<42:
      guard let author = try pick("Author", context) else { return }
      let new = text()
      note("name \(new) of", author)
      author.setValue(new, forKey: "name")
    case 42..<55:
      guard let book = try pick("Book", context) else { return }
      let author = Int.random(in: 0..<4, using: &random) > 0 ? try pick("Author", context) : nil
      note("author", book, author)
      book.setValue(author, forKey: "author")
    case 55..<62:
      guard let author = try pick("Author", context) else { return }
      let passport = Bool.random(using: &random) ? try pick("Passport", context) : nil
      note("passport", author, passport)
      author.setValue(passport, forKey: "passport")
    case 62..<72:
      guard let book = try pick("Book", context), let tag = try pick("Tag", context) else { return }
      try link(book, "tags", tag)
    case 72..<79:
      guard let a = try pick("Author", context), let b = try pick("Author", context) else { return }
      try link(a, "friends", b)
    case 79..<90:
      guard let chapter = try pick("Chapter", context), let book = try pick("Book", context)
      else { return }
      let list = book.mutableOrderedSetValue(forKey: "chapters")
      note("chapter", book, chapter)
      list.insert(chapter, at: Int.random(in: 0...list.count, using: &random))
    default:
      let entity = Self.keys.keys.sorted().randomElement(using: &random) ?? "Book"
      guard let object = try pick(entity, context) else { return }
      // Deny would refuse the whole save.
      if entity == "Author", object.one("passport") != nil { return }
      note("delete", object)
      context.delete(object)
    }
    context.processPendingChanges()
  }

  private func link(_ object: ManagedObject, _ key: String, _ member: ManagedObject) throws {
    let set = object.mutableSetValue(forKey: key)
    if Int.random(in: 0..<3, using: &random) > 0 {
      note("add to \(key)", object, member)
      set.add(member)
    } else {
      note("remove from \(key)", object, member)
      set.remove(member)
    }
  }

  // MARK: A round

  /// Both change something, the other one saves first.
  ///
  /// - Returns: What is wrong afterwards.
  func round() throws -> [String] {
    try mine.performAndWait {
      trail.append("-- mine")
      for _ in 0..<Int.random(in: 1...6, using: &random) { try change(mine) }
      if let parent {
        try parent.performAndWait { try changeThere(parent) }
      } else {
        try stack.use { other in
          try changeThere(other)
          try saveUnlessDenied(other)
        }
      }
      return try save()
    }
  }

  private func changeThere(_ other: ManagedObjectContext) throws {
    trail.append("-- theirs")
    for _ in 0..<Int.random(in: 1...6, using: &random) { try change(other) }
  }

  private func saveUnlessDenied(_ context: ManagedObjectContext) throws {
    do {
      try context.save()
    } catch let error as CoreDataError
      where error.code == .validationRelationshipDeniedDelete
      || error.code == .validationMultipleErrors
    {
      trail.append("denied")
      context.rollback()
    }
  }

  private func save() throws -> [String] {
    let policy = mine.mergePolicy as? Counting
    let before = policy?.count ?? 0
    do {
      try mine.save()
      if policy?.count != before { resolved += 1 }
      trail.append("saved")
    } catch let error as CoreDataError {
      trail.append("refused \(error.code.rawValue)")
      let isExpected =
        error.code == .validationRelationshipDeniedDelete
        || error.code == .validationMultipleErrors
        || policy?.mergeType == .errorMergePolicyType && error.code == .managedObjectMerge
      if !isExpected { return ["\(error)"] }
      refused += 1
      if !mine.hasChanges { return ["a refused save lost its changes"] }
      mine.rollback()
    }
    var found = mine.hasChanges ? ["changes are left: \(leftovers())"] : []
    let ids = mine.registry.objects.map(\.objectID)
    if Set(ids).count != ids.count { found.append("an ID is registered twice") }
    if let parent {
      try parent.performAndWait {
        _ = try picture(parent, &found)
        try saveUnlessDenied(parent)
      }
      // A rollback up there takes objects along that are known here.
      if trail.last == "denied" { mine.reset() }
    }
    mine.refreshAllObjects()
    let here = try picture(mine, &found)
    let there = try stack.use { try picture($0, &found) }
    if here != there {
      let difference = zip(here, there).filter { $0 != $1 }.map { "\($0) stored as \($1)" }
      found.append("\(difference.isEmpty ? ["\(here.count) of \(there.count)"] : difference)")
    }
    return found
  }

  private func leftovers() -> [String] {
    mine.pending.objects.map {
      "\($0.entity.name ?? "") \($0.changedValues().keys.sorted()) \($0.isDeleted)"
    }
  }

  // MARK: Pictures

  private static let links: [(entity: String, key: String, other: String)] = [
    ("Author", "books", "author"), ("Author", "passport", "owner"),
    ("Author", "friends", "friends"), ("Book", "author", "books"), ("Book", "tags", "works"),
    ("Book", "chapters", "book"), ("Tag", "works", "tags"), ("Chapter", "book", "chapters"),
    ("Passport", "owner", "passport"),
  ]

  private func members(_ object: ManagedObject, _ key: String) -> [ManagedObject] {
    switch object.value(forKey: key) {
    case let one as ManagedObject: return [one]
    case let set as Set<ManagedObject>: return Array(set)
    case let ordered as NSOrderedSet: return ordered.array.compactMap { $0 as? ManagedObject }
    default: return []
    }
  }

  /// Every object with its values and relationships; what disagrees is added to `found`.
  private func picture(
    _ context: ManagedObjectContext, _ found: inout [String]
  ) throws -> [String] {
    var lines: [String] = []
    for (entity, key) in Self.keys.sorted(by: { $0.key < $1.key }) {
      for object in try context.all(entity, sortedBy: key) {
        var line = "\(object.objectID.uriRepresentation().path) \(object.value(forKey: key) ?? "")"
        for link in Self.links where link.entity == entity {
          let others = members(object, link.key)
          let names = others.map { $0.objectID.uriRepresentation().path }
          line += " \(link.key) \(link.key == "chapters" ? names : names.sorted())"
          for other in others where !members(other, link.other).contains(object) {
            found.append("\(line): \(link.other) of \(other.objectID) disagrees")
          }
          for other in others where other.isDeleted { found.append("\(line) dangles") }
        }
        lines.append(line)
      }
    }
    return lines
  }
}
