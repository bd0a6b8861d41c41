// What is in an XML store's file, read and written.

@testable import CairnAtomicStores
import CairnCoordinator
import CairnModel
import CairnStore
import Foundation
import TestSupport
import Testing

/// The document on Core Data's XML format, sections 1 and 2.
@Suite struct XMLStoreTests {
  let place: TemporaryFolder
  init() throws { place = try TemporaryFolder() }

  /// A file as Core Data writes it, with the hashes of the test's model.
  static func file(_ objects: String, info: String = "", uuid: String = "ABC-1") throws -> Data {
    let model = Shelf.model()
    try model.prepareForUse()
    let hashes = model.entityVersionHashesByName.sorted { $0.key < $1.key }.map {
      "<key>\($0.key)</key><data>\n\t\t\($0.value.base64EncodedString())\n\t\t</data>"
    }.joined()
    return Data(
      """
      <?xml version="1.0" standalone="yes"?>
      <!DOCTYPE database SYSTEM "file:///System/Library/DTDs/CoreData.dtd">

      <database>
          <databaseInfo>
              <version>134481920</version>
              <UUID>\(uuid)</UUID>
              <nextObjectID>130</nextObjectID>
              <metadata>
                  <plist version="1.0"><dict>
                      <key>NSStoreModelVersionHashes</key><dict>\(hashes)</dict>
                      <key>NSStoreModelVersionHashesVersion</key><integer>3</integer>
                      <key>colour</key><string>red</string>
                  </dict></plist>
              </metadata>
          </databaseInfo>\(info)
      \(objects)
      </database>
      """.utf8)
  }

  func open(_ data: Data, options: [AnyHashable: Any]? = nil) throws -> PersistentStore {
    let url = place.fileURL("read.xml")
    try data.write(to: url)
    return try Shelf.open("XML", at: url, options: options).1
  }

  /// As in very old files.
  @Test func aFileWithEmptyMetadataIsRead() throws {
    let full = String(
      decoding: try Self.file("<object type=\"TAG\" id=\"z108\"></object>"), as: UTF8.self)
    let start = try #require(full.range(of: "<metadata>")).upperBound
    let end = try #require(full.range(of: "</metadata>")).lowerBound
    let store = try open(Data(full.replacingCharacters(in: start..<end, with: "").utf8))
    #expect(store.identifier == "ABC-1")
  }

  @Test func aFileOfCoreDataIsRead() throws {
    let store = try open(
      try Self.file(
        """
            <object type="BOOK" id="z108">
                <attribute name="title" type="string">A &amp; B &#233;</attribute>
                <attribute name="pages" type="int16">412</attribute>
                <attribute name="inprint" type="bool">1</attribute>
                <attribute name="printed" type="date">445103622.25000000000000000000</attribute>
                <relationship name="writer" type="1/1" destination="AUTHOR" idrefs="z102"></relationship>
                <relationship name="tags" type="0/0" destination="TAG" idrefs="z112 z111"></relationship>
            </object>
            <object type="AUTHOR" id="z102">
                <attribute name="fullname" type="string">Ada</attribute>
                <relationship name="books" type="0/0" destination="BOOK" idrefs="z108"></relationship>
            </object>
            <object type="TAG" id="z111">
                <relationship name="tagged" type="0/0" destination="BOOK" idrefs="z108"></relationship>
            </object>
            <object type="TAG" id="z112">
                <relationship name="tagged" type="0/0" destination="BOOK" idrefs="z108"></relationship>
            </object>
        """))
    let book = try #require(try Shelf.rows("Book", of: store).first)
    #expect(try Shelf.value("title", of: book) == .string("A & B é"))
    #expect(try Shelf.value("pages", of: book) == .integer(412))
    #expect(try Shelf.value("inPrint", of: book) == .boolean(true))
    #expect(
      try Shelf.value("printed", of: book)
        == .date(Date(timeIntervalSinceReferenceDate: 445_103_622.25)))
    #expect(book.objectID.rowKey == 108)
    let tags = try Shelf.members("tags", of: book, in: store)
    #expect(tags.map(\.rowKey) == [112, 111], "the order of idrefs")
    let author = try #require(try Shelf.rows("Author", of: store).first)
    #expect(try Shelf.value("writer", of: book) == .object(author.objectID))
    #expect(try Shelf.members("books", of: author, in: store) == [book.objectID])
    #expect(store.identity.identifier == "ABC-1")
    #expect(store.metadata["colour"] as? String == "red")
    #expect(store.metadata[StoreMetadataKey.type] as? String == "XML")
  }

  @Test func aDecimalMayLackDigitsOnOneSideOfItsPoint() {
    #expect(XMLValues.value(of: "5.", for: .decimal) == .decimal(5))
    #expect(XMLValues.value(of: "-.5e1", for: .decimal) == .decimal(-5))
    for text in [".", "-", "5.x", "e5", ""] {
      #expect(XMLValues.value(of: text, for: .decimal) == nil, "\(text)")
    }
  }

  /// A context accepts it, so that a save may have written it.
  @Test func aNumberWiderThanItsAttributeIsRead() throws {
    let store = try open(
      try Self.file(
        """
        <object type="BOOK" id="z108"><attribute name="pages" type="int16">40000</attribute></object>
        """))
    let book = try #require(try Shelf.rows("Book", of: store).first)
    #expect(try Shelf.value("pages", of: book) == .integer(40000))
  }

  @Test func aMissingInverseIsAdded() throws {
    let store = try open(
      try Self.file(
        """
        <object type="AUTHOR" id="z102"><relationship name="books" type="0/0" destination="BOOK" idrefs="z103"/></object>
        <object type="BOOK" id="z103"></object>
        <object type="TAG" id="z104"><relationship name="tagged" type="0/0" destination="BOOK" idrefs="z103"/></object>
        """))
    let book = try #require(try Shelf.rows("Book", of: store).first)
    let author = try #require(try Shelf.rows("Author", of: store).first)
    #expect(try Shelf.value("writer", of: book) == .object(author.objectID))
    #expect(try Shelf.members("tags", of: book, in: store).map(\.rowKey) == [104])
  }

  @Test func numbersGoOnAfterTheHighestOfCounterAndObjects() throws {
    let byCounter = try open(try Self.file("<object type=\"TAG\" id=\"z104\"></object>"))
    #expect(try Shelf.row("Tag", [:], in: byCounter).objectID.rowKey == 131)
    let byObject = try open(try Self.file("<object type=\"TAG\" id=\"z999\"></object>"))
    #expect(try Shelf.row("Tag", [:], in: byObject).objectID.rowKey == 1000)
  }

  @Test func theFileIsWrittenAsCoreDataWritesIt() throws {
    let url = place.fileURL("store")
    let (_, store) = try Shelf.open("XML", at: url)
    let author = try Shelf.insert("Author", ["fullName": .string("A<B>\u{7}")], into: store)
    try Shelf.insert(
      "Book",
      [
        "pages": .integer(3), "inPrint": .boolean(true), "scratch": .string("never"),
        "printed": .date(Date(timeIntervalSinceReferenceDate: 445_103_622.25)),
        "writer": .object(author.objectID),
      ], into: store)
    let text = try String(contentsOf: url, encoding: .utf8)
    #expect(
      text.hasPrefix(
        """
        <?xml version="1.0" standalone="yes"?>
        <!DOCTYPE database SYSTEM "file:///System/Library/DTDs/CoreData.dtd">

        <database>
            <databaseInfo>
                <version>134481920</version>
                <UUID>\(store.identity.identifier)</UUID>
                <nextObjectID>103</nextObjectID>
                <metadata>
                    <plist version="1.0">
                        <dict>

        """))
    #expect(
      text.hasSuffix(
        """
            <object type="AUTHOR" id="z102">
                <attribute name="fullname" type="string">A&lt;B&gt;&#7;</attribute>
                <relationship name="books" type="0/0" destination="BOOK" idrefs="z103"></relationship>
            </object>
            <object type="BOOK" id="z103">
                <attribute name="inprint" type="bool">1</attribute>
                <attribute name="pages" type="int16">3</attribute>
                <attribute name="printed" type="date">445103622.25000000000000000000</attribute>
                <relationship name="writer" type="1/1" destination="AUTHOR" idrefs="z102"></relationship>
                <relationship name="tags" type="0/0" destination="TAG"></relationship>
            </object>
        </database>
        """))
    #expect(!text.contains("NSStoreUUID") && !text.contains("<key>NSStoreType</key>"))
  }

  @Test func objectURIsNameTheFilesNumbers() throws {
    let (coordinator, store) = try Shelf.open("XML", at: place.fileURL("store"))
    let tag = try Shelf.insert("Tag", [:], into: store)
    let uri = tag.objectID.uriRepresentation()
    #expect(uri.absoluteString == "x-coredata://\(store.identity.identifier)/Tag/z102")
    #expect(coordinator.managedObjectID(forURIRepresentation: uri) == tag.objectID)
  }

  @Test func everyMetadataValueSurvives() throws {
    let url = place.fileURL("store")
    let (coordinator, store) = try Shelf.open("XML", at: url)
    let values: [String: Any] = [
      "text": "a\n<b> & \"c\"", "number": 7, "big": UInt64.max, "real": 1.25, "yes": true,
      "no": false,
      "data": Data((0..<200).map { UInt8($0) }), "date": Date(timeIntervalSince1970: 1_700_000_000),
      "list": [1, ["x": "y"], []] as [Any], "empty": [String: Any](),
    ]
    coordinator.setMetadata(values, for: store)
    try Shelf.insert("Tag", [:], into: store)
    let (_, again) = try Shelf.open("XML", at: url)
    for (key, value) in values {
      let found = try #require(again.metadata[key] as? NSObject)
      #expect(found.isEqual(value), "\(key): \(found)")
    }
  }

  @Test func metadataThatIsNoPropertyListStopsTheSave() throws {
    let url = place.fileURL("store")
    let (coordinator, store) = try Shelf.open("XML", at: url)
    let before = try Data(contentsOf: url)
    coordinator.setMetadata(["object": NSObject()], for: store)
    let error = Shelf.error { try Shelf.insert("Tag", [:], into: store) }
    #expect(error?.code == .coreData)
    #expect(try Data(contentsOf: url) == before)
    #expect(try Shelf.rows("Tag", of: store).isEmpty)
  }

  /// Chapter 4 of the document on fixtures: files of Xcode's are genuine XML stores.
  @Test func filesOfAppleAreReadAndWrittenByteForByte() throws {
    guard let folder = ProcessInfo.processInfo.environment["CAIRN_APPLE_FIXTURES"] else {
      print("skipped: CAIRN_APPLE_FIXTURES is not set")
      return
    }
    let mappings = URL(fileURLWithPath: folder).appendingPathComponent("mapping-models")
    let names = try FileManager.default.contentsOfDirectory(atPath: mappings.path)
    #expect(!names.isEmpty)
    for name in names {
      let url = mappings.appendingPathComponent(name).appendingPathComponent("xcmapping.xml")
      let data = try Data(contentsOf: url)
      var reader = XMLDocumentReader(data, path: url.path, isStrict: true)
      let document = try reader.read()
      #expect(document.objects.count > 10)
      #expect(document.highestNumber == document.objects.map(\.number).max())
      let written = try #require(
        String(data: try XMLDocumentWriter.data(of: document), encoding: .utf8))
      // Both spellings of the first line occur.
      let text = try #require(String(data: data, encoding: .utf8))
        .replacingOccurrences(of: "standalone=\"no\"", with: "standalone=\"yes\"")
      #expect(written == text, "\(name) is written differently")
    }
  }
}
