// The library as plain dictionaries: what a context must look like from outside, without any of
// its machinery. The randomised test does everything here and there and compares.

/// A repeatable source of random numbers.
struct SeededGenerator: RandomNumberGenerator {
  private var state: UInt64
  init(seed: UInt64) { state = seed }
  mutating func next() -> UInt64 {
    state &+= 0x9E37_79B9_7F4A_7C15
    var z = state
    z = (z ^ (z >> 30)) &* 0xBF58_476D_1CE4_E5B9
    z = (z ^ (z >> 27)) &* 0x94D0_49BB_1331_11EB
    return z ^ (z >> 31)
  }
}

enum Kind: String, CaseIterable {
  case author = "Author"
  case book = "Book"
  case tag = "Tag"
  case chapter = "Chapter"
}

/// One object as seen from outside; links of both directions.
struct PlainRecord: Equatable, CustomStringConvertible {
  var text: String?
  var number: Int?
  var one: Int?
  var sets: [String: Set<Int>] = [:]
  var list: [Int] = []

  var description: String {
    "(\(text ?? "nil") \(number.map(String.init) ?? "-") one \(one.map(String.init) ?? "-") "
      + "\(sets.sorted { $0.key < $1.key }.map { "\($0.key): \($0.value.sorted())" }) \(list))"
  }
}

/// The state of a library; every link is stored once.
struct PlainLibrary: Equatable {
  var kinds: [Int: Kind] = [:]
  var texts: [Int: String] = [:]
  var pages: [Int: Int] = [:]
  var authorOfBook: [Int: Int] = [:]
  var bookOfChapter: [Int: Int] = [:]
  var chapters: [Int: [Int]] = [:]
  /// Pairs book, tag.
  var tags: Set<[Int]> = []
  /// Pairs with the smaller key first; an author can be a friend of itself.
  var friends: Set<[Int]> = []

  func keys(_ kind: Kind) -> [Int] {
    kinds.filter { $0.value == kind }.map(\.key).sorted()
  }

  mutating func insert(_ key: Int, _ kind: Kind) {
    kinds[key] = kind
    if kind == .author { texts[key] = "Anonymous" }
    if kind == .book { pages[key] = 1 }
  }

  mutating func setAuthor(_ author: Int?, of book: Int) { authorOfBook[book] = author }

  mutating func place(_ chapter: Int, in book: Int?, at position: Int?) {
    if let old = bookOfChapter[chapter] {
      if old == book { return }
      chapters[old]?.removeAll { $0 == chapter }
    }
    bookOfChapter[chapter] = book
    guard let book else { return }
    let list = chapters[book] ?? []
    let place = min(position ?? list.count, list.count)
    chapters[book, default: []].insert(chapter, at: place)
  }

  mutating func befriend(_ a: Int, _ b: Int) { friends.insert([min(a, b), max(a, b)]) }
  mutating func part(_ a: Int, _ b: Int) { friends.remove([min(a, b), max(a, b)]) }

  /// Follows the delete rules of the sample model.
  mutating func delete(_ key: Int) {
    guard let kind = kinds.removeValue(forKey: key) else { return }
    switch kind {
    case .author:
      friends = friends.filter { !$0.contains(key) }
      for (book, author) in authorOfBook where author == key { delete(book) }
    case .book:
      tags = tags.filter { $0[0] != key }
      authorOfBook[key] = nil
      for chapter in chapters[key] ?? [] { delete(chapter) }
      chapters[key] = nil
    case .tag: tags = tags.filter { $0[1] != key }
    case .chapter:
      if let book = bookOfChapter.removeValue(forKey: key) {
        chapters[book]?.removeAll { $0 == key }
      }
    }
    texts[key] = nil
    pages[key] = nil
  }

  func record(_ key: Int) -> PlainRecord? {
    guard let kind = kinds[key] else { return nil }
    var record = PlainRecord(text: texts[key])
    switch kind {
    case .author:
      record.sets["books"] = Set(authorOfBook.filter { $0.value == key }.keys)
      record.sets["friends"] = Set(
        friends.filter { $0.contains(key) }.map { $0[0] == key ? $0[1] : $0[0] })
    case .book:
      record.number = pages[key]
      record.one = authorOfBook[key]
      record.sets["tags"] = Set(tags.filter { $0[0] == key }.map { $0[1] })
      record.list = chapters[key] ?? []
    case .tag: record.sets["works"] = Set(tags.filter { $0[1] == key }.map { $0[0] })
    case .chapter: record.one = bookOfChapter[key]
    }
    return record
  }
}
