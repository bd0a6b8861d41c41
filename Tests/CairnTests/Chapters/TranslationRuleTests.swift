// What a SQLite store is asked beyond plain comparisons, and what it refuses, as programs see it.

import CoreData
import TestSupport
import Testing

import protocol CairnPredicates.KeyValueReading

/// Chapters 25 and 26 of the specification; SQL and memory are compared in `Predicates`.
@Suite struct TranslationRuleTests {
  /// Three clerks, two of them in the office "HQ", in a store of each built-in kind.
  private func everywhere(
    _ types: [String] = [NSSQLiteStoreType, NSInMemoryStoreType, NSBinaryStoreType],
    _ body: (NSManagedObjectContext, String) throws -> Void
  ) throws {
    try TemporaryFolder.with { folder in
      for type in types {
        let coordinator = try Company.coordinator(
          type, at: folder.appendingPathComponent("a.\(type)"))
        let context = Company.context(coordinator)
        try context.performAndWait { () throws -> Void in
          let office = Office(context: context)
          office.setValue("HQ", forKey: "name")
          for (name, age) in [("Ada", 36), ("Bob", 20), ("Cecilia", 20)] {
            let clerk = try Company.clerk(name, age: age, in: context)
            if name != "Bob" { clerk.setValue(office, forKey: "office") }
            clerk.setValue(["x", name], forKey: "tags")
          }
          try context.save()
          context.reset()
          try body(context, type)
        }
        for store in coordinator.persistentStores { try coordinator.remove(store) }
      }
    }
  }

  private func names(
    _ context: NSManagedObjectContext, _ predicate: NSPredicate?,
    by descriptors: [NSSortDescriptor] = [NSSortDescriptor(key: "name", ascending: true)],
    limit: Int = 0
  ) throws -> [String] {
    let request = NSFetchRequest<NSManagedObject>(entityName: "Clerk")
    request.predicate = predicate
    request.sortDescriptors = descriptors
    request.fetchLimit = limit
    return try context.fetch(request).compactMap { $0.value(forKey: "name") as? String }
  }

  @Test func keysOfAnAttributesValueAreReadInMemory() throws {
    try everywhere { context, type throws in
      func found(_ format: String, limit: Int = 0) throws -> [String] {
        try names(context, NSPredicate(format: format), limit: limit)
      }
      #expect(try found("name.length > 3") == ["Cecilia"], "\(type)")
      #expect(try found("name.length == 3", limit: 1) == ["Ada"])
      #expect(try found("name.length == 3 AND age < 30") == ["Bob"])
      #expect(try found("office.name.length == 2") == ["Ada", "Cecilia"])
      #expect(try found("office.name.length == nil") == ["Bob"])
      #expect(try found("name.uppercaseString == 'ADA'") == ["Ada"])
      #expect(try found("age.stringValue.length == 2 AND NOT name.length > 3") == ["Ada", "Bob"])
      let count = NSFetchRequest<NSManagedObject>(entityName: "Clerk")
      count.predicate = NSPredicate(format: "name.length == 3")
      #expect(try context.count(for: count) == 2)
      let offices = NSFetchRequest<NSManagedObject>(entityName: "Office")
      for format in [
        "ANY clerks.name.length > 3", "SUBQUERY(clerks, $c, $c.name.length > 3).@count == 1",
      ] {
        offices.predicate = NSPredicate(format: format)
        #expect(try context.count(for: offices) == 1, "\(type): \(format)")
      }
      let byLength = [
        NSSortDescriptor(key: "name.length", ascending: false),
        NSSortDescriptor(key: "name", ascending: false),
      ]
      #expect(try names(context, nil, by: byLength) == ["Cecilia", "Bob", "Ada"])
      #expect(try names(context, nil, by: byLength, limit: 2) == ["Cecilia", "Bob"])
    }
  }

  @Test(arguments: [
    ("nothing == 1", "nothing"), ("name.nothing == 1", "name.nothing"),
    ("office.nothing == 1", "office.nothing"), ("office.name.nothing == 1", "office.name.nothing"),
  ])
  func aKeyThatNobodyHasIsAnErrorInCoreDatasWords(_ format: String, _ path: String) throws {
    try everywhere { context, type throws in
      let error = Company.error { _ = try names(context, NSPredicate(format: format)) }
      #expect(error?.domain == NSCocoaErrorDomain && error?.code == NSCoreDataError)
      #expect(
        error?.localizedDescription == "keypath \(path) not found in entity Clerk", "\(type)")
    }
  }

  @Test func predicatesLookIntoTransformableValuesInMemoryOnly() throws {
    try everywhere { context, type throws in
      if type == NSSQLiteStoreType {
        let error = Company.error { _ = try names(context, NSPredicate(format: "tags.count == 2")) }
        #expect(error?.localizedDescription == "keypath tags.count not found in entity Clerk")
      } else {
        let found = try names(context, NSPredicate(format: "tags.@count == 2"))
        #expect(found == ["Ada", "Bob", "Cecilia"], "\(type)")
      }
      #expect(try names(context, NSPredicate(format: "tags != nil")).count == 3)
    }
  }

  @Test func theResultsOfAFetchCanBeOnTheRightOfIn() throws {
    try everywhere { context, type throws in
      let offices = NSFetchRequest<NSFetchRequestResult>(entityName: "Office")
      offices.predicate = NSPredicate(format: "name == 'HQ'")
      let fetch = NSFetchRequestExpression.expression(
        forFetch: NSExpression(forConstantValue: offices),
        context: NSExpression(forConstantValue: context), countOnly: false)
      let isIn = NSComparisonPredicate(
        leftExpression: NSExpression(forKeyPath: "office"), rightExpression: fetch,
        modifier: .direct, type: .in)
      #expect(try names(context, isIn) == ["Ada", "Cecilia"], "\(type)")
      let count = NSFetchRequestExpression.expression(
        forFetch: NSExpression(forConstantValue: offices),
        context: NSExpression(forConstantValue: context), countOnly: true)
      let one = NSComparisonPredicate(
        leftExpression: NSExpression(forConstantValue: 1), rightExpression: count,
        modifier: .direct, type: .equalTo)
      #expect(try names(context, one).count == 3)
    }
  }

  @Test func whatAppleRefusesIsFinishedInMemory() throws {
    try everywhere { context, type throws in
      let block = NSPredicate { object, _ in
        // What a store evaluates is read by key; it is no object of a context.
        ((object as? any KeyValueReading)?.value(forKey: "age") as? Int ?? 0) > 30
      }
      #expect(try names(context, block) == ["Ada"], "\(type)")
      let both = NSCompoundPredicate(andPredicateWithSubpredicates: [
        block, NSPredicate(format: "office != nil"),
      ])
      #expect(try names(context, both) == ["Ada"])
      for (format, expected) in [
        ("ALL office.clerks.age > 10", 3), ("{1, 2} CONTAINS 1", 3),
        ("TERNARY(age > 30, 'old', 'young') IN {'old'}", 1), ("FUNCTION(name, 'length') > 3", 1),
        ("age BETWEEN {15 + 5, 36 - 1}", 2), ("name isEqual: 'Ada'", 1),
      ] {
        #expect(try names(context, NSPredicate(format: format)).count == expected, "\(format)")
      }
    }
  }

  // MARK: 26

  @Test func nilComesFirstAndLaterDescriptorsDecideTies() throws {
    try everywhere { context, type throws in
      func sorted(_ keys: [(String, Bool)]) throws -> [String] {
        try names(context, nil, by: keys.map { NSSortDescriptor(key: $0.0, ascending: $0.1) })
      }
      #expect(
        try sorted([("office.name", true), ("name", false)]) == ["Bob", "Cecilia", "Ada"],
        "\(type)")
      #expect(try sorted([("office.name", false), ("name", true)]) == ["Ada", "Cecilia", "Bob"])
      #expect(try sorted([("age", true), ("name", false)]) == ["Cecilia", "Bob", "Ada"])
      #expect(try sorted([("age", false), ("name", true)]) == ["Ada", "Bob", "Cecilia"])
    }
  }

  @Test func theOrderOfObjectsThemselvesIsStable() throws {
    try everywhere { context, type throws in
      for key in ["self", "objectID"] {
        let order = [NSSortDescriptor(key: key, ascending: true)]
        let first = try names(context, nil, by: order)
        #expect(first.count == 3)
        #expect(try names(context, nil, by: order) == first, "\(type) \(key)")
        let back = [NSSortDescriptor(key: key, ascending: false)]
        #expect(try names(context, nil, by: back) == first.reversed(), "\(type) \(key)")
      }
    }
  }

  @Test func aSelectorThatStoresDoNotKnowIsAnError() throws {
    try everywhere([NSSQLiteStoreType]) { context, _ throws in
      let order = [NSSortDescriptor(key: "name", ascending: true, selector: "length")]
      let error = Company.error { _ = try names(context, nil, by: order) }
      #expect(error?.localizedDescription == "unsupported NSSortDescriptor selector: length")
    }
  }
}
