// The same random fetch over SQLite, the store in memory and plain Swift, with unsaved changes.
import CairnContext
import CairnModel
import CairnPredicates
import CairnStore
import Foundation
import Testing

/// A work as plain Swift has it.
private struct PlainWork: Equatable {
  var key: Int
  var entity: String
  var title: String?
  var pages: Int
  var isRead: Bool
  /// The author's name; the outer nil is no author.
  var author: String??

  var authorName: String? { author ?? nil }
}

/// A condition in both languages.
private struct PlainCondition {
  let predicate: ObjectPredicate
  let holds: (PlainWork) -> Bool
}

/// One random request in both languages.
private struct PlainFetch {
  var entity: String
  var includesSubentities: Bool
  var condition: PlainCondition?
  var sorting: [(key: String, ascending: Bool)]
  var offset: Int
  var limit: Int

  func includes(_ work: PlainWork) -> Bool {
    let fits = entity == work.entity || (entity == "Work" && includesSubentities)
    return fits && (condition?.holds(work) ?? true)
  }

  /// The matches in order, without limit.
  func matches(in works: [PlainWork]) -> [PlainWork] {
    works.filter(includes).sorted { a, b in
      for (key, ascending) in sorting {
        let order = Self.order(a, b, key)
        if order != 0 { return ascending ? order < 0 : order > 0 }
      }
      return false
    }
  }

  private static func order(_ a: PlainWork, _ b: PlainWork, _ key: String) -> Int {
    func compare<T: Comparable>(_ a: T?, _ b: T?) -> Int {
      switch (a, b) {
      case (nil, nil): return 0
      case (nil, _?): return -1
      case (_?, nil): return 1
      case (let a?, let b?): return a < b ? -1 : (a == b ? 0 : 1)
      }
    }
    switch key {
    case "title": return compare(a.title, b.title)
    case "pages": return compare(a.pages, b.pages)
    case "number": return compare(a.key, b.key)
    default: return compare(a.authorName, b.authorName)
    }
  }

  func window<T>(_ list: [T]) -> [T] {
    let rest = list.dropFirst(offset)
    return Array(limit > 0 ? rest.prefix(limit) : rest)
  }

  func apply(to request: AnyFetchRequest) {
    request.includesSubentities = includesSubentities
    request.predicate = condition?.predicate
    request.sortDescriptors = sorting.map {
      ObjectSortDescriptor(
        key: $0.key == "number" ? "price" : $0.key, ascending: $0.ascending)
    }
    (request.fetchOffset, request.fetchLimit) = (offset, limit)
  }

  var text: String {
    "\(entity) subentities=\(includesSubentities) \(condition?.predicate.predicateFormat ?? "all") "
      + "by \(sorting.map { "\($0.key)\($0.ascending ? "+" : "-")" }) \(offset)/\(limit)"
  }
}

/// Makes conditions and fetches.
private struct FetchMaker {
  var random: SeededGenerator
  static let titles = ["a", "B", "c", "ä", "ab", "cab", "", "Zed", "zed", "c"]
  static let names = ["Ann", "Bob", "cyd"]

  mutating func pick<T>(_ list: [T]) -> T { list[Int.random(in: 0..<list.count, using: &random)] }
  mutating func chance(_ percent: Int) -> Bool { Int.random(in: 0..<100, using: &random) < percent }

  mutating func condition(depth: Int = 2) -> PlainCondition {
    if depth > 0, chance(45) {
      let (a, b) = (condition(depth: depth - 1), condition(depth: depth - 1))
      switch Int.random(in: 0..<3, using: &random) {
      case 0:
        return PlainCondition(
          predicate: CompoundPredicate(andPredicateWithSubpredicates: [a.predicate, b.predicate])
        ) { a.holds($0) && b.holds($0) }
      case 1:
        return PlainCondition(
          predicate: CompoundPredicate(orPredicateWithSubpredicates: [a.predicate, b.predicate])
        ) { a.holds($0) || b.holds($0) }
      default:
        return PlainCondition(
          predicate: CompoundPredicate(notPredicateWithSubpredicate: a.predicate)
        ) { !a.holds($0) }
      }
    }
    return simple()
  }

  private mutating func simple() -> PlainCondition {
    let (title, number, name) = (
      pick(Self.titles), Int.random(in: 0..<9, using: &random), pick(Self.names)
    )
    func make(
      _ format: String, _ arguments: [Any], _ holds: @escaping (PlainWork) -> Bool
    ) -> PlainCondition {
      PlainCondition(
        predicate: ObjectPredicate(format: format, argumentArray: arguments), holds: holds)
    }
    switch Int.random(in: 0..<15, using: &random) {
    case 0: return make("title == %@", [title]) { $0.title == title }
    case 1: return make("title != %@", [title]) { $0.title != title }
    case 2: return make("title == nil", []) { $0.title == nil }
    case 3:
      return make("title ==[c] %@", [title]) { $0.title?.lowercased() == title.lowercased() }
    case 4: return make("title BEGINSWITH %@", [title]) { ($0.title?.hasPrefix(title)) == true }
    case 5: return make("pages < %@", [number]) { $0.pages < number }
    case 6: return make("pages >= %@", [number]) { $0.pages >= number }
    case 7: return make("pages BETWEEN {2, %@}", [number]) { $0.pages >= 2 && $0.pages <= number }
    case 8:
      return make("pages IN %@", [[number, 3, 5]]) { [number, 3, 5].contains($0.pages) }
    case 9: return make("isRead == YES", []) { $0.isRead }
    case 10: return make("author.name == %@", [name]) { $0.authorName == name }
    case 11: return make("author == nil", []) { $0.author == nil }
    case 12: return make("title < %@", [title]) { $0.title.map { $0 < title } ?? false }
    case 13: return make("pages + 1 > %@", [number]) { $0.pages + 1 > number }
    // What SQL cannot say.
    default:
      return PlainCondition(
        predicate: ObjectPredicate { object, _ in
          guard let object = object as? any KeyValueReading else { return false }
          return ((object.value(forKey: "pages") as? NSNumber)?.intValue ?? 0) % 2 == 0
        }
      ) { $0.pages % 2 == 0 }
    }
  }

  mutating func fetch() -> PlainFetch {
    var sorting: [(String, Bool)] = []
    for key in ["title", "pages", "author.name"] where chance(35) {
      sorting.append((key, chance(50)))
    }
    // A last key that tells all works apart makes the order complete.
    sorting.append(("number", chance(50)))
    return PlainFetch(
      entity: pick(["Work", "Work", "Book", "Essay"]), includesSubentities: chance(80),
      condition: chance(85) ? condition() : nil, sorting: sorting,
      offset: chance(30) ? Int.random(in: 0..<6, using: &random) : 0,
      limit: chance(40) ? Int.random(in: 1..<12, using: &random) : 0)
  }
}

/// Core Data semantics, 16.2 to 16.4 and 25: every store gives the rows that plain Swift finds.
@Suite struct RandomisedFetchTests {
  private final class World {
    let stack: Stack
    let context: ManagedObjectContext
    var objects: [Int: ManagedObject] = [:]
    var authors: [String: ManagedObject] = [:]

    init(_ choice: StoreChoice) throws {
      stack = try Stack(in: choice)
      context = stack.context()
    }
  }

  @Test(arguments: [
    UInt64(1), 2,
    ProcessInfo.processInfo.environment["CAIRN_TEST_SEED"].flatMap { UInt64($0) }
      ?? UInt64.random(in: 3 ... .max),
  ])
  func everyStoreAgreesWithPlainSwift(seed: UInt64) throws {
    var maker = FetchMaker(random: SeededGenerator(seed: seed))
    print("seed \(seed)")
    let worlds = try StoreChoice.allCases.map(World.init)
    var committed: [PlainWork] = []
    var current: [PlainWork] = []
    var nextKey = 0
    for world in worlds {
      try world.context.performAndWait {
        for name in FetchMaker.names {
          let author = world.context.make("Author")
          author.setPrimitiveValue(name, forKey: "name")
          world.authors[name] = author
        }
        try world.context.save()
      }
    }
    for round in 0..<9 {
      for _ in 0..<12 { change(&current, &nextKey, &maker, worlds) }
      if round % 3 == 0 {
        for world in worlds { try world.context.performAndWait { try world.context.save() } }
        committed = current
      }
      for _ in 0..<10 {
        let fetch = maker.fetch()
        let batchSize = maker.chance(30) ? Int.random(in: 1..<9, using: &maker.random) : 0
        let asked = "seed \(seed), round \(round), batch \(batchSize): \(fetch.text)"
        for world in worlds {
          try world.context.performAndWait {
            try compare(fetch, batchSize, world, current: current, committed: committed, asked)
          }
        }
      }
    }
  }

  /// One random change in plain Swift and in every context.
  private func change(
    _ works: inout [PlainWork], _ nextKey: inout Int, _ maker: inout FetchMaker, _ worlds: [World]
  ) {
    let title: String? = maker.chance(15) ? nil : maker.pick(FetchMaker.titles)
    let pages = Int.random(in: 1..<9, using: &maker.random)
    let name: String? = maker.chance(25) ? nil : maker.pick(FetchMaker.names)
    let entity = maker.pick(["Book", "Essay"])
    let action = Int.random(in: 0..<10, using: &maker.random)
    let place = works.isEmpty ? nil : Int.random(in: 0..<works.count, using: &maker.random)
    if action < 6 || place == nil {
      let work = PlainWork(
        key: nextKey, entity: entity, title: title, pages: pages, isRead: pages > 4,
        author: name.map { .some($0) })
      nextKey += 1
      works.append(work)
      for world in worlds {
        world.context.performAndWait {
          world.objects[work.key] = world.context.make(
            entity,
            [
              "title": title, "pages": pages, "isRead": pages > 4,
              "price": Decimal(work.key), "author": name.flatMap { world.authors[$0] },
            ])
        }
      }
    } else if let place, action < 9 {
      (works[place].title, works[place].pages) = (title, pages)
      works[place].author = name.map { .some($0) }
      for world in worlds {
        world.context.performAndWait {
          let object = world.objects[works[place].key]
          object?.setValue(title, forKey: "title")
          object?.setValue(pages, forKey: "pages")
          object?.setValue(name.flatMap { world.authors[$0] }, forKey: "author")
        }
      }
    } else if let place {
      let gone = works.remove(at: place)
      for world in worlds {
        world.context.performAndWait {
          if let object = world.objects.removeValue(forKey: gone.key) {
            world.context.delete(object)
          }
        }
      }
    }
  }

  private func compare(
    _ fetch: PlainFetch, _ batchSize: Int, _ world: World, current: [PlainWork],
    committed: [PlainWork], _ asked: String
  ) throws {
    func key(_ object: ManagedObject) -> Int {
      (object.value(forKey: "price") as? NSDecimalNumber)?.intValue ?? -1
    }
    let matches = fetch.matches(in: current)
    let expected = fetch.window(matches).map(\.key)
    let request = FetchRequest<ManagedObject>(entityName: fetch.entity)
    fetch.apply(to: request)
    request.fetchBatchSize = batchSize
    let found = try world.context.fetch(request)
    #expect(found.map(key) == expected, "objects: \(asked)")
    try expect(world.context.count(for: request), is: expected.count, "count: \(asked)")
    let ids = FetchRequest<ManagedObjectID>(entityName: fetch.entity)
    fetch.apply(to: ids)
    ids.resultType = .managedObjectIDResultType
    try expect(
      world.context.fetch(ids).map { key(world.context.object(with: $0)) }, is: expected,
      "IDs: \(asked)")
    try compareDictionaries(fetch, world, committed, asked)
  }

  /// Dictionaries show what is committed: rows, distinct titles, and groups.
  private func compareDictionaries(
    _ fetch: PlainFetch, _ world: World, _ committed: [PlainWork], _ asked: String
  ) throws {
    let matches = fetch.matches(in: committed)
    let request = FetchRequest<NSDictionary>(entityName: fetch.entity)
    fetch.apply(to: request)
    request.resultType = .dictionaryResultType
    request.propertiesToFetch = ["title", "pages", "author.name"]
    func line(_ row: NSDictionary, _ keys: String...) -> String {
      keys.map { key in row[key].map { "\($0)" } ?? "nil" }.joined(separator: "|")
    }
    try expect(
      world.context.fetch(request).map { line($0, "title", "pages", "author.name") },
      is: fetch.window(matches).map {
        "\($0.title ?? "nil")|\($0.pages)|\($0.authorName ?? "nil")"
      }, "dictionaries: \(asked)")
    request.propertiesToFetch = ["title"]
    request.returnsDistinctResults = true
    request.sortDescriptors = [ObjectSortDescriptor(key: "title", ascending: true)]
    let titles = Set(matches.map(\.title)).sorted {
      ($0 ?? "", $0 == nil ? 0 : 1) < ($1 ?? "", $1 == nil ? 0 : 1)
    }
    try expect(
      world.context.fetch(request).map { line($0, "title") },
      is: fetch.window(titles).map { $0 ?? "nil" }, "distinct: \(asked)")
    let (count, sum) = (ExpressionDescription(), ExpressionDescription())
    (count.name, sum.name) = ("n", "sum")
    count.expression = ObjectExpression(format: "count:(pages)")
    sum.expression = ObjectExpression(format: "sum:(pages)")
    (count.expressionResultType, sum.expressionResultType) = (.integer64, .integer64)
    request.returnsDistinctResults = false
    request.propertiesToFetch = ["title", count, sum]
    request.propertiesToGroupBy = ["title"]
    let groups = Dictionary(grouping: matches, by: \.title)
    try expect(
      world.context.fetch(request).map { line($0, "title", "n", "sum") },
      is: fetch.window(titles).map { title in
        let group = groups[title] ?? []
        return "\(title ?? "nil")|\(group.count)|\(group.reduce(0) { $0 + $1.pages })"
      }, "groups: \(asked)")
  }
}
