// What is wrong with a file that a person named, with the next step.
import Cairn
import CairnControl
import CairnRecords
import Foundation

extension CommandFailure {
  init(_ error: ReadOnlyStoreError) { self.init(message: error.message, hint: error.hint) }

  /// What kept a model from being read, in whatever form its file has.
  ///
  /// - Parameter path: The file or package that was named.
  init(model error: any Error, at path: String) {
    let code = (error as? ModelFileError)?.problems.first?.code
    let isNone = code == .unreadable || code == .notAModel
    self.init(
      message: "\(error)",
      hint: isNone
        ? "name a .xcdatamodeld, .momd, .xcdatamodel or .mom, or a SQLite store that keeps its model"
        : "correct it, then: cairnctl model check \(ShellWord.path(path))")
  }

  /// What kept a SQLite store from being read.
  init(store error: CoreDataError, at path: String) {
    self.init(
      message: error.message,
      hint: error.code == .persistentStoreInvalidType
        ? "name the file of a SQLite store; for an XML or a binary one: cairnctl browse FILE"
        : Self.look(at: path))
  }

  /// What the system says of a file.
  init(_ error: CocoaError, at path: String) {
    self.init(message: "\(path): \(error.localizedDescription)", hint: Self.look(at: path))
  }

  private static func look(at path: String) -> String {
    "see what is there and who may read it: ls -ld \(ShellWord.path(path))"
  }
}
