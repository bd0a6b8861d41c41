// What was read of the configuration files, right or wrong.

/// The files laid over each other, what could be read of them, and what is wrong with it.
struct ConfigurationReading: Sendable {
  let root: ConfigurationNode
  let sections: ConfigurationSections
  /// Whether a file is missing in it, such as one that is not YAML.
  let isPartial: Bool
  let problems: [ConfigurationProblem]

  /// The configuration with where each value comes from.
  ///
  /// - Throws: ``ConfigurationInvalid`` with all problems at once.
  func loaded() throws -> LoadedConfiguration {
    guard let configuration = sections.configuration, problems.isEmpty else {
      throw ConfigurationInvalid(problems: problems)
    }
    return LoadedConfiguration(configuration, from: root)
  }
}
