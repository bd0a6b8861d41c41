// The engine's state in the words of the control protocol.

import Cairn
import CairnControl
import CairnCoordinator
import CairnStore
import CairnSync
import Foundation

/// Puts together what the engine knows at one moment.
struct StatusReport {
  let running: OpenGroup
  let configuration: DaemonConfiguration
  let replicas: [String: ReplicaSection]

  func status() -> EngineStatus {
    let path = configuration.local.path
    let files = running.readings.files
    var local = StoreStatus(
      name: "local", type: "sqlite", location: path, state: .open, bytes: files.bytes)
    do {
      let reading = try running.readings.current(of: files) {
        LocalReadings.Content(sync: try running.engine.readLocal(), records: records())
      }
      let sync = try running.engine.status(with: reading.sync)
      local.lastTransaction = Int(sync.localTransaction)
      local.records = reading.records
      let troubles = LocalProblems(
        store: running.local, health: running.health, decisions: running.decisions)
      local.problem = troubles.all.first
      if troubles.isFailing { local.state = .failing }
      let now = WireDate.now.milliseconds
      let lines = sync.replicas.map { replica in
        ReplicaReport(
          replica: replica, section: replicas[replica.name], now: now,
          decision: running.decisions.problem(of: replica.name)
        ).line
      }
      var problems = lines.compactMap { line -> StatusProblem? in
        guard line.required || line.state == .stopped, let problem = line.problem else {
          return nil
        }
        return StatusProblem(code: problem.code, message: "\(line.name): \(problem.message)")
      }
      problems.insert(contentsOf: troubles.all, at: 0)
      return EngineStatus(
        model: running.modelName, local: local, replicas: lines, problems: problems)
    } catch {
      running.health.note(error)
      let described = SyncError(describing: error, at: URL(fileURLWithPath: path))
      local.state = .unavailable
      local.problem = StatusProblem(code: described.code.rawValue, message: described.message)
      return EngineStatus(
        model: running.modelName, local: local, problems: local.problem.map { [$0] } ?? [])
    }
  }

  /// The number of records of all root entities.
  private func records() -> Int? {
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

  func stores(origins: [String: StoreDescription.Origin]) -> [StoreDescription] {
    let status = status()
    var list: [StoreDescription] = []
    if let local = status.local {
      list.append(
        StoreDescription(
          name: local.name, role: .local, type: local.type, location: local.location,
          origin: .configuration, state: local.state.rawValue,
          identifier: running.local.identifier))
    }
    let identifiers = Dictionary(
      ((try? running.engine.status().replicas) ?? []).map { ($0.name, $0.storeID) },
      uniquingKeysWith: { first, _ in first })
    for line in status.replicas {
      list.append(
        StoreDescription(
          name: line.name, role: .replica, type: line.type, location: line.location,
          direction: line.direction, origin: origins[line.name] ?? .configuration,
          state: line.state.rawValue, identifier: identifiers[line.name] ?? nil))
    }
    return list
  }
}
