// The engine's state in the words of the control protocol.

import Cairn
import CairnControl
import CairnCoordinator
import CairnStore
import CairnSync
import Foundation

/// Puts together what the engine knows at one moment.
struct StatusReport: Sendable {
  let configuration: DaemonConfiguration
  /// Nil while no store is open.
  var running: OpenGroup?
  /// What the local store is migrated by, while it is only read.
  var following: StoreModelChange?
  var replicas: [String: ReplicaSection] = [:]
  /// The names of those that commands added.
  var commanded: Set<String> = []

  /// - Parameters:
  ///   - migrated: How far the migration of the local store is, from 0 to 1.
  ///   - migrating: The same of the replicas that are migrated.
  ///   - files: The files of the local store, where they have just been looked at.
  func status(
    migrated: Double, migrating: [String: Double], files: LocalReadings.Files? = nil
  ) -> EngineStatus {
    let progress = following.map { _ in
      StatusProgress(done: Int(migrated * 100), total: 100)
    }
    guard let running else {
      guard let following, let progress else { return EngineStatus() }
      return EngineStatus(
        local: StoreStatus(
          name: StoreReference.localName, type: "sqlite", location: following.location.text,
          state: .migrating, progress: progress))
    }
    var status = status(of: running, files ?? running.readings.files)
    if !migrating.isEmpty { status.replicas += lines(of: migrating, beside: status.replicas) }
    if let progress {
      status.local?.state = .migrating
      status.local?.progress = progress
    }
    return status
  }

  /// What is known while no engine runs: which stores there are.
  ///
  /// - Parameters:
  ///   - problem: Why there is none.
  ///   - isEnding: Whether none is started any more, which is what was asked for.
  func absence(
    _ state: StoreStatus.State, _ problem: StatusProblem, isEnding: Bool
  ) -> EngineStatus {
    EngineStatus(
      local: StoreStatus(
        name: StoreReference.localName, type: "sqlite", location: configuration.local.path,
        state: state, problem: problem),
      replicas: replicas.sorted { $0.key < $1.key }.map {
        Self.line($0.value, isEnding ? .stopped : .opening)
      },
      problems: state == .unavailable && !isEnding ? [problem] : [], isRunning: false)
  }

  private static func line(
    _ section: ReplicaSection, _ state: ReplicaStatus.State
  ) -> ReplicaStatus {
    ReplicaStatus(
      name: section.name, type: section.store.kind.rawValue, location: section.location,
      direction: .init(rawValue: section.direction.rawValue) ?? .both,
      required: section.isRequired, state: state)
  }

  private func status(of running: OpenGroup, _ files: LocalReadings.Files) -> EngineStatus {
    let path = configuration.local.path
    var local = StoreStatus(
      name: StoreReference.localName, type: "sqlite", location: path, state: .open,
      bytes: files.bytes)
    do {
      if files.isGone { Self.notePlace(of: running) }
      let reading = try running.readings.current(of: files) {
        LocalReadings.Content(
          sync: try running.engine.readLocal(), records: Self.records(of: running))
      }
      let sync = try running.engine.status(with: reading.sync)
      local.lastTransaction = Int(sync.localTransaction)
      local.records = reading.records
      let troubles = running.problems.now
      local.problem = troubles.all.first
      if troubles.areFailures { local.state = .failing }
      let now = WireDate.now.milliseconds
      let lines = sync.replicas.map { replica in
        ReplicaReport(
          replica: replica, section: replicas[replica.name],
          isCommanded: commanded.contains(replica.name), now: now,
          decision: running.decisions.problem(of: replica.name)
        ).line
      }
      var problems = lines.compactMap { line -> StatusProblem? in
        guard line.required || line.state == .stopped, let problem = line.problem else {
          return nil
        }
        // As the lifecycle names it, which says so when it lasts.
        let code =
          line.state == .unavailable ? StatusProblem.requiredReplicaMissing : problem.code
        return StatusProblem(code: code, message: "\(line.name): \(problem.message)")
      }
      problems.insert(contentsOf: troubles.all, at: 0)
      return EngineStatus(
        model: running.configuredModel.name, local: local, replicas: lines, problems: problems)
    } catch {
      running.health.note(error)
      let described = SyncError(describing: error, at: URL(fileURLWithPath: path))
      local.state = .unavailable
      local.problem = StatusProblem(code: described.code.rawValue, message: described.message)
      return EngineStatus(
        model: running.configuredModel.name, local: local,
        problems: local.problem.map { [$0] } ?? [])
    }
  }

  /// The replicas that have no link while they are migrated.
  private func lines(
    of migrating: [String: Double], beside known: [ReplicaStatus]
  ) -> [ReplicaStatus] {
    let names = Set(known.map(\.name))
    return migrating.sorted { $0.key < $1.key }.compactMap { name, fraction in
      guard !names.contains(name), let section = replicas[name] else { return nil }
      var line = Self.line(section, .migrating)
      line.progress = StatusProgress(done: Int(fraction * 100), total: 100)
      return line
    }
  }

  /// Notes that the local store's file is not where it was opened, although all of it can be read: the connections
  /// have it open.
  private static func notePlace(of running: OpenGroup) {
    do {
      try running.local.capabilities.place?.checkFilePlace()
    } catch {
      running.health.note(error)
    }
  }

  /// The number of records of all root entities.
  private static func records(of running: OpenGroup) -> Int? {
    var sum = 0
    for entity in running.coordinator.managedObjectModel.entities where entity.superentity == nil {
      let request = StoreFetchRequest(entity: entity, result: .count)
      do {
        guard case .count(let count) = try running.local.fetch(request) else { return nil }
        sum += count
      } catch {
        running.health.note(error)
        return nil
      }
    }
    return sum
  }
}
