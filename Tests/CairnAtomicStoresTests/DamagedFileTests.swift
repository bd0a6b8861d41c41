// Files that cannot be used: each has its error, and is left as it is.

import CairnAtomicStores
import CairnCoordinator
import CairnModel
import CairnStore
import Foundation
import TestSupport
import Testing

/// Section 1 of the document on Core Data's XML format, chapter 20.1, and decision 0012.
@Suite struct DamagedFileTests {
  /// Opens bytes as a store and returns the error; checks that the file is as it was.
  private func error(
    opening data: Data, as type: String = "XML", options: [AnyHashable: Any]? = nil
  ) throws -> CoreDataError? {
    let place = try TemporaryFolder()
    let url = place.fileURL("store")
    try data.write(to: url)
    let error = Shelf.error { _ = try Shelf.open(type, at: url, options: options) }
    #expect(try Data(contentsOf: url) == data)
    #expect(place.names == ["store"])
    return error
  }

  @Test(arguments: [
    ("<object type=\"TAG\" id=\"102\"></object>", "is not a z and a number"),
    ("<object type=\"NOBODY\" id=\"z102\"></object>", "no entity for objects of type NOBODY"),
    ("<object type=\"TAG\" id=\"z1\"/><object type=\"TAG\" id=\"z1\"/>", "z1 is there twice"),
    (
      "<object type=\"BOOK\" id=\"z1\"><attribute name=\"pages\" type=\"int16\">99999999999999999999</attribute></object>",
      "no value for BOOK.pages"
    ),
    (
      "<object type=\"BOOK\" id=\"z1\"><attribute name=\"colour\" type=\"string\">x</attribute></object>",
      "BOOK has no attribute colour"
    ),
    (
      "<object type=\"BOOK\" id=\"z1\"><relationship name=\"writer\" idrefs=\"z9\"/></object>",
      "names z9, which is no object"
    ),
    (
      "<object type=\"BOOK\" id=\"z1\"><relationship name=\"writer\" idrefs=\"z1\"/></object>",
      "names z1, which is no Author"
    ),
    (
      "<object type=\"BOOK\" id=\"z1\"><relationship name=\"writer\" idrefs=\"z2 z3\"/></object><object type=\"AUTHOR\" id=\"z2\"/><object type=\"AUTHOR\" id=\"z3\"/>",
      "leads to one object only"
    ),
    ("<object type=\"TAG\" id=\"z1\">text</object>", "text directly inside object"),
    ("<object type=\"TAG\" id=\"z1\"></wrong>", "object is ended by wrong"),
    (
      "<object type=\"TAG\" id=\"z1\"><attribute name=\"word\">&nope;</attribute></object>",
      "&nope;"
    ),
  ])
  func aMistakeInXMLNamesItsLine(object: String, message: String) throws {
    let data = try XMLStoreTests.file(object)
    let text = try #require(String(data: data, encoding: .utf8))
    let line =
      1
      + text.prefix(upTo: try #require(text.range(of: object)).lowerBound)
      .count { $0 == "\n" }
    let error = try #require(try error(opening: data))
    #expect(error.errorCode == 259)
    #expect(error.message.contains(message), "\(error.message)")
    #expect(error.userInfo["line"] as? Int == line, "\(error.message)")
  }

  @Test func aTruncatedXMLFileIsDamagedWhereverItEnds() throws {
    let data = try XMLStoreTests.file("<object type=\"TAG\" id=\"z1\"></object>")
    for length in stride(from: 120, to: data.count - 1, by: 97) {
      let error = try error(opening: data.prefix(length))
      #expect(
        [259, 134000].contains(error?.errorCode), "cut at \(length): \(String(describing: error))")
    }
  }

  @Test(arguments: ["hello", "<html></html>", "SQLite format 3\u{0}", "<?xml version=\"1.0\"?>"])
  func aForeignFileIsNoXMLStore(text: String) throws {
    #expect(try error(opening: Data(text.utf8))?.code == .persistentStoreInvalidType)
  }

  @Test func entitiesAreNeverDeclaredNorFetched() throws {
    let bomb = """
      <?xml version="1.0"?>
      <!DOCTYPE database [<!ENTITY a "aaaaaaaaaa"><!ENTITY b "&a;&a;&a;&a;">]>
      <database></database>
      """
    let error = try #require(try error(opening: Data(bomb.utf8)))
    #expect(error.message.contains("declares something of its own"), "\(error.message)")
  }

  @Test func anotherEncodingIsRefused() throws {
    let text = "<?xml version=\"1.0\" encoding=\"ISO-8859-1\"?><database></database>"
    let error = try #require(try error(opening: Data(text.utf8)))
    #expect(error.message.contains("only UTF-8"), "\(error.message)")
    #expect(try self.error(opening: Data([0xFF, 0xFE, 0x3C, 0])) != nil)
  }

  @Test func aNewerXMLFormatIsRefused() throws {
    var text = try #require(String(data: try XMLStoreTests.file(""), encoding: .utf8))
    text = text.replacingOccurrences(of: "134481920", with: "134481921")
    let error = try #require(try error(opening: Data(text.utf8)))
    #expect(error.message.contains("newer"), "\(error.message)")
  }

  @Test func validationRefusesWhatTheFormatDoesNotKnow() throws {
    let place = try TemporaryFolder()
    let data = try XMLStoreTests.file("<object type=\"TAG\" id=\"z1\"><extra/></object>")
    let url = place.fileURL("store")
    try data.write(to: url)
    let readOnly = [StoreOptionKey.readOnly: true]
    #expect(Shelf.error { _ = try Shelf.open("XML", at: url, options: readOnly) } == nil)
    let strict = readOnly.merging([StoreOptionKey.validateXML: true]) { $1 }
    #expect(Shelf.error { _ = try Shelf.open("XML", at: url, options: strict) }?.errorCode == 259)
  }

  @Test(arguments: [
    "<object type=\"TAG\" id=\"z1\"><extra/></object>", "<object type=\"TAG\" id=\"z1\" x=\"y\"/>",
    "<extra/>",
    "<object type=\"TAG\" id=\"z1\"><attribute name=\"word\">a</attribute><attribute name=\"Word\">b</attribute></object>",
    "<object type=\"TAG\" id=\"z1\"><relationship name=\"tagged\"/><relationship name=\"tagged\"/></object>",
  ])
  func whatASaveWouldLoseIsAnErrorOfItsLine(object: String) throws {
    let error = try #require(try error(opening: try XMLStoreTests.file(object)))
    #expect(error.errorCode == 259, "\(error.message)")
    #expect(error.userInfo["line"] is Int, "\(error.message)")
  }

  @Test func newMetadataRefuseAFileOfWhichTheyWouldLoseSomething() throws {
    let place = try TemporaryFolder()
    let url = place.fileURL("store")
    let data = try XMLStoreTests.file("<extra/>")
    try data.write(to: url)
    let error = Shelf.error {
      try XMLStoreKind().setMetadata([:], at: url, options: StoreOptions())
    }
    #expect(error?.errorCode == 259)
    #expect(try Data(contentsOf: url) == data)
  }

  /// It may be what a power cut has left of a store.
  @Test(arguments: ["XML", "Binary"]) func anEmptyFileIsNoNewStore(type: String) throws {
    let error = try #require(try error(opening: Data(), as: type))
    #expect(error.errorCode == 259 && error.message.contains("is empty"), "\(error.message)")
  }

  @Test func aFileWhoseKeysHaveComeToTheirEndTakesNoNewObjects() throws {
    let object = "<object type=\"TAG\" id=\"z\(Int64.max)\"></object>"
    let place = try TemporaryFolder()
    try XMLStoreTests.file(object).write(to: place.fileURL("store"))
    let (_, store) = try Shelf.open("XML", at: place.fileURL("store"))
    #expect(try Shelf.rows("Tag", of: store).count == 1)
    let error = Shelf.error { try Shelf.insert("Tag", [:], into: store) }
    #expect(error?.code == .persistentStoreSave)
    #expect(error?.message.contains("there are no more") == true, "\(error?.message ?? "")")
  }

  // MARK: Binary

  private func binary() throws -> Data {
    let place = try TemporaryFolder()
    let (_, store) = try Shelf.open("Binary", at: place.fileURL("store"))
    try Shelf.insert("Tag", ["word": .string("x")], into: store)
    return try Data(contentsOf: place.fileURL("store"))
  }

  @Test func everyCutOfABinaryFileIsNoticed() throws {
    let data = try binary()
    for length in stride(from: 1, to: data.count, by: 23) {
      let error = try error(opening: data.prefix(length), as: "Binary")
      #expect([259, 134000].contains(error?.errorCode), "cut at \(length)")
    }
  }

  @Test func everyChangedByteOfABinaryFileIsNoticed() throws {
    let data = try binary()
    for index in stride(from: 0, to: data.count, by: 13) {
      var bad = data
      bad[index] ^= 0x20
      #expect(try error(opening: bad, as: "Binary") != nil, "byte \(index)")
    }
  }

  @Test func aBinaryStoreOfApplesIsRefusedWithAdvice() throws {
    let list = try PropertyListSerialization.data(
      fromPropertyList: ["$archiver": "NSKeyedArchiver"], format: .binary, options: 0)
    let error = try #require(try error(opening: list, as: "Binary"))
    #expect(error.code == .persistentStoreInvalidType)
    #expect(error.message.contains("Apple"))
  }

  @Test func aNewerBinaryFormatIsRefused() throws {
    var data = try binary()
    data[19] = 2
    let error = try #require(try error(opening: data, as: "Binary"))
    #expect(error.message.contains("format version 2"))
  }

  @Test func oneTypeIsNotOpenedAsAnother() throws {
    #expect(try error(opening: try binary(), as: "XML")?.code == .persistentStoreTypeMismatch)
    let xml = try XMLStoreTests.file("")
    #expect(try error(opening: xml, as: "Binary")?.code == .persistentStoreTypeMismatch)
  }

  // MARK: Models

  @Test(arguments: ["XML", "Binary"])
  func derivedAttributesAreRefused(type: String) throws {
    let place = try TemporaryFolder()
    let error = Shelf.error {
      _ = try Shelf.open(type, at: place.fileURL("store"), model: Shelf.model(withDerived: true))
    }
    #expect(error?.code == .persistentStoreIncompatibleSchema)
    #expect(place.names.isEmpty)
  }

  @Test(arguments: ["XML", "Binary"])
  func aFileOfAnotherModelVersionIsRefused(type: String) throws {
    let place = try TemporaryFolder()
    _ = try Shelf.open(type, at: place.fileURL("store"))
    let before = try Data(contentsOf: place.fileURL("store"))
    let newer = Shelf.model()
    newer.entities[2].properties += [AttributeDescription(name: "extra", type: .string)]
    let error = Shelf.error { _ = try Shelf.open(type, at: place.fileURL("store"), model: newer) }
    #expect(error?.code == .persistentStoreIncompatibleVersionHash)
    #expect(try Data(contentsOf: place.fileURL("store")) == before)
  }

  @Test func namesThatDifferOnlyInCaseAreRefusedInXML() throws {
    let place = try TemporaryFolder()
    let model = Shelf.model()
    model.entities[0].properties += [AttributeDescription(name: "fullname", type: .string)]
    let error = Shelf.error { _ = try Shelf.open("XML", at: place.fileURL("store"), model: model) }
    #expect(error?.code == .persistentStoreIncompatibleSchema)
    #expect(place.names.isEmpty)
  }
}
