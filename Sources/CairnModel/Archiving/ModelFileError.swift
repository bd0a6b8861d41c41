import Foundation

/// A model file that cannot be read, with everything that is wrong with it.
public struct ModelFileError: Error, Sendable, CustomStringConvertible, LocalizedError {
  /// What kind of thing is wrong; stable.
  public enum Code: String, Sendable, Hashable {
    /// There is no such file, or it cannot be opened.
    case unreadable
    /// The file or folder is not a model in a form that Cairn reads.
    case notAModel
    /// The bytes break the rules of their format.
    case malformed
    /// The file is larger or nested deeper than any model.
    case tooLarge
    /// Something that must be there is not.
    case missingValue
    /// A value that its place does not allow.
    case invalidValue
    /// A name that stands for nothing in this model.
    case unknownName
    /// A name that is taken.
    case duplicateName
    /// A predicate or expression that cannot be parsed.
    case invalidPredicate
  }

  /// One thing that is wrong.
  public struct Problem: Sendable, Hashable, CustomStringConvertible {
    public let code: Code
    /// The line of the document, from 1; nil in binary files.
    public let line: Int?
    /// What is wrong and how to mend it.
    public let message: String

    package init(code: Code, line: Int?, message: String) {
      self.code = code
      self.line = line
      self.message = message
    }

    public var description: String { (line.map { "line \($0): " } ?? "") + message }
  }

  /// The path of the file.
  public let file: String
  public let problems: [Problem]

  package init(file: String, problems: [Problem]) {
    self.file = file
    self.problems = problems
  }

  package init(file: String, _ code: Code, _ message: String, line: Int? = nil) {
    self.init(file: file, problems: [Problem(code: code, line: line, message: message)])
  }

  public var description: String {
    let lines = problems.map { problem in
      "\(file):\(problem.line.map { "\($0):" } ?? "") \(problem.message)"
    }
    return lines.joined(separator: "\n")
  }
  public var errorDescription: String? { description }
}

/// What no model has, so that files which ask for more are refused.
///
/// A few bytes can stand for any number of properties where composites hold composites.
package enum ModelFileLimits {
  package static let properties = 100_000
  /// How many properties all entities may have together, where inherited ones count with each entity.
  package static let inheritedProperties = 1_000_000
  /// An error lists no more problems than this: no reader goes through more.
  package static let problems = 1000
  /// How deep composites may hold composites.
  package static let compositeDepth = 16
  /// How many entities may stand one above the other; who walks up does so by recursion.
  package static let inheritanceDepth = 100
}
