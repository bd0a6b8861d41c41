// The model that tests of SQL share: inheritance, each kind of relationship, names that are hard to keep.

import CairnModel

package enum LibraryModel {
  package static func model(
    _ change: (([String: EntityDescription]) -> Void)? = nil
  ) throws -> ManagedObjectModel {
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
      relationship("books", to: book, isToMany: true), relationship("author", to: author)
    )
    connect(books, writer)
    let (tags, tagged) = (
      relationship("tags", to: shelf, isToMany: true, isOrdered: true),
      relationship("tagged", to: book, isToMany: true)
    )
    connect(tags, tagged)
    let (row, stands) = (
      relationship("row", to: book, isToMany: true, isOrdered: true),
      relationship("shelf", to: shelf)
    )
    connect(row, stands)
    // Without inverse: to-one and to-many.
    let favourite = relationship("favouriteBook", to: book)
    let wishes = relationship("wishes", to: book, isToMany: true)
    author.properties += [books, favourite, wishes]
    book.properties += [writer, tags, stands]
    shelf.properties += [tagged, row]
    change?(["Author": author, "Book": book, "AudioBook": audioBook, "Shelf": shelf])
    return try model(of: [author, book, audioBook, shelf])
  }

  package static func model(of entities: [EntityDescription]) throws -> ManagedObjectModel {
    let model = ManagedObjectModel()
    model.entities = entities
    try model.prepareForUse()
    return model
  }

  package static func attribute(_ name: String, _ type: AttributeType) -> AttributeDescription {
    AttributeDescription(name: name, type: type)
  }

}
