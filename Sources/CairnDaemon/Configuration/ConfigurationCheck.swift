// What a configuration says of the world, looked at before it is believed.
import CairnControl
import CairnModel
import CairnPlatform
import Foundation
import Synchronization

/// Checks a configuration beyond its text: that its model can be used and has the entities that are named, and
/// that what is called a store
/// is none of a folder, a pipe or a device.
enum ConfigurationCheck {
  /// How long a mount may take to tell what a file is.
  private static let patience = DispatchTimeInterval.seconds(2)

  /// Loads a configuration and checks it.
  ///
  /// Blocks for as long as files take to answer.
  ///
  /// - Throws: ``ConfigurationInvalid`` with all problems at once, those of its text and those of what it names.
  @discardableResult
  static func load(_ loader: ConfigurationLoader) throws -> LoadedConfiguration {
    let reading = loader.read()
    let problems = problems(of: reading, file: loader.path)
    guard problems.isEmpty else { throw ConfigurationInvalid(problems: problems) }
    return try reading.loaded()
  }

  private typealias Problem = (path: [String], problem: String, remedy: String?)

  private static func problems(
    of reading: ConfigurationReading, file: String
  ) -> [ConfigurationProblem] {
    // A key whose text is wrong has no value to look at.
    let known = Set(reading.problems.map(\.key))
    let found = problems(of: reading.sections).map { path, problem, remedy in
      ConfigurationProblem(
        origin: reading.root.written(at: path)?.origin ?? ConfigurationOrigin(source: file),
        key: path.joined(separator: "."), problem: problem, remedy: remedy)
    }
    return reading.problems + found.filter { !known.contains($0.key) }
  }

  private static func problems(of sections: ConfigurationSections) -> [Problem] {
    var problems: [Problem] = []
    do {
      if let model = try model(of: sections) { problems += unknownEntities(sections, model) }
    } catch let failure as EngineFailure {
      problems.append((["model"], failure.reason, nil))
    } catch {
      problems.append((["model"], String(describing: error), nil))
    }
    if let local = sections.local {
      if let problem = problem(ofFile: local.path) {
        problems.append((["local", "path"], problem, "name a file, which may be a new one"))
      }
      let folder = URL(fileURLWithPath: local.path, isDirectory: false)
        .deletingLastPathComponent().path
      if let problem = FileTrust.problem(ofFolder: folder, keepingOut: .world) {
        problems.append((["local", "path"], problem, nil))
      }
    }
    for replica in sections.replicas {
      if let problem = problem(ofFile: replica.path) {
        problems.append(
          (["replicas", replica.name, "path"], problem, "name a file, which may be a new one"))
      }
    }
    return problems
  }

  /// The model; nil while its place is not known.
  private static func model(of sections: ConfigurationSections) throws -> ManagedObjectModel? {
    guard let section = sections.model else { return nil }
    let localStore = sections.local?.path
    if section == .fromStore, localStore == nil { return nil }
    return try LocalStoreOpening.model(section, localStore: localStore ?? "")
  }

  /// What names entities that the model does not have.
  private static func unknownEntities(
    _ configuration: ConfigurationSections, _ model: ManagedObjectModel
  ) -> [Problem] {
    let known = Set(model.entitiesByName.keys)
    var named = configuration.sync.entityConflicts.keys.sorted().map {
      (path: ["sync", "conflict", "entities", $0], entity: $0)
    }
    for replica in configuration.replicas {
      named += (replica.entities ?? []).sorted().map {
        (path: ["replicas", replica.name, "entities"], entity: $0)
      }
    }
    return named.filter { !known.contains($0.entity) }.map { path, entity in
      let nearest = NearestName.find(entity, among: known.sorted())
      return (
        path, "the model has no entity \"\(entity)\"",
        nearest.map { "did you mean \"\($0)\"?" } ?? "take it out, or correct its name"
      )
    }
  }

  /// What keeps a path from being a store's; nil also where nothing answers, which may mend itself.
  private static func problem(ofFile path: String) -> String? {
    let look = Look()
    Thread.detachNewThread { look.take(path) }
    guard look.hasAnswered.wait(timeout: .now() + patience) == .success else { return nil }
    guard let facts = look.facts.withLock({ $0 }), !facts.isRegularFile else { return nil }
    return "\(path) is \(facts.isFolder ? "a folder" : "a device, a pipe or a socket")"
  }

  /// Asks for a file's facts on a thread that may never come back.
  private final class Look: Sendable {
    let facts = Mutex<FileFacts?>(nil)
    let hasAnswered = DispatchSemaphore(value: 0)

    func take(_ path: String) {
      let found = try? FileFacts(path: path)
      facts.withLock { $0 = found }
      hasAnswered.signal()
    }
  }
}
