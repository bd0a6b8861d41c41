// What the programs of this folder share: a library of authors and books, with classes as applications
// have them. Their accessors are written by hand, because this target has no build plugin.

@_spi(Generated) import CairnStack
import CoreData

class ProgramAuthor: NSManagedObject {
  var name: String? {
    get { managedValue("name") }
    set { setManagedValue(newValue, "name") }
  }
  var books: NSSet? {
    get { managedValue("books") }
    set { setManagedValue(newValue, "books") }
  }
}

class ProgramBook: NSManagedObject {
  var title: String? {
    get { managedValue("title") }
    set { setManagedValue(newValue, "title") }
  }
  var author: ProgramAuthor? {
    get { managedValue("author") }
    set { setManagedValue(newValue, "author") }
  }
}

/// A class whose stored property gets its value in the designated initializer.
class ProgramShelf: NSManagedObject {
  let made: Date
  override init(entity: NSEntityDescription, insertInto context: NSManagedObjectContext?) {
    made = Date(timeIntervalSince1970: 7)
    super.init(entity: entity, insertInto: context)
  }
  convenience init(label: String, context: NSManagedObjectContext) {
    self.init(context: context)
    setValue(label, forKey: "label")
  }
}

/// A class with an `init(context:)` of its own.
class ProgramMark: NSManagedObject {
  convenience init(context: NSManagedObjectContext) {
    self.init(entity: Self.entity(), insertInto: context)
    setValue("marked", forKey: "label")
  }
}

enum Programs {
  static func attribute(
    _ name: String, _ type: NSAttributeType, optional: Bool = true
  ) -> NSAttributeDescription {
    let attribute = NSAttributeDescription()
    attribute.name = name
    attribute.attributeType = type
    attribute.isOptional = optional
    return attribute
  }

  private static func entity(_ name: String, _ type: NSManagedObject.Type) -> NSEntityDescription {
    let entity = NSEntityDescription()
    entity.name = name
    entity.managedObjectClassName = NSStringFromClass(type)
    return entity
  }

  static func library() -> NSManagedObjectModel {
    let author = entity("ProgramAuthor", ProgramAuthor.self)
    let book = entity("ProgramBook", ProgramBook.self)
    let books = NSRelationshipDescription()
    books.name = "books"
    books.destinationEntity = book
    books.deleteRule = .cascadeDeleteRule
    let writer = NSRelationshipDescription()
    writer.name = "author"
    writer.destinationEntity = author
    writer.maxCount = 1
    writer.inverseRelationship = books
    books.inverseRelationship = writer
    author.properties = [attribute("name", .stringAttributeType, optional: false), books]
    book.properties = [attribute("title", .stringAttributeType), writer]
    let model = NSManagedObjectModel()
    model.entities = [author, book]
    return model
  }

  static func furniture() -> NSManagedObjectModel {
    let shelf = entity("ProgramShelf", ProgramShelf.self)
    shelf.properties = [attribute("label", .stringAttributeType)]
    let mark = entity("ProgramMark", ProgramMark.self)
    mark.properties = [attribute("label", .stringAttributeType)]
    let model = NSManagedObjectModel()
    model.entities = [shelf, mark]
    return model
  }

  /// A container as Xcode's template makes one for previews.
  static func container(
    _ model: NSManagedObjectModel = library(), url: URL = URL(fileURLWithPath: "/dev/null")
  ) throws -> NSPersistentContainer {
    let container = NSPersistentContainer(name: "Programs", managedObjectModel: model)
    container.persistentStoreDescriptions.first?.url = url
    var problem: (any Error)?
    container.loadPersistentStores { _, error in problem = error }
    if let problem { throw problem }
    return container
  }
}
