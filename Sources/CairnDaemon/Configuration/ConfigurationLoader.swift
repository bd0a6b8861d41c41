// Finds the configuration files, lays them over each other and checks the result.
import CairnPlatform
import Foundation

/// Loads the configuration: what the vendor ships, the file, then `NAME.yaml.d/*.yaml` in name order, then
/// `--set`.
///
/// The vendor's folder has a file of the same name, and a folder `NAME.yaml.d` beside it; a file there is passed
/// over where one of its name is in the operator's `NAME.yaml.d`.
public struct ConfigurationLoader: Sendable {
  /// The main file.
  public let path: String
  /// The vendor's file; nil where there is no such place.
  let vendorPath: String?
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
    self.init(
      path: path, vendorPath: Self.vendorPath(of: path), settings: settings,
      environment: environment, groups: groups)
  }

  init(
    path: String, vendorPath: String?, settings: [String] = [], environment: [String: String],
    groups: @escaping GroupLookup
  ) {
    self.path = path
    self.vendorPath = vendorPath
    self.settings = settings
    self.environment = environment
    self.groups = groups
  }

  /// Where packages put what an operator's file in `/etc` is laid over: `/usr/lib/cairn/cairnd.yaml`.
  private static func vendorPath(of path: String) -> String? {
    let etc = "/etc/"
    return path.hasPrefix(etc) ? "/usr/lib/" + path.dropFirst(etc.count) : nil
  }

  /// Reads and checks everything.
  ///
  /// - Throws: ``ConfigurationInvalid`` with all problems at once.
  public func load() throws -> DaemonConfiguration { try loadSettings().configuration }

  /// The same with where each value comes from.
  func loadSettings() throws -> LoadedConfiguration { try read().loaded() }

  /// Reads as much as there is.
  func read() -> ConfigurationReading {
    let collector = ProblemCollector()
    var root = ConfigurationNode(
      origin: ConfigurationOrigin(source: path, line: 1), content: .mapping([]))
    for file in files(collector) {
      if let node = read(file, collector) { root = root.overlaid(by: node) }
    }
    for setting in settings { root = apply(setting, to: root, collector) }
    collector.isPartial = !collector.problems.isEmpty
    let sections = ConfigurationSections(
      root, collector: collector, expansion: VariableExpansion(environment: environment),
      groups: groups)
    return ConfigurationReading(
      root: root, sections: sections, isPartial: collector.isPartial, problems: collector.problems)
  }

  /// All files, each to be laid over those before it.
  private func files(_ collector: ProblemCollector) -> [String] {
    let own = overlays(of: path, collector)
    guard let vendorPath else { return [path] + own.map { "\(path).d/\($0)" } }
    let shipped = overlays(of: vendorPath, collector).filter { !own.contains($0) }
    let hasMain = FileManager.default.fileExists(atPath: vendorPath)
    // Where a vendor ships one, an operator need not have another.
    let isOptional = hasMain && !FileManager.default.fileExists(atPath: path)
    return (hasMain ? [vendorPath] : []) + shipped.map { "\(vendorPath).d/\($0)" }
      + (isOptional ? [] : [path]) + own.map { "\(path).d/\($0)" }
  }

  /// The names of the files beside a main one that are laid over it.
  private func overlays(of path: String, _ collector: ProblemCollector) -> [String] {
    let folder = "\(path).d"
    guard FileManager.default.fileExists(atPath: folder) else { return [] }
    if let problem = FileTrust.problem(ofFolder: folder, keepingOut: .all) {
      collector.add(ConfigurationOrigin(source: folder), "", problem)
      return []
    }
    do {
      return try FileManager.default.contentsOfDirectory(atPath: folder)
        .filter { $0.hasSuffix(".yaml") && !$0.hasPrefix(".") }.sorted()
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
      if let problem = FileTrust.problem(ofOwner: facts, at: file) {
        collector.add(origin, "", problem)
        return nil
      }
      let folder = URL(fileURLWithPath: file, isDirectory: false).deletingLastPathComponent().path
      if let problem = FileTrust.problem(ofFolder: folder, keepingOut: .all) {
        collector.add(origin, "", problem)
        return nil
      }
      guard facts.isRegularFile else {
        collector.add(origin, "", "not a file", remedy: "name a YAML file")
        return nil
      }
      guard facts.size <= 1 << 20 else {
        collector.add(
          origin, "", "larger than 1 MiB (\(facts.size) bytes)",
          remedy: "name a YAML file, or leave out what is not needed")
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
