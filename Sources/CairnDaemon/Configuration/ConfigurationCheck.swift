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
  /// - Throws: ``ConfigurationInvalid`` with all problems at once.
  @discardableResult
  static func load(_ loader: ConfigurationLoader) throws -> LoadedConfiguration {
    let loaded = try loader.loadSettings()
    let problems = problems(of: loaded.configuration).map { found in
      let written = loaded.settings.first { $0.key == found.key }?.origin
      return ConfigurationProblem(
        origin: written ?? ConfigurationOrigin(source: loader.path), key: found.key,
        problem: found.problem, remedy: found.remedy)
    }
    guard problems.isEmpty else { throw ConfigurationInvalid(problems: problems) }
    return loaded
  }

  private typealias Problem = (key: String, problem: String, remedy: String?)

  private static func problems(of configuration: DaemonConfiguration) -> [Problem] {
    var problems: [Problem] = []
    do {
      let opening = LocalStoreOpening(
        configuration: configuration, ownership: StoreOwnership(of: configuration.local.path),
        reporter: EngineReporter(onProgress: { _, _ in }, onSummary: { _, _ in }))
      problems += unknownEntities(configuration, try opening.model())
    } catch let failure as EngineFailure {
      problems.append(("model", failure.reason, nil))
    } catch {
      problems.append(("model", String(describing: error), nil))
    }
    if let problem = problem(ofFile: configuration.local.path) {
      problems.append(("local.path", problem, "name a file, which may be a new one"))
    }
    let folder = URL(fileURLWithPath: configuration.local.path, isDirectory: false)
      .deletingLastPathComponent().path
    if let problem = FileTrust.problem(ofFolder: folder, keepingOut: .world) {
      problems.append(("local.path", problem, nil))
    }
    for replica in configuration.replicas {
      if let problem = problem(ofFile: replica.path) {
        problems.append(
          ("replicas.\(replica.name).path", problem, "name a file, which may be a new one"))
      }
    }
    return problems
  }

  /// What names entities that the model does not have.
  private static func unknownEntities(
    _ configuration: DaemonConfiguration, _ model: ManagedObjectModel
  ) -> [Problem] {
    let known = Set(model.entitiesByName.keys)
    var named = configuration.sync.entityConflicts.keys.sorted().map {
      (key: "sync.conflict.entities.\($0)", entity: $0)
    }
    for replica in configuration.replicas {
      named += (replica.entities ?? []).sorted().map {
        (key: "replicas.\(replica.name).entities", entity: $0)
      }
    }
    return named.filter { !known.contains($0.entity) }.map { key, entity in
      let nearest = NearestName.find(entity, among: known.sorted())
      return (
        key, "the model has no entity \"\(entity)\"",
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
