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
    var local = StoreStatus(
      name: "local", type: "sqlite", location: path, state: .open, bytes: Self.bytes(at: path))
    do {
      let sync = try running.engine.status()
      local.lastTransaction = Int(sync.localTransaction)
      local.records = records()
      local.problem = localProblem
      let lines = sync.replicas.map(line)
      var problems = lines.compactMap { line -> StatusProblem? in
        guard line.required || line.state == .stopped, let problem = line.problem else {
          return nil
        }
        return StatusProblem(code: problem.code, message: "\(line.name): \(problem.message)")
      }
      if let problem = local.problem { problems.insert(problem, at: 0) }
      return EngineStatus(
        model: running.modelName, local: local, replicas: lines, problems: problems)
    } catch {
      local.state = .unavailable
      local.problem = StatusProblem(code: "store-unavailable", message: "\(error)")
      return EngineStatus(
        model: running.modelName, local: local, problems: local.problem.map { [$0] } ?? [])
    }
  }

  /// What is wrong with the local store although it is open: it writes no more, or commits that were
  /// acknowledged are not there.
  private var localProblem: StatusProblem? {
    guard let store = running.local as? any FailureReporting else { return nil }
    if let failure = store.failure {
      return StatusProblem(code: "store-read-only", message: failure.message)
    }
    return store.findings.first.map { StatusProblem(code: "commits-missing", message: $0) }
  }

  /// The number of records of all root entities.
  private func records() -> Int? {
    var sum = 0
    for entity in running.coordinator.managedObjectModel.entities where entity.superentity == nil {
      let request = StoreFetchRequest(entity: entity, result: .count)
      guard case .count(let count)? = try? running.local.fetch(request) else { return nil }
      sum += count
    }
    return sum
  }

  private func line(_ replica: CairnSync.ReplicaStatus) -> CairnControl.ReplicaStatus {
    let section = replicas[replica.name]
    var line = CairnControl.ReplicaStatus(
      name: replica.name, type: "sqlite", location: replica.configuration.url.path,
      direction: .init(rawValue: replica.configuration.direction.rawValue) ?? .both,
      required: section?.isRequired ?? false, state: .opening,
      lagTransactions: replica.lagTransactions,
      lagSeconds: replica.lagTransactions == nil ? nil : replica.lagSeconds,
      lastPass: replica.lastPass.map(Self.date), passes: replica.counters.passes,
      quarantined: replica.held.invalid + replica.held.ahead)
    switch replica.phase {
    case .opening: line.state = .opening
    case .migrating(let progress):
      line.state = .migrating
      line.progress = StatusProgress(done: Int(progress * 100), total: 100)
    case .ready, .syncing:
      // Open, but nobody knows how it stands before the first pass is complete.
      if replica.lastPass == nil {
        line.state = .opening
      } else {
        let isBehind = (replica.lagTransactions ?? 0) > 0 || replica.held.count > 0
        line.state = isBehind ? .behind : .inSync
      }
      if replica.held.count > 0 {
        line.problem = StatusProblem(
          code: SyncError.Code.recordsHeld.rawValue, message: replica.held.text)
      }
    case .waiting(let until, let reason):
      line.state = .unavailable
      line.nextAttempt = Self.date(until)
      line.problem = StatusProblem(code: reason.code.rawValue, message: reason.message)
    case .paused: line.state = .paused
    case .failed(let error):
      line.state = .stopped
      line.problem = StatusProblem(code: error.code.rawValue, message: error.message)
    case .awaitingApproval(let plan):
      line.state = .stopped
      line.problem = StatusProblem(code: plan.error.code.rawValue, message: plan.message)
    case .removed: line.state = .stopped
    }
    if let progress = replica.firstSyncProgress,
      line.state == .inSync || line.state == .behind || replica.phase == .syncing
    {
      line.state = .firstSync
      line.progress = StatusProgress(done: Int(progress * 100), total: 100)
    }
    if let error = replica.lastError, Self.isTryingAgain(replica.phase), line.state != .firstSync {
      // The trouble lasts until an attempt has succeeded: it must not vanish and come back each
      // time one is made.
      line.state = .unavailable
      line.nextAttempt = .now
      line.problem = StatusProblem(code: error.code.rawValue, message: error.message)
    }
    return line
  }

  /// Whether an attempt is under way, or about to be, rather than waited for or ruled out.
  private static func isTryingAgain(_ phase: ReplicaPhase) -> Bool {
    switch phase {
    case .opening, .ready, .syncing: true
    case .migrating, .waiting, .awaitingApproval, .paused, .failed, .removed: false
    }
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

  private static func date(_ milliseconds: UInt64) -> WireDate {
    WireDate(Date(timeIntervalSince1970: Double(milliseconds) / 1000))
  }

  /// Bytes on disk, journals included.
  private static func bytes(at path: String) -> Int {
    ["", "-wal", "-shm"].reduce(0) { sum, suffix in
      let attributes = try? FileManager.default.attributesOfItem(atPath: path + suffix)
      return sum + ((attributes?[.size] as? NSNumber)?.intValue ?? 0)
    }
  }
}
