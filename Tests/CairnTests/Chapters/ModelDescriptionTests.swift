// Models and descriptions as programs build and read them.

import CoreData
import TestSupport
import Testing

/// Chapters 3 and II.2 of the specification.
@Suite struct ModelDescriptionTests {
  @Test func theOverlaysAttributeTypeStandsForTheEnumeration() throws {
    let pairs: [(NSAttributeDescription.AttributeType, NSAttributeType)] = [
      (.undefined, .undefinedAttributeType), (.integer16, .integer16AttributeType),
      (.integer32, .integer32AttributeType), (.integer64, .integer64AttributeType),
      (.decimal, .decimalAttributeType), (.double, .doubleAttributeType),
      (.float, .floatAttributeType), (.string, .stringAttributeType),
      (.boolean, .booleanAttributeType), (.date, .dateAttributeType),
      (.binaryData, .binaryDataAttributeType), (.uuid, .UUIDAttributeType),
      (.uri, .URIAttributeType), (.transformable, .transformableAttributeType),
      (.objectID, .objectIDAttributeType), (.composite, .compositeAttributeType),
    ]
    for (structure, value) in pairs {
      #expect(structure.rawValue == value)
      #expect(NSAttributeDescription.AttributeType(rawValue: value) == structure)
      let attribute = NSAttributeDescription()
      attribute.type = structure
      #expect(attribute.attributeType == value && attribute.type == structure)
      let column = NSExpressionDescription()
      column.resultType = structure
      #expect(column.expressionResultType == value && column.resultType == structure)
    }
    #expect(Set(pairs.map(\.0)).count == pairs.count)
  }

  @Test func entitiesKnowTheirFamily() throws {
    let model = NSManagedObjectModel()
    let parent = NSEntityDescription()
    parent.name = "Parent"
    parent.isAbstract = true
    parent.properties = [Company.attribute("name", .stringAttributeType)]
    let child = NSEntityDescription()
    child.name = "Child"
    child.properties = [Company.attribute("age", .integer16AttributeType)]
    parent.subentities = [child]
    model.entities = [parent, child]
    #expect(child.superentity === parent && parent.subentitiesByName["Child"] === child)
    #expect(child.isKindOf(entity: parent) && !parent.isKindOf(entity: child))
    #expect(Set(child.attributesByName.keys) == ["name", "age"])
    #expect(parent.attributesByName.count == 1 && model.entitiesByName.count == 2)
  }

  @Test func modelsAndEntitiesAreEnumerated() throws {
    let model: NSManagedObjectModel = Company.model()
    var entities = model.makeIterator()
    var names: [String] = []
    while let entity = entities.next() { names.append(entity.name ?? "") }
    #expect(names.sorted() == ["Clerk", "Office"])
    let office: NSEntityDescription = try #require(model.entitiesByName["Office"])
    var properties = office.makeIterator()
    #expect(properties.next() != nil && properties.next() != nil && properties.next() == nil)
  }

  @Test func modelsAreMergedAsTheStoreNeedsThem() throws {
    let offices = NSManagedObjectModel()
    let single = NSEntityDescription()
    single.name = "Single"
    single.properties = [Company.attribute("a", .stringAttributeType)]
    offices.entities = [single]
    let merged = try #require(NSManagedObjectModel(byMerging: [Company.model(), offices]))
    #expect(Set(merged.entitiesByName.keys) == ["Clerk", "Office", "Single"])
    let metadata: [String: Any] = [
      NSStoreModelVersionHashesKey: offices.entityVersionHashesByName
    ]
    let chosen = NSManagedObjectModel(
      byMerging: [Company.model(), offices], forStoreMetadata: metadata)
    #expect(chosen?.entities.map(\.name) == ["Single"])
    #expect(NSManagedObjectModel(byMerging: [Company.model()], forStoreMetadata: metadata) == nil)
  }

  @Test func modelsOfBundlesAreMerged() throws {
    let folder = try TemporaryFolder()
    // Bundles remember what they found, so this one is another.
    let place = folder.fileURL("empty")
    try FileManager.default.createDirectory(at: place, withIntermediateDirectories: true)
    let empty = try #require(Bundle(path: place.path))
    #expect(NSManagedObjectModel.mergedModel(from: [empty])?.entities.isEmpty ?? true)
    for name in ["Item", "Article"] {
      let version = folder.fileURL("\(name).xcdatamodel")
      try FileManager.default.createDirectory(at: version, withIntermediateDirectories: true)
      try Data(
        """
        <model type="com.apple.IDECoreDataModeler.DataModel" documentVersion="1.0">
          <entity name="\(name)" syncable="YES"/>
        </model>
        """.utf8
      ).write(to: version.appendingPathComponent("contents"))
    }
    let bundle = try #require(Bundle(path: folder.path))
    let merged = try #require(NSManagedObjectModel.mergedModel(from: [bundle]))
    #expect(Set(merged.entitiesByName.keys) == ["Article", "Item"])
    for (hashes, chosen) in [
      (merged.entityVersionHashesByName.filter { $0.key == "Item" }, ["Item"]),
      (Company.model().entityVersionHashesByName, nil),
    ] {
      let metadata: [String: Any] = [NSStoreModelVersionHashesKey: hashes]
      let model = NSManagedObjectModel.mergedModel(from: [bundle], forStoreMetadata: metadata)
      #expect(model?.entities.map(\.name) == chosen)
    }
  }

  @Test func descriptionsRememberWhatHasNoEffectHere() throws {
    let attribute = Company.attribute("a", .stringAttributeType)
    #expect(!attribute.isIndexedBySpotlight && !attribute.allowsCloudEncryption)
    let hash = attribute.versionHash
    attribute.isIndexedBySpotlight = true
    attribute.allowsCloudEncryption = true
    let copy = try #require(attribute.copy() as? NSAttributeDescription)
    #expect(copy.isIndexedBySpotlight && copy.allowsCloudEncryption)
    #expect(copy.versionHash == hash)
  }

  /// What Core Data has deprecated.
  private protocol Old { func check() }
  private struct OldWays: Old {
    @available(*, deprecated)
    func check() {
      let property = Company.attribute("a", .stringAttributeType)
      #expect(!property.isIndexed && !property.isStoredInExternalRecord)
      property.isIndexed = true
      property.isStoredInExternalRecord = true
      let copy = property.copy() as? NSPropertyDescription
      #expect(copy?.isIndexed == true && copy?.isStoredInExternalRecord == true)
      let entity = NSEntityDescription()
      entity.compoundIndexes = [["a"]]
      #expect(entity.compoundIndexes.isEmpty)
    }
  }
  @Test func deprecatedSettingsAreKept() { (OldWays() as any Old).check() }

  @Test func indexesAreCopiedAndArchived() throws {
    let property = Company.attribute("name", .stringAttributeType)
    let element = NSFetchIndexElementDescription(
      property: property, collationType: NSFetchIndexElementType.binary)
    element.isAscending = false
    let index = NSFetchIndexDescription(name: "byName", elements: [element])
    #expect(element.indexDescription === index && element.propertyName == "name")
    let entity = NSEntityDescription()
    entity.name = "E"
    entity.properties = [property]
    entity.indexes = [index]
    #expect(index.entity === entity)

    let copy = try #require(index.copy() as? NSFetchIndexDescription)
    #expect(copy.name == "byName" && copy.elements.first?.isAscending == false)
    let elementCopy = try #require(element.copy() as? NSFetchIndexElementDescription)
    #expect(elementCopy.collationType == .binary && elementCopy.propertyName == "name")

    let data = try NSKeyedArchiver.archivedData(
      withRootObject: entity, requiringSecureCoding: false)
    let unarchiver = try NSKeyedUnarchiver(forReadingFrom: data)
    unarchiver.requiresSecureCoding = false
    let read = unarchiver.decodeObject(forKey: NSKeyedArchiveRootObjectKey) as? NSEntityDescription
    #expect(read?.indexes.first?.elements.first?.propertyName == "name")
    #expect(read?.indexes.first?.elements.first?.isAscending == false)
  }

  @Test func aNewModelIsEmptyUntilItIsFilled() throws {
    let model = NSManagedObjectModel()
    #expect(model.entities.isEmpty && model.configurations.isEmpty)
    #expect(model.entities(forConfigurationName: nil) == [])
    #expect(model.entities(forConfigurationName: "Some") == nil)
    let entity = NSEntityDescription()
    entity.name = "E"
    model.entities = [entity]
    model.setEntities([entity], forConfigurationName: "Some")
    #expect(model.entities(forConfigurationName: "Some") == [entity])
    #expect(model.configurations == ["Some"])
  }

  @Test func whatSpotlightShowsIsTakenFromModelSources() throws {
    try TemporaryFolder.with { folder in
      func read(_ expression: String) throws -> NSEntityDescription {
        let package = folder.appendingPathComponent("\(UUID().uuidString).xcdatamodel")
        try FileManager.default.createDirectory(at: package, withIntermediateDirectories: true)
        let source = """
          <?xml version="1.0" encoding="UTF-8" standalone="yes"?>
          <model type="com.apple.IDECoreDataModeler.DataModel" documentVersion="1.0">
            <entity name="E" representedClassName="E" syncable="YES"
                coreSpotlightDisplayNameExpression="\(expression)">
              <attribute name="name" optional="YES" attributeType="String"/>
            </entity>
          </model>
          """
        try Data(source.utf8).write(to: package.appendingPathComponent("contents"))
        let model = try #require(NSManagedObjectModel(contentsOf: package))
        return try #require(model.entitiesByName["E"])
      }
      #expect(
        try read("name").coreSpotlightDisplayNameExpression == NSExpression(forKeyPath: "name"))
      let odd = try read("only (( Spotlight knows")
      #expect(odd.coreSpotlightDisplayNameExpression.expressionType == .constantValue)
    }
  }
}
