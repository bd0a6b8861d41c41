// Chapter 17: rows that handlers make wait for the store without filling the memory.
import CairnModel
import CairnStore
import Foundation
import Testing

@testable import CairnContext

/// Core Data semantics, 17: batch insert with a handler.
@Suite struct RowSpoolTests {
  /// An entity with an attribute of every kind.
  private func entity() throws -> EntityDescription {
    let kinds: [AttributeType] = [
      .boolean, .integer64, .float, .double, .decimal, .string, .date, .binaryData, .uuid, .uri,
    ]
    let entity = EntityDescription(name: "Thing")
    entity.properties = kinds.map {
      AttributeDescription(name: "a\($0.rawValue)", type: $0, isOptional: true)
    }
    let model = ManagedObjectModel()
    model.entities = [entity]
    try model.prepareForUse()
    return entity
  }

  private func value(_ name: String, _ number: Int) -> AttributeValue {
    let text = "ü\(number) \u{0} \u{1F4DA}"
    switch name {
    case "a\(AttributeType.boolean.rawValue)": return .boolean(number % 2 == 0)
    case "a\(AttributeType.integer64.rawValue)": return .integer(number == 1 ? .min : Int64(number))
    case "a\(AttributeType.float.rawValue)": return .float(number == 2 ? -.infinity : 0.1)
    case "a\(AttributeType.double.rawValue)": return .double(Double(number) / 3)
    case "a\(AttributeType.decimal.rawValue)":
      return .decimal(Decimal(string: "-1234567890123456789012345678.\(number)") ?? 0)
    case "a\(AttributeType.string.rawValue)": return .string(number == 3 ? "" : text)
    case "a\(AttributeType.date.rawValue)":
      return .date(Date(timeIntervalSinceReferenceDate: Double(number) * 1.7))
    case "a\(AttributeType.binaryData.rawValue)": return .data(Data(text.utf8))
    case "a\(AttributeType.uuid.rawValue)": return .uuid(UUID())
    default: return URL(string: "https://example.org/\(number)?q=1").map { .url($0) } ?? .null
    }
  }

  @Test(arguments: [1, 20_000, Int.max])
  func rowsComeOutAsTheyWentIn(memoryLimit: Int) throws {
    let entity = try entity()
    let names = entity.layout.slots.map(\.name)
    let rows = (0..<250).map { number -> RowSpool.Row in
      var row: RowSpool.Row = [:]
      for (index, name) in names.enumerated() where (number + index) % 5 > 0 {
        row[name] = index == number % 10 ? .null : value(name, number)
      }
      return number == 100 ? [:] : row
    }
    let spool = RowSpool(layout: entity.layout, portion: 30, memoryLimit: memoryLimit)
    for row in rows { try spool.append(row) }
    #expect(spool.usesFile == (memoryLimit < Int.max))
    var found: [RowSpool.Row] = []
    while let portion = try spool.take() {
      #expect(!portion.isEmpty && portion.count <= 30)
      found += portion
    }
    #expect(found == rows)
    #expect(try spool.take() == nil)
  }

  @Test func objectIDsComeOutAsTheSameIDs() throws {
    let stack = try Stack()
    try stack.use { context in
      let authors = (0..<2).map { _ in context.make("Author") }
      try context.save()
      let layout = try #require(
        stack.coordinator.managedObjectModel.entitiesByName["Book"]?.layout)
      let spool = RowSpool(layout: layout, portion: 2, memoryLimit: 1)
      for author in authors + authors {
        try spool.append(["author": .object(author.objectID), "nothing": .integer(1)])
      }
      var found: [RowSpool.Row] = []
      while let rows = try spool.take() { found += rows }
      #expect(found == (authors + authors).map { ["author": .object($0.objectID)] })
    }
  }

  @Test func aLargeImportGoesThroughAFileIntoOneTransaction() throws {
    let stack = try CountingStack(history: true)
    try stack.use { context in
      var number = 0
      let text = String(repeating: "x", count: 1 << 20)
      let request = BatchInsertRequest(entityName: "Book") { (row: NSMutableDictionary) -> Bool in
        row["title"] = "\(number) \(text)"
        row["pages"] = number
        number += 1
        return number > 40
      }
      request.resultType = .count
      let result = try context.execute(request) as? BatchInsertResult
      #expect(result?.result as? Int == 40)
      let books = try context.all("Book", sortedBy: "pages")
      #expect(books.map { $0.number("pages") } == (0..<40).map { $0 })
      #expect(books.last?.text("title")?.count == (1 << 20) + 3)
      let history = PersistentHistoryChangeRequest.fetchHistory(after: Date.distantPast)
      let transactions = try context.execute(history) as? PersistentHistoryResult
      #expect((transactions?.result as? [PersistentHistoryTransaction])?.count == 1)
    }
  }

  @Test func aHandlerMaySaveToTheSameStore() throws {
    let stack = try CountingStack()
    try stack.use { context in
      var number = 0
      let request = BatchInsertRequest(entityName: "Book") { (row: NSMutableDictionary) -> Bool in
        number += 1
        if number == 2 {
          context.make("Tag", ["label": "saved by the handler"])
          do { try context.save() } catch { Issue.record(error) }
        }
        return number > 3
      }
      try context.execute(request)
      let counts = try ["Book", "Tag"].map {
        try context.count(for: FetchRequest<ManagedObject>(entityName: $0))
      }
      #expect(counts == [3, 1])
    }
  }
}
