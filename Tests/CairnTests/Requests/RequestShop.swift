// The shop that these tests ask: customers with orders, orders with lines, lines of products.

import CoreData
import TestSupport

/// A SQLite store with history, in a folder of its own.
final class RequestShop {
  let container: NSPersistentContainer
  let folder: TemporaryFolder
  var context: NSManagedObjectContext { container.viewContext }

  init(type: String = NSSQLiteStoreType) throws {
    folder = try TemporaryFolder()
    container = NSPersistentContainer(name: "Shop", managedObjectModel: Self.model(for: type))
    let description = NSPersistentStoreDescription(
      url: folder.fileURL("shop.store"))
    description.type = type
    if type == NSSQLiteStoreType {
      description.setOption(true as NSNumber, forKey: NSPersistentHistoryTrackingKey)
    }
    container.persistentStoreDescriptions = [description]
    var problem: (any Error)?
    container.loadPersistentStores { problem = problem ?? $1 }
    if let problem { throw problem }
  }

  deinit {
    for store in container.persistentStoreCoordinator.persistentStores {
      try? container.persistentStoreCoordinator.remove(store)
    }
  }

  /// Orders have a derived attribute where the type of store keeps such.
  static func model(for type: String = NSSQLiteStoreType) -> NSManagedObjectModel {
    let customer = entity("Customer")
    let order = entity("Order")
    let express = entity("ExpressOrder")
    let line = entity("Line")
    let product = entity("Product")
    let orders = toMany("orders", order, .cascadeDeleteRule)
    let ofCustomer = toOne("customer", customer)
    connect(orders, ofCustomer)
    let lines = toMany("lines", line, .cascadeDeleteRule)
    let ofOrder = toOne("order", order)
    connect(lines, ofOrder)
    let uses = toMany("uses", line, .nullifyDeleteRule)
    let ofProduct = toOne("product", product)
    connect(uses, ofProduct)
    customer.properties = [attribute("name", .stringAttributeType), orders]
    let search = NSDerivedAttributeDescription()
    search.name = "search"
    search.attributeType = .stringAttributeType
    search.isOptional = true
    search.derivationExpression = NSExpression(format: "canonical:(note)")
    let kept = attribute("number", .integer64AttributeType)
    kept.preservesValueInHistoryOnDeletion = true
    order.properties = [
      kept, attribute("note", .stringAttributeType), search,
      attribute("status", .integer16AttributeType), attribute("total", .doubleAttributeType),
      attribute("placed", .dateAttributeType), ofCustomer, lines,
    ]
    if type == NSXMLStoreType || type == NSBinaryStoreType {
      order.properties.removeAll { $0 === search }
    }
    express.properties = [attribute("fee", .decimalAttributeType)]
    order.subentities = [express]
    line.properties = [
      attribute("price", .decimalAttributeType), attribute("quantity", .integer32AttributeType),
      ofOrder, ofProduct,
    ]
    product.properties = [
      attribute("sku", .stringAttributeType), attribute("stock", .integer64AttributeType), uses,
    ]
    let model = NSManagedObjectModel()
    model.entities = [customer, order, express, line, product]
    return model
  }

  private static func entity(_ name: String) -> NSEntityDescription {
    let entity = NSEntityDescription()
    entity.name = name
    return entity
  }

  private static func attribute(_ name: String, _ type: NSAttributeType) -> NSAttributeDescription {
    let attribute = NSAttributeDescription()
    attribute.name = name
    attribute.attributeType = type
    attribute.isOptional = true
    return attribute
  }

  private static func toMany(
    _ name: String, _ destination: NSEntityDescription, _ rule: NSDeleteRule
  ) -> NSRelationshipDescription {
    let relationship = NSRelationshipDescription()
    relationship.name = name
    relationship.destinationEntity = destination
    relationship.deleteRule = rule
    return relationship
  }

  private static func toOne(
    _ name: String, _ destination: NSEntityDescription
  ) -> NSRelationshipDescription {
    let relationship = toMany(name, destination, .nullifyDeleteRule)
    relationship.maxCount = 1
    return relationship
  }

  private static func connect(_ a: NSRelationshipDescription, _ b: NSRelationshipDescription) {
    a.inverseRelationship = b
    b.inverseRelationship = a
  }

  // MARK: Content

  @discardableResult
  func insert(_ entity: String, _ values: [String: Any]) -> NSManagedObject {
    let object = NSEntityDescription.insertNewObject(forEntityName: entity, into: context)
    object.setValuesForKeys(values)
    return object
  }

  func fetch(
    _ entity: String, _ format: String = "TRUEPREDICATE", sort: String? = nil
  ) throws -> [NSManagedObject] {
    let request = NSFetchRequest<NSManagedObject>(entityName: entity)
    request.predicate = NSPredicate(format: format)
    request.sortDescriptors = sort.map { [NSSortDescriptor(key: $0, ascending: true)] }
    return try context.fetch(request)
  }

  /// One value computed over all rows of an entity.
  func aggregate(
    _ function: String, of key: String, in entity: String, type: NSAttributeType,
    where format: String = "TRUEPREDICATE"
  ) throws -> Any? {
    let column = NSExpressionDescription()
    column.name = "value"
    column.expression = NSExpression(
      forFunction: function, arguments: [NSExpression(forKeyPath: key)])
    column.expressionResultType = type
    let request = NSFetchRequest<NSDictionary>(entityName: entity)
    request.resultType = .dictionaryResultType
    request.predicate = NSPredicate(format: format)
    request.propertiesToFetch = [column]
    return try context.fetch(request).first?["value"]
  }

  func history() throws -> [NSPersistentHistoryTransaction] {
    let request = NSPersistentHistoryChangeRequest.fetchHistory(
      after: nil as NSPersistentHistoryToken?)
    let result = try context.execute(request) as? NSPersistentHistoryResult
    return result?.result as? [NSPersistentHistoryTransaction] ?? []
  }
}
