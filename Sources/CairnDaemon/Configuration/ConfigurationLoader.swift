// Finds the configuration files, lays them over each other and checks the result.
import CairnPlatform
import Foundation

/// Loads the configuration: the file, then `NAME.yaml.d/*.yaml` in name order, then `--set`.
public struct ConfigurationLoader: Sendable {
  /// The main file.
  public let path: String
  /// `key=value` from the command line.
  public let settings: [String]
  /// Where `${…}` is looked up.
  public let environment: [String: String]
  private let groups: GroupLookup

  public init(
    path: String, settings: [String] = [],
    environment: [String: String] = ProcessInfo.processInfo.environment,
    groups: @escaping GroupLookup = { try? AccountLookup.group(named: $0) }
  ) {
    self.path = path
    self.settings = settings
    self.environment = environment
    self.groups = groups
  }

  /// Reads and checks everything.
  ///
  /// - Throws: ``ConfigurationInvalid`` with all problems at once.
  public func load() throws -> DaemonConfiguration { try loadSettings().configuration }

  /// The same with where each value comes from.
  func loadSettings() throws -> LoadedConfiguration {
    let collector = ProblemCollector()
    var root = ConfigurationNode(
      origin: ConfigurationOrigin(source: path, line: 1), content: .mapping([]))
    for file in [path] + overlayFiles(collector) {
      if let node = read(file, collector) { root = root.overlaid(by: node) }
    }
    for setting in settings { root = apply(setting, to: root, collector) }
    // Keys cannot be judged by half a configuration: syntax first, then meaning.
    guard collector.problems.isEmpty else {
      throw ConfigurationInvalid(problems: collector.problems)
    }
    let configuration = DaemonConfiguration.read(
      root, collector: collector, expansion: VariableExpansion(environment: environment),
      groups: groups)
    guard let configuration, collector.problems.isEmpty else {
      throw ConfigurationInvalid(problems: collector.problems)
    }
    return LoadedConfiguration(configuration, from: root)
  }

  /// The files beside the main one that are laid over it.
  private func overlayFiles(_ collector: ProblemCollector) -> [String] {
    let folder = "\(path).d"
    guard FileManager.default.fileExists(atPath: folder) else { return [] }
    if let problem = FileTrust.problem(ofFolder: folder, keepingOut: .all) {
      collector.add(ConfigurationOrigin(source: folder), "", problem)
      return []
    }
    do {
      return try FileManager.default.contentsOfDirectory(atPath: folder)
        .filter { $0.hasSuffix(".yaml") && !$0.hasPrefix(".") }.sorted().map { "\(folder)/\($0)" }
    } catch {
      collector.add(
        ConfigurationOrigin(source: folder), "", "the folder cannot be read",
        remedy: "check its owner and mode")
      return []
    }
  }

  private func read(_ file: String, _ collector: ProblemCollector) -> ConfigurationNode? {
    let origin = ConfigurationOrigin(source: file)
    do {
      let facts = try FileFacts(path: file)
      if facts.mode & 0o022 != 0 {
        collector.add(
          origin, "", "others may write to the file (mode \(String(facts.mode, radix: 8)))",
          remedy: "chmod go-w \(file)")
        return nil
      }
      let folder = URL(fileURLWithPath: file, isDirectory: false).deletingLastPathComponent().path
      if let problem = FileTrust.problem(ofFolder: folder, keepingOut: .all) {
        collector.add(origin, "", problem)
        return nil
      }
      guard facts.isRegularFile, facts.size < 1 << 20 else {
        collector.add(origin, "", "not a file of at most 1 MiB", remedy: "name a YAML file")
        return nil
      }
    } catch let error as PlatformError {
      collector.add(
        origin, "", "cannot read the file: \(error.code.explanation)",
        remedy: error.code == .notFound ? "create it, or name another with --config" : nil)
      return nil
    } catch {
      collector.add(origin, "", "cannot read the file")
      return nil
    }
    guard let data = FileManager.default.contents(atPath: file) else {
      collector.add(origin, "", "cannot read the file", remedy: "check its owner and mode")
      return nil
    }
    guard let text = String(data: data, encoding: .utf8) else {
      collector.add(origin, "", "the file is not UTF-8", remedy: "save it as UTF-8")
      return nil
    }
    return parse(text, source: file, collector)
  }

  private func parse(_ text: String, source: String, _ collector: ProblemCollector)
    -> ConfigurationNode?
  {
    do {
      let node = try ConfigurationNode(yaml: text, source: source)
      if node.entries == nil, source != "--set" {
        collector.add(
          node.origin, "", "\(node.kindName) stands where keys are wanted",
          remedy: "write \"key: value\" lines")
        return nil
      }
      return node
    } catch let error as ConfigurationInvalid {
      for problem in error.problems {
        collector.add(problem.origin, problem.key, problem.problem, remedy: problem.remedy)
      }
    } catch {
      collector.add(
        ConfigurationOrigin(source: source), "", "not YAML: \(error)", remedy: "correct the YAML")
    }
    return nil
  }

  private func apply(_ setting: String, to root: ConfigurationNode, _ collector: ProblemCollector)
    -> ConfigurationNode
  {
    let origin = ConfigurationOrigin(source: "--set")
    guard let equals = setting.firstIndex(of: "="), equals != setting.startIndex else {
      collector.add(
        origin, "", "\"\(setting)\" has no key and value", remedy: "write --set key=value")
      return root
    }
    let key = setting[..<equals].split(separator: ".", omittingEmptySubsequences: false)
    let text = String(setting[setting.index(after: equals)...])
    guard let parsed = parse(text, source: "--set", collector) else { return root }
    let value = ConfigurationNode(origin: origin, content: parsed.content)
    return root.setting(key.map(String.init)[...], to: value)
  }
}
