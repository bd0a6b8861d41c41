import CairnModel
import CairnModelFiles
import Foundation
import TestSupport
import Testing

/// What kind of model file something is, and what is said of what is none.
@Suite struct ModelLoadingTests {
  private func withFile(_ bytes: Data, _ body: (URL) throws -> Void) throws {
    let folder = try TemporaryFolder()
    let file = folder.fileURL("Model.mom")
    try bytes.write(to: file)
    try body(file)
  }

  @Test(arguments: [
    (Data(), "is empty"), (Data("SQLite format 3\0and more".utf8), "is an SQLite database"),
    (Data("junk\n".utf8), "is no XML"), (Data(" \n\t".utf8), "is no XML"),
    (Data([0, 1, 2, 3]), "is no XML"),
  ])
  func whatIsNoModelIsCalledWhatItIs(bytes: Data, words: String) throws {
    try withFile(bytes) { file in
      let error = try #require(throws: ModelFileError.self) {
        try ManagedObjectModel.read(contentsOf: file)
      }
      #expect(error.problems.map(\.code) == [.notAModel])
      #expect("\(error)".contains("The file \(words)"), "\(error)")
      #expect("\(error)".contains(file.path))
    }
  }

  @Test(arguments: [String.Encoding.utf16, .utf16LittleEndian])
  func aDocumentInUTF16IsToldToBeSavedInUTF8(encoding: String.Encoding) throws {
    var bytes = try #require("<model/>".data(using: encoding))
    if encoding == .utf16LittleEndian { bytes.insert(contentsOf: [0xFF, 0xFE], at: 0) }
    try withFile(bytes) { file in
      let error = try #require(throws: ModelFileError.self) {
        try ManagedObjectModel.read(contentsOf: file)
      }
      #expect("\(error)".contains("save it in UTF-8"), "\(error)")
    }
  }

  @Test(arguments: ["", "\u{FEFF}", " \n"])
  func aDocumentMayBeginWithAMarkOrSpace(start: String) throws {
    let document =
      #"\#(start)<model type="com.apple.IDECoreDataModeler.DataModel" documentVersion="1.0">"#
      + #"<entity name="Item" syncable="YES"/></model>"#
    try withFile(Data(document.utf8)) { file in
      let model = try ManagedObjectModel.read(contentsOf: file)
      #expect(model.entities.map(\.name) == ["Item"])
    }
  }
}
