import CairnModel
import CairnModelFiles
import Foundation
import TestSupport
import Testing

/// Documents of `.xcdatamodel` folders.
@Suite struct ModelDocumentTests {
  private func attribute(_ name: String) throws -> AttributeDescription {
    let model = try SampleModels.everything()
    return try #require(model.entitiesByName["Work"]?.attributesByName[name])
  }

  @Test("Absent flags mean NO, and Xcode's counts are kept")
  func defaults() throws {
    let model = try SampleModels.everything()
    let work = try #require(model.entitiesByName["Work"])
    #expect(work.isAbstract)
    #expect(work.managedObjectClassName == ".Work")
    let author = try #require(work.relationshipsByName["author"])
    #expect(!author.isOptional)
    #expect(author.minCount == 0)
    #expect(author.maxCount == 1)
    #expect(!author.isToMany)
    let works = try #require(model.entitiesByName["Author"]?.relationshipsByName["works"])
    #expect(works.maxCount == 0)
    #expect(works.isToMany)
    #expect(works.isOrdered)
    #expect(works.deleteRule == .cascade)
    #expect(works.inverseRelationship === author)
    #expect(author.inverseRelationship === works)
  }

  @Test("Default values are read by type")
  func defaultValues() throws {
    #expect(try attribute("title").defaultValue as? String == "")
    #expect(try attribute("year").defaultValue as? NSNumber == 1900)
    #expect(
      try attribute("price").defaultValue as? NSDecimalNumber == NSDecimalNumber(string: "12.5"))
    #expect(
      try attribute("added").defaultValue as? Date
        == Date(timeIntervalSinceReferenceDate: 694_224_000))
    #expect(try attribute("isSigned").defaultValue as? Bool == true)
    #expect(
      try attribute("uuid").defaultValue as? UUID
        == UUID(uuidString: "6B29FC40-CA47-1067-B31D-00DD010662DA"))
    #expect(
      try attribute("page").defaultValue as? URL == URL(string: "https://example.org/a?b=c"))
    #expect(try attribute("cover").defaultValue == nil)
  }

  @Test(
    "YES and NO are the defaults 1 and 0 of integers",
    arguments: ["Integer 16", "Integer 32", "Integer 64"])
  func flagsAsIntegers(type: String) throws {
    let document = """
      <?xml version="1.0" encoding="UTF-8" standalone="yes"?>
      <model type="com.apple.IDECoreDataModeler.DataModel" documentVersion="1.0">
        <entity name="A">
          <attribute name="yes" optional="YES" attributeType="\(type)" defaultValueString="YES"/>
          <attribute name="no" optional="YES" attributeType="\(type)" defaultValueString="NO"/>
        </entity>
      </model>
      """
    let model = try ModelDocumentReader.read(Data(document.utf8), file: "contents")
    let attributes = model.entitiesByName["A"]?.attributesByName
    #expect(attributes?["yes"]?.defaultValue as? NSNumber == 1)
    #expect(attributes?["no"]?.defaultValue as? NSNumber == 0)
  }

  @Test(
    "What is left of a string's default is none of an identifier or a URL",
    arguments: ["UUID"])
  func textThatIsNoIdentifierIsNoDefault(_ type: String) throws {
    let text = """
      <model type="com.apple.IDECoreDataModeler.DataModel" documentVersion="1.0">
        <entity name="E" representedClassName="E">
          <attribute name="id" optional="YES" attributeType="\(type)" defaultValueString="em py"/>
        </entity>
      </model>
      """
    let model = try ModelDocumentReader.read(Data(text.utf8), file: "contents")
    #expect(model.entitiesByName["E"]?.attributesByName["id"]?.defaultValue == nil)
  }

  @Test("Bounds become predicates with the codes that Core Data reports")
  func bounds() throws {
    func codes(_ name: String) throws -> [Int] {
      try attribute(name).validationWarnings.compactMap { $0 as? Int }
    }
    #expect(try codes("year") == [1620, 1610])
    #expect(try codes("title") == [1670, 1660, 1680])
    #expect(try codes("added") == [1640, 1630])
    #expect(try codes("price") == [1620])
    let year = try attribute("year").validationPredicates.map(\.predicateFormat)
    #expect(year == ["SELF >= -500", "SELF <= 2100"])
    let title = try attribute("title").validationPredicates.map(\.predicateFormat)
    #expect(title == ["length >= 1", "length <= 200", "SELF MATCHES \"[A-Z].*\""])
  }

  @Test("Names of older versions, annotations and modifiers are read")
  func annotations() throws {
    let model = try SampleModels.everything()
    let book = try #require(model.entitiesByName["Book"])
    #expect(book.renamingIdentifier == "Volume")
    #expect(book.versionHashModifier == "2")
    #expect(book.codeGenerationType == "class")
    #expect(book.userInfo?["shelf"] as? String == "north")
    #expect(book.attributesByName["pages"]?.renamingIdentifier == "pageCount")
    #expect(book.attributesByName["title"] != nil)
    #expect(book.superentity?.name == "Work")
    #expect(book.managedObjectModel === model)
  }

  @Test("Composites are expanded, derived attributes keep their expression")
  func specialAttributes() throws {
    let size = try #require(try attribute("size") as? CompositeAttributeDescription)
    #expect(size.elements.map(\.name) == ["height", "width"])
    #expect(size.attributeType == .composite)
    let model = try SampleModels.everything()
    let author = try #require(model.entitiesByName["Author"])
    #expect(author.managedObjectModel === model)
    let count = try #require(
      author.attributesByName["workCount"] as? DerivedAttributeDescription)
    #expect(count.derivationExpression?.description == "count:(works)")
  }

  @Test("Indexes, constraints, configurations and templates are read")
  func entityParts() throws {
    let model = try SampleModels.everything()
    let work = try #require(model.entitiesByName["Work"])
    #expect(work.indexes.map(\.name) == ["byYear"])
    #expect(work.indexes.first?.elements.map(\.isAscending) == [false, true])
    #expect(work.indexes.first?.elements.first?.property === work.attributesByName["year"])
    #expect(work.constraintNames == [["uuid"], ["title", "year"]])
    #expect(model.configurations == ["Local"])
    #expect(model.entities(forConfigurationName: "Local")?.map(\.name) == ["Author"])
    let template = try #require(model.templatesByName["thick"])
    #expect(template.entityName == "Book")
    #expect(template.fetchLimit == 10)
    #expect(!template.includesSubentities)
    #expect(template.predicate?.predicateFormat == "pages >= $PAGES")
    #expect(model.versionIdentifiers == ["1.0"])
    let recent = try #require(
      model.entitiesByName["Author"]?.propertiesByName["recent"] as? FetchedPropertyDescription)
    #expect(recent.template?.entityName == "Book")
  }

  @Test("Every problem of a document is reported at once, with its line")
  func allProblems() throws {
    let document = """
      <?xml version="1.0"?>
      <model>
        <entity name="A" parentEntity="Missing">
          <attribute name="x" attributeType="Integer 16" defaultValueString="many"/>
          <attribute name="x" attributeType="String"/>
          <attribute attributeType="String"/>
          <attribute name="y" attributeType="Wild"/>
          <relationship name="r" destinationEntity="Nowhere" deletionRule="Maybe"/>
          <attribute name="z" optional="PERHAPS" attributeType="Composite" composite="None"/>
        </entity>
        <entity name="A"/>
        <configuration name="c"><memberEntity name="B"/></configuration>
      </model>
      """
    let error = try #require(throws: ModelFileError.self) {
      try ModelDocumentReader.read(Data(document.utf8), file: "contents")
    }
    let found = error.problems.map { "\($0.line ?? 0) \($0.code.rawValue)" }
    #expect(
      Set(found) == [
        "3 unknownName", "4 invalidValue", "5 duplicateName", "6 missingValue", "7 invalidValue",
        "8 unknownName", "8 invalidValue", "9 invalidValue", "9 unknownName", "11 duplicateName",
        "12 unknownName",
      ])
    #expect(error.description.contains("contents:4:"))
  }

  @Test("Entities that inherit from each other are refused")
  func inheritanceCycle() throws {
    let document = """
      <model>
        <entity name="A" parentEntity="B"/>
        <entity name="B" parentEntity="C"/>
        <entity name="C" parentEntity="A"/>
      </model>
      """
    let error = try #require(throws: ModelFileError.self) {
      try ModelDocumentReader.read(Data(document.utf8), file: "contents")
    }
    #expect(error.problems.map(\.code) == [.invalidValue])
  }

  @Test("A composite that contains itself is refused")
  func compositeCycle() throws {
    let document = """
      <model>
        <entity name="A"><attribute name="a" attributeType="Composite" composite="C"/></entity>
        <composite name="C"><attribute name="c" attributeType="Composite" composite="C"/></composite>
      </model>
      """
    let error = try #require(throws: ModelFileError.self) {
      try ModelDocumentReader.read(Data(document.utf8), file: "contents")
    }
    #expect(error.problems.map(\.code) == [.invalidValue])
  }

  @Test("A document that is no XML is refused with the line")
  func malformed() throws {
    let error = try #require(throws: ModelFileError.self) {
      try ModelDocumentReader.read(Data("<model>\n<entity>\n</model>".utf8), file: "contents")
    }
    #expect(error.problems.first?.code == .malformed)
    // The parser sees on line 3 that what was opened on line 2 is not closed.
    #expect(error.problems.map(\.line) == [3])
  }

  @Test(
    "Every version of every package of Apple's samples is read",
    .enabled(if: AppleFixtures.folder != nil, AppleFixtures.missing),
    arguments: ["Moody", "ReviewJournal", "SampleModel", "SampleModel3", "ScoutModel"])
  func samples(name: String) throws {
    let package = try ModelPackage(contentsOf: AppleFixtures.url("models/\(name).xcdatamodeld"))
    #expect(package.form == .source)
    for version in package.versionNames {
      let model = try package.model(named: version)
      #expect(!model.entities.isEmpty)
      #expect(ModelValidation.problems(of: model) == [])
    }
    #expect(try package.currentModel().entities.count > 0)
  }
}
