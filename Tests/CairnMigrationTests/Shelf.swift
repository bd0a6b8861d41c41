// Two versions of a model, and stores of them, for the tests of migration.

import Cairn
import Foundation
import Testing

enum Shelf {
  static func attribute(
    _ name: String, _ type: AttributeType, optional: Bool = true, _ value: Any? = nil
  ) -> AttributeDescription {
    let attribute = AttributeDescription()
    attribute.name = name
    attribute.attributeType = type
    attribute.isOptional = optional
    attribute.defaultValue = value
    return attribute
  }

  static func relate(
    _ one: EntityDescription, _ name: String, toMany: Bool, _ other: EntityDescription,
    _ inverse: String, inverseToMany: Bool
  ) {
    func make(_ name: String, _ destination: EntityDescription, _ toMany: Bool)
      -> RelationshipDescription
    {
      let relationship = RelationshipDescription()
      relationship.name = name
      relationship.destinationEntity = destination
      relationship.minCount = 0
      relationship.maxCount = toMany ? 0 : 1
      return relationship
    }
    let there = make(name, other, toMany)
    let back = make(inverse, one, inverseToMany)
    there.inverseRelationship = back
    back.inverseRelationship = there
    one.properties.append(there)
    other.properties.append(back)
  }

  /// Migrates a store object by object, by the inferred mapping.
  ///
  /// - Returns: The new store, beside the old one.
  static func migrateObjects(
    at url: URL, _ type: String, from source: ManagedObjectModel, to model: ManagedObjectModel
  ) throws -> URL {
    let manager = MigrationManager(sourceModel: source, destinationModel: model)
    manager.usesStoreSpecificMigrationManager = false
    let made = url.deletingLastPathComponent().appendingPathComponent("new")
    try manager.migrateStore(
      from: url, sourceType: type, options: nil, with: nil, toDestinationURL: made,
      destinationType: type, destinationOptions: nil)
    return made
  }

  static func entity(_ name: String, _ properties: [PropertyDescription]) -> EntityDescription {
    let entity = EntityDescription()
    entity.name = name
    entity.managedObjectClassName = "NSManagedObject"
    entity.properties = properties
    return entity
  }

  /// Authors with a full name, who wrote books.
  static func first() -> ManagedObjectModel {
    let author = entity("Author", [attribute("fullName", .string), attribute("born", .integer32)])
    let book = entity("Book", [attribute("title", .string), attribute("pages", .integer32)])
    relate(author, "books", toMany: true, book, "author", inverseToMany: false)
    let model = ManagedObjectModel()
    model.entities = [author, book]
    return model
  }

  /// Writers with two names; the type of `pages` changed, which nothing infers.
  static func second() -> ManagedObjectModel {
    let writer = entity(
      "Writer",
      [
        attribute("firstName", .string), attribute("lastName", .string),
        attribute("born", .integer32),
      ]
    )
    let book = entity(
      "Book",
      [attribute("title", .string), attribute("pages", .string), attribute("shelf", .string, "A")])
    relate(writer, "works", toMany: true, book, "writer", inverseToMany: false)
    let model = ManagedObjectModel()
    model.entities = [writer, book]
    return model
  }

  /// The first version with one more attribute.
  static func grown() -> ManagedObjectModel {
    let model = first()
    model.entitiesByName["Book"]?.properties.append(attribute("shelf", .string))
    return model
  }

  private static func attribute(
    _ name: String, _ type: AttributeType, _ value: Any
  ) -> AttributeDescription {
    attribute(name, type, optional: true, value)
  }

  /// A store of the first version: two authors, three books, one without author.
  static func store(
    _ type: String = "SQLite", in folder: URL, model: ManagedObjectModel = first()
  ) throws -> URL {
    let url = folder.appendingPathComponent("\(UUID().uuidString).store")
    try with(model, type, url) { context throws in
      func author(_ name: String, _ born: Int) -> ManagedObject {
        let author = EntityDescription.insertNewObject(forEntityName: "Author", into: context)
        author.setValue(name, forKey: "fullName")
        author.setValue(born, forKey: "born")
        return author
      }
      func book(_ title: String, _ pages: Int, _ author: ManagedObject?) {
        let book = EntityDescription.insertNewObject(forEntityName: "Book", into: context)
        book.setValue(title, forKey: "title")
        book.setValue(pages, forKey: "pages")
        book.setValue(author, forKey: "author")
      }
      let ursula = author("Ursula Le Guin", 1929)
      book("The Dispossessed", 341, ursula)
      book("The Lathe of Heaven", 184, ursula)
      book("Beowulf", 120, nil)
      _ = author("Stanisław Lem", 1921)
      try context.save()
    }
    return url
  }

  /// Runs a block with a context over a store, then closes it.
  @discardableResult
  static func with<T>(
    _ model: ManagedObjectModel, _ type: String, _ url: URL, _ options: [AnyHashable: Any]? = nil,
    _ body: (ManagedObjectContext) throws -> T
  ) throws -> T {
    let coordinator = PersistentStoreCoordinator(managedObjectModel: model)
    let store = try coordinator.addPersistentStore(
      ofType: type, configurationName: nil, at: url, options: options)
    let context = ManagedObjectContext(.privateQueue)
    context.persistentStoreCoordinator = coordinator
    let result = try context.performAndWait { try body(context) }
    try coordinator.remove(store)
    return result
  }

  /// One line an object: an attribute and what a relationship leads to, sorted.
  static func lines(
    _ context: ManagedObjectContext, _ entity: String, _ line: (ManagedObject) -> String
  ) throws -> [String] {
    try context.fetch(FetchRequest<ManagedObject>(entityName: entity)).map(line).sorted()
  }

  static func code(_ body: () throws -> Void) -> CoreDataError.Code? {
    do {
      try body()
      return nil
    } catch {
      return CoreDataError.Code(rawValue: (error as NSError).code)
    }
  }
}
