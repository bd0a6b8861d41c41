import CoreData
import Testing

/// Batch requests: what happens inside the store.
///
/// Specification: core-data-semantics 17.
@MainActor @Suite struct BatchWorkTests {
  // MARK: Insert

  @Test func aHandlerMayFetch() throws {
    let shop = try RequestShop()
    let customer = shop.insert("Customer", ["name": "Ada"])
    try shop.context.save()
    var made = 0
    let request = NSBatchInsertRequest(entityName: "Order") { (row: NSMutableDictionary) in
      if made == 2500 { return true }
      if made % 500 == 0 {
        row["note"] = (try? shop.fetch("Customer", "name == 'Ada'"))?.first?.value(forKey: "name")
      }
      row["customer"] = customer.objectID
      made += 1
      return false
    }
    try shop.context.execute(request)
    #expect(try shop.fetch("Order", "note == 'Ada' AND customer.name == 'Ada'").count == 5)
    #expect(try shop.fetch("Order", "search == 'ada'").count == 5)
  }

  @Test func aMistakeInALaterPortionInsertsNothing() throws {
    let shop = try RequestShop()
    var rows: [[String: Any]] = (0..<2500).map { ["stock": $0] }
    rows.append(["nothing": 1])
    let request = NSBatchInsertRequest(entityName: "Product", objects: rows)
    #expect(throws: (any Error).self) { _ = try shop.context.execute(request) }
    #expect(try shop.fetch("Product").isEmpty)
    #expect(try shop.history().isEmpty)
  }

  @Test func aLargeInsertIsOneTransactionOfHistory() throws {
    let shop = try RequestShop()
    let rows: [[String: Any]] = (0..<2500).map { ["stock": $0] }
    let request = NSBatchInsertRequest(entityName: "Product", objects: rows)
    request.resultType = .objectIDs
    let result = try shop.context.execute(request) as? NSBatchInsertResult
    let ids = try #require(result?.result as? [NSManagedObjectID])
    #expect(Set(ids).count == 2500)
    let history = try shop.history()
    #expect(history.map { $0.changes?.count } == [2500])
    #expect(Set(history.first?.changes?.map(\.changedObjectID) ?? []) == Set(ids))
  }

  // MARK: Update

  @Test func constantsAndComputedValuesAreWrittenAlike() throws {
    let shop = try RequestShop()
    for number in 1...4 {
      shop.insert(
        number == 4 ? "ExpressOrder" : "Order",
        ["number": number, "total": Double(number), "note": "Ün \(number)"])
    }
    try shop.context.save()
    func update(_ properties: [AnyHashable: Any], where format: String) throws -> Int? {
      let request = NSBatchUpdateRequest(entityName: "Order")
      request.predicate = NSPredicate(format: format)
      request.propertiesToUpdate = properties
      request.resultType = .updatedObjectIDsResultType
      let result = try shop.context.execute(request) as? NSBatchUpdateResult
      return (result?.result as? [NSManagedObjectID])?.count
    }
    // A constant, an expression for SQL, one that only memory knows.
    #expect(try update(["note": "ÉTÉ", "status": 7], where: "number >= 3") == 2)
    #expect(
      try update(
        [
          "total": NSExpression(format: "total * 2 + number"),
          "number": NSExpression(format: "number + 10"),
        ], where: "number <= 2") == 2)
    #expect(
      try update(
        ["note": NSExpression(format: "FUNCTION(note, 'stringByAppendingString:', '!')")],
        where: "number == 11") == 1)
    shop.context.reset()
    let orders = try shop.fetch("Order", sort: "number")
    #expect(orders.map { $0.value(forKey: "number") as? Int } == [3, 4, 11, 12])
    #expect(orders.map { $0.value(forKey: "total") as? Double } == [3, 4, 3, 6])
    #expect(orders.map { $0.value(forKey: "note") as? String } == ["ÉTÉ", "ÉTÉ", "Ün 1!", "Ün 2"])
    #expect(
      orders.map { $0.value(forKey: "search") as? String } == ["ete", "ete", "un 1!", "un 2"])
    #expect(orders.map { $0.value(forKey: "status") as? Int } == [7, 7, nil, nil])
    let changes = try shop.history().dropFirst().compactMap(\.changes).flatMap { $0 }
    #expect(changes.map(\.changeType) == [.update, .update, .update, .update, .update])
    #expect(
      changes.map { Set($0.updatedProperties?.map(\.name) ?? []) } == [
        ["note", "status"], ["note", "status"], ["total", "number"], ["total", "number"], ["note"],
      ])
    #expect(Set(changes.map(\.changedObjectID.entity.name)) == ["Order", "ExpressOrder"])
  }

  @Test func newValuesAreComputedFromTheOldOnes() throws {
    let shop = try RequestShop()
    shop.insert("Order", ["number": 1, "status": 2, "total": 0.5])
    try shop.context.save()
    let request = NSBatchUpdateRequest(entityName: "Order")
    request.propertiesToUpdate = [
      "number": NSExpression(forKeyPath: "status"), "status": NSExpression(forKeyPath: "number"),
      "total": NSExpression(format: "ternary(total < 1, nil, total)"),
    ]
    try shop.context.execute(request)
    shop.context.refreshAllObjects()
    let order = try #require(try shop.fetch("Order").first)
    #expect(order.value(forKey: "number") as? Int == 2)
    #expect(order.value(forKey: "status") as? Int == 1)
    #expect(order.value(forKey: "total") == nil)
  }

  @Test func anObjectThatWasUpdatedInABatchConflictsWithItsOldVersion() throws {
    let shop = try RequestShop()
    let order = shop.insert("Order", ["number": 1])
    try shop.context.save()
    let request = NSBatchUpdateRequest(entityName: "Order")
    request.propertiesToUpdate = ["number": 2]
    try shop.context.execute(request)
    order.setValue(3, forKey: "number")
    let error = #expect(throws: (any Error).self) { try shop.context.save() }
    #expect((error as NSError?)?.code == NSManagedObjectMergeError)
  }

  @Test func aValueOfTheWrongClassUpdatesNothing() throws {
    let shop = try RequestShop()
    shop.insert("Order", ["number": 1])
    try shop.context.save()
    for value in ["text", NSExpression(forKeyPath: "note")] as [Any] {
      let request = NSBatchUpdateRequest(entityName: "Order")
      request.propertiesToUpdate = ["note": "x", "number": value]
      if value is String {
        #expect(throws: (any Error).self) { _ = try shop.context.execute(request) }
        #expect(try shop.fetch("Order", "note == nil").count == 1)
      } else {
        try shop.context.execute(request)
        #expect(try shop.fetch("Order", "note == 'x' AND number == nil").count == 1)
      }
    }
  }

  // MARK: Delete

  @Test func aDeleteTakesItsCascadesAlongAndEmptiesWhatPointsAtThem() throws {
    let shop = try RequestShop()
    let product = shop.insert("Product", ["sku": "p"])
    for name in ["Ada", "Grace"] {
      let customer = shop.insert("Customer", ["name": name])
      for number in 1...2 {
        let order = shop.insert("Order", ["number": number, "customer": customer])
        shop.insert("Line", ["quantity": number, "order": order, "product": product])
      }
    }
    try shop.context.save()
    let fetch = NSFetchRequest<NSFetchRequestResult>(entityName: "Customer")
    fetch.predicate = NSPredicate(format: "name == 'Ada'")
    let request = NSBatchDeleteRequest(fetchRequest: fetch)
    request.resultType = .resultTypeObjectIDs
    let result = try shop.context.execute(request) as? NSBatchDeleteResult
    let ids = try #require(result?.result as? [NSManagedObjectID])
    #expect(
      Dictionary(grouping: ids, by: { $0.entity.name ?? "" }).mapValues(\.count)
        == ["Customer": 1, "Order": 2, "Line": 2])
    #expect(try shop.fetch("Order").count == 2)
    #expect(try shop.fetch("Line", "order != nil").count == 2)
    let changes = try #require(try shop.history().last?.changes)
    #expect(changes.map(\.changeType) == Array(repeating: .delete, count: 5))
    // Orders leave their numbers behind.
    let tombstones = changes.filter { $0.changedObjectID.entity.name == "Order" }
    #expect(Set(tombstones.map { $0.tombstone?["number"] as? Int }) == [1, 2])
    let all = NSBatchDeleteRequest(fetchRequest: NSFetchRequest(entityName: "Product"))
    try shop.context.execute(all)
    shop.context.reset()
    #expect(try shop.fetch("Line", "product == nil").count == 2)
  }

  @Test func limitAndOrderSayWhichRowsAreDeleted() throws {
    let shop = try RequestShop()
    for number in 1...5 { shop.insert("Order", ["number": number]) }
    try shop.context.save()
    let fetch = NSFetchRequest<NSFetchRequestResult>(entityName: "Order")
    fetch.sortDescriptors = [NSSortDescriptor(key: "number", ascending: false)]
    fetch.fetchLimit = 2
    fetch.fetchOffset = 1
    let request = NSBatchDeleteRequest(fetchRequest: fetch)
    request.resultType = .resultTypeCount
    #expect((try shop.context.execute(request) as? NSBatchDeleteResult)?.result as? Int == 2)
    shop.context.reset()
    #expect(
      try shop.fetch("Order", sort: "number").map { $0.value(forKey: "number") as? Int } == [
        1, 2, 5,
      ])
  }
}
