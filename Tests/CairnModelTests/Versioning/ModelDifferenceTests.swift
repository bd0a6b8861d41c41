import Foundation
import Testing

@testable import CairnModel

/// What a store can follow without being told how, and what it cannot.
@Suite struct ModelDifferenceTests {
  /// A library: works above books, written by authors.
  private final class Library {
    let model = ManagedObjectModel()
    let author = EntityDescription(name: "Author")
    let work = EntityDescription(name: "Work")
    let book = EntityDescription(name: "Book")
    let name = AttributeDescription(name: "name", type: .string)
    let title = AttributeDescription(name: "title", type: .string)
    let pages = AttributeDescription(name: "pages", type: .integer32)
    let works = RelationshipDescription()
    let writer = RelationshipDescription()

    init() {
      works.name = "works"
      works.destinationEntity = work
      writer.name = "author"
      writer.destinationEntity = author
      writer.maxCount = 1
      works.inverseRelationship = writer
      writer.inverseRelationship = works
      author.properties = [name, works]
      work.properties = [title, writer]
      work.subentities = [book]
      book.properties = [pages]
      model.entities = [author, work, book]
    }
  }

  /// The difference between a library and one changed by the block.
  private func difference(_ change: (Library) -> Void) throws -> ModelDifference {
    let (old, new) = (Library(), Library())
    change(new)
    try #require(ModelValidation.problems(of: new.model) == [])
    return ModelDifference(from: old.model, to: new.model)
  }

  private func refusals(_ change: (Library) -> Void) throws -> [String] {
    try difference(change).refusals.map { "\($0.entity).\($0.property ?? "") \($0.code)" }
  }

  @Test("Equal models differ in nothing")
  func nothing() throws {
    let found = try difference { _ in }
    #expect(found.isEmpty)
    #expect(found.isAdditive)
    #expect(found.isInferable)
  }

  // MARK: Allowed

  @Test("Attributes, relationships and entities may be added")
  func additions() throws {
    let found = try difference { library in
      library.author.properties += [AttributeDescription(name: "born", type: .date)]
      let friends = RelationshipDescription()
      friends.name = "friends"
      friends.destinationEntity = library.author
      library.author.properties += [friends]
      library.model.entities += [EntityDescription(name: "Shelf")]
    }
    #expect(found.isInferable)
    #expect(found.isAdditive)
    #expect(found.change(ofEntity: "Shelf")?.isAdded == true)
    let author = try #require(found.change(ofEntity: "Author"))
    #expect(author.properties.filter(\.isAdded).map(\.destination.name) == ["born", "friends"])
  }

  @Test("Attributes, relationships and entities may be removed")
  func removals() throws {
    let found = try difference { library in
      library.author.properties = [library.name]
      library.work.properties = []
      library.work.subentities = []
      library.model.entities = [library.author, library.work]
    }
    #expect(found.isInferable)
    #expect(!found.isAdditive)
    #expect(found.removedEntities.map(\.name) == ["Book"])
    #expect(found.change(ofEntity: "Author")?.removedProperties.map(\.name) == ["works"])
    #expect(
      Set(found.change(ofEntity: "Work")?.removedProperties.map(\.name) ?? []) == [
        "title", "author",
      ])
  }

  @Test("A mandatory attribute needs a default, which is told apart from what cannot be inferred")
  func mandatory() throws {
    let found = try difference { library in
      library.name.isOptional = false
      library.title.isOptional = false
      library.title.defaultValue = "Untitled"
      library.book.properties += [
        AttributeDescription(name: "isbn", type: .string, isOptional: false)
      ]
    }
    #expect(found.isInferable)
    #expect(!found.isAdditive)
    let lacking = found.entities.flatMap { change in
      change.properties.filter(\.lacksDefault).map {
        "\(change.destination.name ?? "").\($0.destination.name)"
      }
    }
    #expect(lacking == ["Author.name", "Book.isbn"])
  }

  @Test("A mandatory attribute may become optional")
  func optional() throws {
    let (old, new) = (Library(), Library())
    old.name.isOptional = false
    let found = ModelDifference(from: old.model, to: new.model)
    #expect(found.isInferable)
    let change = try #require(
      found.change(ofEntity: "Author")?.properties.first { $0.destination.name == "name" })
    #expect(!change.becomesMandatory)
    #expect(!change.isUnchanged)
  }

  @Test("Entities and properties may be renamed through their identifier")
  func renaming() throws {
    let found = try difference { library in
      library.author.name = "Writer"
      library.author.renamingIdentifier = "Author"
      library.title.name = "heading"
      library.title.renamingIdentifier = "title"
    }
    #expect(found.isInferable)
    #expect(found.removedEntities.isEmpty)
    #expect(found.source(ofEntity: "Writer")?.name == "Author")
    #expect(found.change(ofEntity: "Writer")?.isRenamed == true)
    let book = try #require(found.change(ofEntity: "Book"))
    #expect(book.source(ofProperty: "heading")?.name == "title")
    #expect(book.removedProperties.isEmpty)
  }

  @Test("Two versions may share an identifier that is the name of neither")
  func sharedIdentifier() throws {
    let (old, new) = (Library(), Library())
    old.title.renamingIdentifier = "original"
    new.title.name = "heading"
    new.title.renamingIdentifier = "original"
    let found = ModelDifference(from: old.model, to: new.model)
    #expect(found.change(ofEntity: "Work")?.source(ofProperty: "heading")?.name == "title")
  }

  @Test("An identifier that the source lacks falls back to the name")
  func unknownIdentifier() throws {
    let found = try difference { $0.title.renamingIdentifier = "heading" }
    #expect(found.change(ofEntity: "Work")?.source(ofProperty: "title")?.name == "title")
  }

  @Test("To-one may become to-many, and order may come and go")
  func cardinality() throws {
    let found = try difference { library in
      library.writer.maxCount = 0
      library.works.isOrdered = true
    }
    #expect(found.isInferable)
    #expect(!found.isAdditive)
  }

  @Test("Inverse, delete rule and bounds may change")
  func relationshipDetails() throws {
    let found = try refusals { library in
      library.works.inverseRelationship = nil
      library.writer.inverseRelationship = nil
      library.works.deleteRule = .cascade
      library.works.minCount = 2
      library.works.maxCount = 7
    }
    #expect(found == [])
  }

  @Test("Properties may move up and down the hierarchy")
  func movedProperties() throws {
    let up = try difference { library in
      library.book.properties = []
      library.work.properties += [library.pages]
    }
    #expect(up.isInferable)
    #expect(up.change(ofEntity: "Book")?.source(ofProperty: "pages") != nil)
    #expect(up.change(ofEntity: "Book")?.removedProperties.isEmpty == true)
    let down = try difference { library in
      library.work.properties = [library.writer]
      library.book.properties = [library.pages, library.title]
    }
    #expect(down.isInferable)
    #expect(down.change(ofEntity: "Book")?.source(ofProperty: "title") != nil)
    #expect(down.change(ofEntity: "Work")?.removedProperties.map(\.name) == ["title"])
  }

  @Test("Parents and children may be added, and entities leave a hierarchy")
  func hierarchy() throws {
    let added = try difference { library in
      let thing = EntityDescription(name: "Thing")
      thing.subentities = [library.author]
      let paperback = EntityDescription(name: "Paperback")
      library.book.subentities = [paperback]
      library.model.entities += [thing, paperback]
    }
    #expect(added.refusals.isEmpty)
    #expect(added.change(ofEntity: "Author")?.isMoved == true)
    let left = try difference { $0.work.subentities = [] }
    #expect(left.refusals.isEmpty)
    #expect(left.change(ofEntity: "Book")?.isMoved == true)
  }

  @Test("Transience, external storage and the hash modifier may change")
  func flags() throws {
    let found = try difference { library in
      library.name.isTransient = true
      library.title.versionHashModifier = "2"
      library.pages.allowsExternalBinaryDataStorage = true
    }
    #expect(found.isInferable)
    #expect(found.entities.filter { !$0.isChanged }.isEmpty)
  }

  @Test("A transient attribute that is stored from now on may have another type")
  func transientType() throws {
    let (old, new) = (Library(), Library())
    old.pages.isTransient = true
    new.pages.attributeType = .string
    #expect(ModelDifference(from: old.model, to: new.model).isInferable)
  }

  @Test("What becomes a property of another kind is removed and added")
  func otherKind() throws {
    let found = try difference { library in
      let name = RelationshipDescription()
      name.name = "name"
      name.destinationEntity = library.author
      library.author.properties = [name, library.works]
    }
    let author = try #require(found.change(ofEntity: "Author"))
    #expect(author.properties.filter(\.isAdded).map(\.destination.name) == ["name"])
    #expect(author.removedProperties.map(\.name) == ["name"])
    #expect(found.isInferable)
  }

  // MARK: Elements of composite attributes

  /// The difference between an author with an address and one whose address has these elements.
  private func addresses(_ elements: [AttributeDescription]) throws -> ModelDifference {
    func add(_ elements: [AttributeDescription], to library: Library) {
      let geo = CompositeAttributeDescription()
      geo.name = "geo"
      geo.elements = elements
      let address = CompositeAttributeDescription()
      address.name = "address"
      address.elements = [AttributeDescription(name: "city", type: .string), geo]
      library.author.properties += [address]
    }
    let (old, new) = (Library(), Library())
    add([AttributeDescription(name: "lat", type: .double)], to: old)
    add(elements, to: new)
    try #require(ModelValidation.problems(of: new.model) == [])
    return ModelDifference(from: old.model, to: new.model)
  }

  @Test("Elements may be renamed through their identifier, at any depth")
  func renamedElement() throws {
    let north = AttributeDescription(name: "north", type: .double)
    north.renamingIdentifier = "lat"
    let found = try addresses([north])
    #expect(found.isInferable)
    let author = try #require(found.change(ofEntity: "Author"))
    #expect(author.sourcePath(of: "address.geo.north") == "address.geo.lat")
    #expect(author.sourcePath(of: "address.city") == "address.city")
    #expect(MigrationLoss(found).names == [])
  }

  @Test("An element that nothing continues is lost, alone")
  func removedElement() throws {
    let found = try addresses([AttributeDescription(name: "north", type: .double)])
    #expect(MigrationLoss(found).names == ["Author.address.geo.lat"])
    #expect(found.change(ofEntity: "Author")?.sourcePath(of: "address.geo.north") == nil)
  }

  @Test("The type of an element cannot change")
  func elementType() throws {
    let found = try addresses([AttributeDescription(name: "lat", type: .string)])
    #expect(found.refusals.map(\.property) == ["address.geo.lat"])
    #expect(found.refusals.map(\.code) == [.attributeTypeChanged])
  }

  @Test("A mandatory element needs a value in the rows whose composite has one")
  func mandatoryElement() throws {
    let found = try addresses([
      AttributeDescription(name: "lat", type: .double),
      AttributeDescription(name: "lon", type: .double, isOptional: false),
    ])
    let demands = try #require(found.change(ofEntity: "Author")).demands
    #expect(demands.map(\.path) == ["address.geo.lon"])
    #expect(demands.first?.origins == [])
    #expect(demands.first?.surroundings == ["address.geo.lat"])
  }

  // MARK: Refused

  @Test("The type of an attribute cannot change, not even with a new name")
  func attributeType() throws {
    let found = try refusals { $0.name.attributeType = .integer64 }
    #expect(found == ["Author.name attributeTypeChanged"])
    let renamed = try refusals { library in
      library.pages.name = "size"
      library.pages.renamingIdentifier = "pages"
      library.pages.attributeType = .double
    }
    #expect(renamed == ["Book.size attributeTypeChanged"])
  }

  @Test("A changed type is refused in every entity that inherits the attribute")
  func inheritedType() throws {
    let found = try refusals { $0.title.attributeType = .date }
    #expect(
      found == [
        "Work.title attributeTypeChanged", "Book.title attributeTypeChanged",
      ])
  }

  @Test("To-many cannot become to-one")
  func toManyToOne() throws {
    let found = try refusals { $0.works.maxCount = 1 }
    #expect(found == ["Author.works toManyBecameToOne"])
  }

  @Test("An entity cannot be split")
  func split() throws {
    let found = try refusals { library in
      let critic = EntityDescription(name: "Critic")
      critic.renamingIdentifier = "Author"
      library.model.entities += [critic]
    }
    #expect(found == ["Critic. entitySplit"])
  }

  @Test("Two hierarchies cannot come under one ancestor")
  func mergedHierarchies() throws {
    let found = try refusals { library in
      let thing = EntityDescription(name: "Thing")
      thing.subentities = [library.author, library.work]
      library.model.entities += [thing]
    }
    #expect(found == ["Work. hierarchiesMerged", "Book. hierarchiesMerged"])
  }

  @Test("All reasons are given at once")
  func allReasons() throws {
    let found = try refusals { library in
      library.name.attributeType = .integer64
      library.works.maxCount = 1
    }
    #expect(found == ["Author.name attributeTypeChanged", "Author.works toManyBecameToOne"])
  }
}
