import CairnModel

/// Gathers the problems of one document while it is read.
final class ModelFileProblems {
  private(set) var all: [ModelFileError.Problem] = []
  /// How many more attributes may be made of the document.
  private var attributeBudget = ModelFileLimits.properties

  /// Counts one attribute made of the document; false when there have been too many, which is a
  /// problem.
  func spendAttribute(line: Int) -> Bool {
    attributeBudget -= 1
    if attributeBudget == 0 {
      add(
        .tooLarge, line: line,
        "The document stands for more than \(ModelFileLimits.properties) attributes.")
    }
    return attributeBudget > 0
  }

  func add(_ code: ModelFileError.Code, line: Int? = nil, _ message: String) {
    guard all.count < ModelFileLimits.problems else { return }
    all.append(ModelFileError.Problem(code: code, line: line, message: message))
  }

  /// Ends the reading when anything was found.
  func throwIfAny(file: String) throws {
    guard !all.isEmpty else { return }
    throw ModelFileError(
      file: file, problems: all.sorted { ($0.line ?? 0) < ($1.line ?? 0) })
  }
}
