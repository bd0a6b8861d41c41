// The model that the tests of schemas share: inheritance, each kind of relationship, names that are hard to keep.

import CairnModel
import CairnSQL

@testable import CairnPostgreSQL

enum LibraryModel {
  static func make(_ change: (([String: EntityDescription]) -> Void)? = nil) throws -> SQLSchema {
    let author = EntityDescription(
      name: "Author",
      properties: [
        attribute("firstName", .string), attribute("homepageURL", .uri), attribute("born", .date),
        attribute("fee", .decimal), attribute("active", .boolean), attribute("weight", .float),
        attribute("rating", .double), attribute("portrait", .binaryData), attribute("id", .uuid),
        attribute("bookCount", .integer16),
      ])
    let book = EntityDescription(
      name: "Book", properties: [attribute("title", .string), attribute("ISBN13", .string)])
    book.uniquenessConstraints = [["ISBN13"]]
    let audioBook = EntityDescription(
      name: "AudioBook", properties: [attribute("minutes", .integer32)])
    book.subentities = [audioBook]
    let shelf = EntityDescription(name: "Shelf", properties: [attribute("place", .string)])
    let (books, writer) = (
      relationship("books", book, isToMany: true), relationship("author", author)
    )
    connect(books, writer)
    let (tags, tagged) = (
      relationship("tags", shelf, isToMany: true, isOrdered: true),
      relationship("tagged", book, isToMany: true)
    )
    connect(tags, tagged)
    let (row, stands) = (
      relationship("row", book, isToMany: true, isOrdered: true), relationship("shelf", shelf)
    )
    connect(row, stands)
    // Without inverse: to-one and to-many.
    let favourite = relationship("favouriteBook", book)
    let wishes = relationship("wishes", book, isToMany: true)
    author.properties += [books, favourite, wishes]
    book.properties += [writer, tags, stands]
    shelf.properties += [tagged, row]
    change?(["Author": author, "Book": book, "AudioBook": audioBook, "Shelf": shelf])
    return try schema([author, book, audioBook, shelf])
  }

  static func schema(_ entities: [EntityDescription]) throws -> SQLSchema {
    let model = ManagedObjectModel()
    model.entities = entities
    try model.prepareForUse()
    return SQLSchema(model: model)
  }

  static func attribute(_ name: String, _ type: AttributeType) -> AttributeDescription {
    AttributeDescription(name: name, type: type)
  }

  static func relationship(
    _ name: String, _ destination: EntityDescription, isToMany: Bool = false,
    isOrdered: Bool = false
  ) -> RelationshipDescription {
    let relationship = RelationshipDescription()
    relationship.name = name
    relationship.destinationEntity = destination
    relationship.maxCount = isToMany ? 0 : 1
    relationship.isOrdered = isOrdered
    return relationship
  }

  static func connect(_ a: RelationshipDescription, _ b: RelationshipDescription) {
    a.inverseRelationship = b
    b.inverseRelationship = a
  }
}
