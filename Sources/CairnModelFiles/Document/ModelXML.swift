import CairnModel
import CairnXML
import Foundation

/// The XML of a model file, which may come from anywhere.
enum ModelXML {
  private static let longest = 64 << 20

  /// Goes over a document.
  ///
  /// - Parameters:
  ///   - title: What the document should be, as the error's first words.
  ///   - take: Called with each event and the line on which it begins.
  /// - Throws: ``ModelFileError`` with the line on which the document breaks.
  static func scan(
    _ data: Data, file: String, otherwise title: String,
    _ take: (XMLScanner.Event, _ line: Int) throws -> Void
  ) throws {
    guard data.count <= longest else {
      throw ModelFileError(file: file, .tooLarge, "The document is larger than 64 MiB.")
    }
    // A comment may hold other bytes, which the scanner passes over.
    guard String(validating: data, as: UTF8.self) != nil else {
      throw ModelFileError(
        file: file, .malformed, "The document is no UTF-8 text; save it in UTF-8.")
    }
    var scanner = XMLScanner(data, .document)
    do {
      while true {
        let event = try scanner.next()
        if event == .endOfDocument { return }
        try take(event, scanner.eventLine())
      }
    } catch let problem as XMLScanner.Problem {
      let line = scanner.line(at: problem.place)
      if problem.isTooDeep {
        throw ModelFileError(
          file: file, .tooLarge,
          "Elements are nested deeper than \(XMLScanner.deepest) levels; models need nine.",
          line: line)
      }
      throw ModelFileError(file: file, .malformed, "\(title): \(problem.message).", line: line)
    }
  }
}
