import CairnContext
import Foundation

@testable import CairnSync

// Passes over logs and daemons, run by hand.
extension Fleet {
  /// Runs one pass over a replica that is given change sets.
  ///
  /// - Returns: What each step reported.
  @discardableResult
  func pass(
    _ local: Site, _ name: String = "other", direction: SyncDirection = .both,
    deletions: DeletionLimit? = nil, filter: EntityFilter? = nil,
    with side: (PassSetting) throws -> any ChangeSetSide
  ) throws -> [PassReport] {
    let context = ManagedObjectContext(.privateQueue)
    context.persistentStoreCoordinator = local.coordinator
    context.name = name
    let setting = PassSetting(
      local: local.access.cachingHead(), context: context, direction: direction,
      deletions: deletions.map { DeletionGuard(replica: name, limit: $0) }, filter: filter)
    let pass = ChangeSetPass(setting, with: try side(setting))
    var machine = PassState(direction: direction)
    var reports: [PassReport] = []
    while let step = machine.step {
      let report = try context.performAndWait { try pass.perform(step) }
      reports.append(report)
      machine.take(report.event)
    }
    _ = try context.performAndWait { try pass.settle() }
    return reports
  }

  /// Runs one pass over a log.
  @discardableResult
  func pass(
    _ local: Site, over log: any ChangeLog, direction: SyncDirection = .both,
    deletions: DeletionLimit? = nil, filter: EntityFilter? = nil
  ) throws -> [PassReport] {
    try pass(local, "log", direction: direction, deletions: deletions, filter: filter) {
      LogSide(log: log, identifier: try log.identifier().description, place: "log", $0)
    }
  }

  /// Runs passes of all over a log until it has nothing new.
  func settle(_ sites: [Site], over log: SimulatedLog, limit: Int = 20) throws -> Bool {
    for _ in 0..<limit {
      let before = log.size.entries
      for site in sites { try pass(site, over: log.view(of: site.name)) }
      if log.size.entries == before { return true }
      advance(1)
    }
    return false
  }
}
