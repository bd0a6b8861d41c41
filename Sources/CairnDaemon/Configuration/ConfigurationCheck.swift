// What a configuration says of the world, looked at before it is believed.
import CairnControl
import CairnModel
import CairnPlatform
import CairnSync
import Foundation
import Synchronization

/// Checks a configuration beyond its text: that its model can be used and has the entities that are named, that
/// what is called a store is none of a folder, a pipe or a device, and that no two stores are one file.
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
    try loadWithModel(loader).configuration
  }

  /// The same with the model that was looked at.
  static func loadWithModel(
    _ loader: ConfigurationLoader
  ) throws -> (configuration: LoadedConfiguration, model: ManagedObjectModel?) {
    let reading = loader.read()
    let model = Result { try self.model(of: reading.sections) }
    let problems = problems(of: reading, model, file: loader.path)
    guard problems.isEmpty else { throw ConfigurationInvalid(problems: problems) }
    return (try reading.loaded(), try model.get())
  }

  private typealias Problem = (path: [String], problem: String, remedy: String?)

  private static func problems(
    of reading: ConfigurationReading, _ model: Result<ManagedObjectModel?, any Error>, file: String
  ) -> [ConfigurationProblem] {
    // A key whose text is wrong has no value to look at.
    let known = Set(reading.problems.map(\.key))
    let found = problems(of: reading.sections, model).map { path, problem, remedy in
      ConfigurationProblem(
        origin: reading.root.written(at: path)?.origin ?? ConfigurationOrigin(source: file),
        key: path.joined(separator: "."), problem: problem, remedy: remedy)
    }
    return reading.problems + found.filter { !known.contains($0.key) }
  }

  private static func problems(
    of sections: ConfigurationSections, _ model: Result<ManagedObjectModel?, any Error>
  ) -> [Problem] {
    var problems: [Problem] = []
    do {
      if let model = try model.get() { problems += unknownEntities(sections, model) }
    } catch let failure as EngineFailure {
      problems.append((["model"], failure.reason, nil))
    } catch {
      problems.append((["model"], String(describing: error), nil))
    }
    if let local = sections.local {
      let folder = URL(fileURLWithPath: local.path, isDirectory: false)
        .deletingLastPathComponent().path
      if let problem = FileTrust.problem(ofFolder: folder, keepingOut: .world, of: local.path) {
        problems.append((["local", "path"], problem, nil))
      }
    }
    return problems + self.problems(ofFiles: sections)
  }

  private static func problems(ofFiles sections: ConfigurationSections) -> [Problem] {
    var stores =
      sections.local.map { [(key: ["local", "path"], name: "local", path: $0.path)] } ?? []
    stores += sections.replicas.compactMap { replica in
      replica.file.map { (key: ["replicas", replica.name, "path"], name: replica.name, path: $0) }
    }
    var problems: [Problem] = []
    var owners: [FileIdentity: String] = [:]
    for store in stores {
      guard let found = look(at: store.path) else { continue }
      if let facts = found.facts, !facts.isRegularFile {
        let what = facts.isFolder ? "a folder" : "a device, a pipe or a socket"
        problems.append(
          (store.key, "\(store.path) is \(what)", "name a file, which may be a new one"))
        continue
      }
      guard let identity = found.identity else { continue }
      if let other = owners[identity] {
        problems.append(
          (
            store.key, FileIdentity.text(store.path, isFileOf: "\"\(other)\""),
            "give each its own file"
          ))
      } else {
        owners[identity] = store.name
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

  /// What lies at a path; nil where nothing answers, which may mend itself.
  private static func look(at path: String) -> Look.Found? {
    let look = Look()
    Thread.detachNewThread { look.take(path) }
    guard look.hasAnswered.wait(timeout: .now() + patience) == .success else { return nil }
    return look.found.withLock { $0 }
  }

  /// Asks for a file's facts on a thread that may never come back.
  private final class Look: Sendable {
    struct Found: Sendable {
      /// Nil where there is nothing.
      let facts: FileFacts?
      let identity: FileIdentity?
    }
    let found = Mutex<Found?>(nil)
    let hasAnswered = DispatchSemaphore(value: 0)

    func take(_ path: String) {
      let answer = Found(
        facts: try? FileFacts(path: path), identity: FileIdentity(ofFileAt: path))
      found.withLock { $0 = answer }
      hasAnswered.signal()
    }
  }
}
