// One thing that is wrong with the configuration, and where.

/// A problem in a configuration file, on the command line or in the environment.
public struct ConfigurationProblem: Sendable, Hashable, CustomStringConvertible {
  /// Where the wrong text stands.
  public let origin: ConfigurationOrigin
  /// The dotted key, `replicas.nas.path`; empty for the file as a whole.
  public let key: String
  /// What is wrong.
  public let problem: String
  /// What would be right.
  public let remedy: String?

  public init(
    origin: ConfigurationOrigin, key: String, problem: String, remedy: String? = nil
  ) {
    self.origin = origin
    self.key = key
    self.problem = problem
    self.remedy = remedy
  }

  /// `file:line:column: key: what is wrong; what would be right`.
  public var description: String {
    var text = "\(origin): "
    if !key.isEmpty { text += "\(key): " }
    text += problem
    if let remedy { text += "; \(remedy)" }
    return text
  }
}

/// Where a piece of configuration came from.
public struct ConfigurationOrigin: Sendable, Hashable, CustomStringConvertible {
  /// The file's path, `--set` or `default`.
  public let source: String
  /// Counted from 1; nil where lines mean nothing.
  public let line: Int?
  public let column: Int?

  public init(source: String, line: Int? = nil, column: Int? = nil) {
    self.source = source
    self.line = line
    self.column = column
  }

  public var description: String {
    [source, line.map(String.init), column.map(String.init)].compactMap { $0 }
      .joined(separator: ":")
  }
}

/// All problems of a configuration at once.
public struct ConfigurationInvalid: Error, Sendable, CustomStringConvertible {
  /// At least one, in the order of the files.
  public let problems: [ConfigurationProblem]

  public init(problems: [ConfigurationProblem]) {
    var order: [String: Int] = [:]
    for problem in problems where order[problem.origin.source] == nil {
      order[problem.origin.source] = order.count
    }
    func place(_ origin: ConfigurationOrigin) -> (Int, Int, Int) {
      (order[origin.source] ?? 0, origin.line ?? 0, origin.column ?? 0)
    }
    self.problems = problems.sorted { place($0.origin) < place($1.origin) }
  }

  /// One line a problem.
  public var description: String { problems.map(\.description).joined(separator: "\n") }
}
