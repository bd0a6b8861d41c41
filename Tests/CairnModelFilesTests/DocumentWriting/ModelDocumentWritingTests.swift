import CairnModel
import CairnModelFiles
import CairnPredicates
import Foundation
import TestSupport
import Testing

/// Models written as the editor's documents (`.xcdatamodeld`) and read back.
@Suite struct ModelDocumentWritingTests {
  private func again(_ document: ModelDocument) throws -> ManagedObjectModel {
    try ModelDocumentReader.read(document.data, file: "contents")
  }

  @Test func whatIsReadBackEqualsTheModel() throws {
    let model = try SampleModels.everything()
    let document = try ModelDocument(model)
    #expect(document.losses == [])
    let read = try again(document)
    #expect(read == model)
    #expect(read.entityVersionHashesByName == model.entityVersionHashesByName)
    #expect(read.versionIdentifiers == model.versionIdentifiers)
    #expect(read.configurations == ["Local"])
    #expect(read.templatesByName["thick"]?.fetchLimit == 10)
    let book = try #require(read.entitiesByName["Book"])
    #expect(book.codeGenerationType == "class")
    #expect(book.renamingIdentifier == "Volume")
    #expect(book.userInfo?["shelf"] as? String == "north")
    #expect(read.entitiesByName["Work"]?.attributesByName["year"]?.validationPredicates.count == 2)
    // And the second writing is the first.
    #expect(try ModelDocument(read).data == document.data)
  }

  @Test func whatMeansNothingToStoresStaysInTheDocument() throws {
    let words = [
      "coreSpotlightDisplayNameExpression=\"title\"", "storedInTruthFile=\"YES\"",
      "composite=\"Size\"", "fetchRequest name=\"others\"",
    ]
    let contents = """
      <?xml version="1.0" encoding="UTF-8"?>
      <model type="com.apple.IDECoreDataModeler.DataModel" documentVersion="1.0">
        <entity name="Book" \(words[0])>
          <attribute name="title" optional="YES" attributeType="String" \(words[1])/>
          <attribute name="format" optional="YES" attributeType="Composite" \(words[2])/>
          <fetchedProperty name="same" optional="YES"><\(words[3]) entity="Book"/></fetchedProperty>
        </entity>
        <composite name="Size"><attribute name="width" optional="YES" attributeType="Double"/></composite>
      </model>
      """
    let model = try ModelDocumentReader.read(Data(contents.utf8), file: "contents")
    let document = try ModelDocument(model)
    #expect(document.losses == [])
    let text = String(decoding: document.data, as: UTF8.self)
    for word in words { #expect(text.contains(word), "\(word)") }
  }

  @Test func whatTheFormatHasNoWordsForIsListed() throws {
    let entity = EntityDescription(name: "Thing")
    let picture = AttributeDescription(name: "picture", type: .binaryData)
    picture.defaultValue = Data([1])
    let odd = AttributeDescription(name: "odd", type: .integer16)
    odd.setValidationPredicates(
      [ObjectPredicate(format: "SELF != 2")], withValidationWarnings: ["must be odd"])
    odd.userInfo = ["count": 3]
    entity.properties = [picture, odd]
    let model = ManagedObjectModel()
    model.entities = [entity]
    model.versionIdentifiers = ["a", "b"]
    let document = try ModelDocument(model)
    #expect(document.losses.count == 4)
    for place in [
      "Thing.picture: its default value", "Thing.odd: the condition", "user info count",
    ] {
      #expect(document.losses.contains { $0.contains(place) }, "\(document.losses)")
    }
    #expect(try again(document).entityVersionHashesByName == model.entityVersionHashesByName)
  }

  @Test func signsThatXMLGivesAMeaningStayWhatTheyAre() throws {
    let text = AttributeDescription(name: "text", type: .string)
    text.defaultValue = "a<b>&\"c'\n\td"
    text.versionHashModifier = "<1>"
    let model = ManagedObjectModel()
    model.entities = [EntityDescription(name: "Thing", properties: [text])]
    let read = try again(try ModelDocument(model))
    let attribute = try #require(read.entitiesByName["Thing"]?.attributesByName["text"])
    #expect(attribute.defaultValue as? String == "a<b>&\"c'\n\td")
    #expect(attribute.versionHashModifier == "<1>")
    text.defaultValue = "\u{1}"
    #expect(try ModelDocument(model).losses.count == 1)
  }

  @Test func compositesOfOneNameWithDifferentElementsAreKeptApart() throws {
    func composite(_ name: String, _ elements: [String]) -> CompositeAttributeDescription {
      let attribute = CompositeAttributeDescription()
      attribute.name = name
      attribute.compositeName = "Place"
      attribute.elements = elements.map { AttributeDescription(name: $0, type: .double) }
      return attribute
    }
    let model = ManagedObjectModel()
    model.entities = [
      EntityDescription(
        name: "Trip",
        properties: [
          composite("from", ["x", "y"]), composite("to", ["x", "y"]),
          composite("via", ["x", "y", "z"]),
        ])
    ]
    let document = try ModelDocument(model)
    #expect(try again(document).entityVersionHashesByName == model.entityVersionHashesByName)
    let text = String(decoding: document.data, as: UTF8.self)
    #expect(text.components(separatedBy: "<composite ").count == 3)
  }

  @Test func indexesOfExpressionsAndPlacesAreKept() throws {
    let x = AttributeDescription(name: "x", type: .double)
    let sum = ExpressionDescription()
    sum.name = "x + 1"
    sum.expression = ObjectExpression(format: "x + 1")
    sum.expressionResultType = .double
    let entity = EntityDescription(name: "Spot", properties: [x])
    entity.indexes = [
      FetchIndexDescription(
        name: "computed",
        elements: [FetchIndexElementDescription(property: sum, collationType: .binary)]),
      FetchIndexDescription(
        name: "place", elements: [FetchIndexElementDescription(property: x, collationType: .rTree)]),
    ]
    entity.indexes[0].partialIndexPredicate = ObjectPredicate(format: "x > 0")
    let model = ManagedObjectModel()
    model.entities = [entity]
    let read = try #require(try again(try ModelDocument(model)).entitiesByName["Spot"]?.indexes)
    #expect(read.map(\.name) == ["computed", "place"])
    #expect(read[0].partialIndexPredicate?.description == "x > 0")
    let element = read[0].elements.first?.property as? ExpressionDescription
    #expect(element?.expression?.description == sum.expression?.description)
    #expect(read[1].elements.map(\.collationType) == [.rTree])
  }

  // MARK: Packages

  @Test func aPackageHoldsItsVersionsAndSaysWhichIsCurrent() throws {
    try TemporaryFolder.with { folder in
      let url = folder.appendingPathComponent("Library.xcdatamodeld")
      let (old, new) = (try SampleModels.everything(), try SampleModels.everything())
      new.entities[0].versionHashModifier = "new"
      let versions = [
        ModelPackage.Version(name: "Library", model: old),
        ModelPackage.Version(name: "Library 2", model: new),
      ]
      try ModelPackage.write(versions, current: "Library 2", to: url)
      let package = try ModelPackage(contentsOf: url)
      #expect(package.form == .source)
      #expect(package.versionNames == ["Library", "Library 2"])
      #expect(package.currentVersionName == "Library 2")
      #expect(
        try package.currentModel().entityVersionHashesByName == new.entityVersionHashesByName)
      #expect(
        try package.model(named: "Library").entityVersionHashesByName
          == old.entityVersionHashesByName)
      // What is there is never overwritten, and nothing is left of a writing that fails.
      for current in ["Library", "None"] {
        #expect(throws: ModelFileError.self) {
          try ModelPackage.write(versions, current: current, to: url)
        }
      }
      #expect(try FileManager.default.contentsOfDirectory(atPath: folder.path).count == 1)
    }
  }

  @Test(
    "Apple's models survive being written as documents",
    .enabled(if: AppleFixtures.folder != nil, AppleFixtures.missing),
    arguments: [
      "models/Moody.xcdatamodeld", "models/ReviewJournal.xcdatamodeld",
      "models/SampleModel.xcdatamodeld", "models/SampleModel3.xcdatamodeld",
      "models/ScoutModel.xcdatamodeld", "compiled-models/SampleModel.momd",
      "compiled-models/SampleModel3.momd",
    ])
  func applesModels(path: String) throws {
    let package = try ModelPackage(contentsOf: AppleFixtures.url(path))
    for version in package.versionNames {
      let model = try package.model(named: version)
      let document = try ModelDocument(model)
      #expect(document.losses == [], "\(version)")
      let read = try again(document)
      #expect(read.entityVersionHashesByName == model.entityVersionHashesByName, "\(version)")
      #expect(read == model, "\(version)")
    }
  }
}
