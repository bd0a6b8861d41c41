import CairnStore
import Foundation

@testable import CairnSync

// What daemons and their operators do at times: purges, and links that are given another direction or filter,
// daemons that are configured anew.

extension SimulationRun {
  /// A daemon removes from its stores what no reader needs any more, in the middle of which it may die.
  func purgeBySync(_ machine: SimulatedMachine, _ generator: inout SeededGenerator) async {
    guard let engine = machine.engine else { return }
    let age: UInt64? = generator.chance(50) ? 0 : nil
    // Entries that are old go; what they account for is accounted for.
    keepJournal()
    var stores: [(name: String, access: StoreAccess)] = [(machine.name, engine.local)]
    for replica in machine.replicas where !replica.isGone {
      guard let access = try? engine.link(replica.name).replica else { continue }
      stores.append((replica.name, access))
    }
    for (name, access) in stores {
      do {
        for (other, reader) in stores where (name == machine.name) != (other == machine.name) {
          let replica = name == machine.name ? other : name
          let direction = machine.direction(of: replica)
          let isServed = name == machine.name ? direction.pushes : direction.pulls
          if isServed { try access.acknowledge(reader, name: other) }
        }
        var purge = try Purge(access: access, name: name, age: age)
        let report = try purge.run()
        count("purged by sync", report.count)
        count("expired readers", report.readers.count { $0.isExpired })
        note("\(machine.name) purges \(name): \(report.count), \(report.readers.map(\.isExpired))")
      } catch {
        count("purge refused")
        note("\(machine.name) cannot purge \(name): \(error)")
      }
    }
    guard let failpoint = scheduler.whereDied(machine.name) else { return }
    await machine.stop()
    count("death \(failpoint.rawValue)")
    note("\(machine.name) died at \(failpoint.rawValue)")
  }

  /// An operator writes another policy of deletes into a daemon's configuration, which the daemon begins anew for.
  func configure(_ machine: SimulatedMachine, _ generator: inout SeededGenerator) async {
    let others = DeleteConflictPolicy.allCases.filter { $0 != machine.policy }
    machine.policy = generator.pick(others) ?? .lastWriter
    count("policy changed")
    note("\(machine.name) goes by \(machine.policy.rawValue)")
    guard machine.isRunning else { return }
    await machine.stop()
    await start(machine)
  }

  /// An operator gives a link another direction, or has it exchange leaves or not.
  func redirect(_ machine: SimulatedMachine, _ generator: inout SeededGenerator) async throws {
    guard let replica = generator.pick(machine.replicas) else { return }
    if generator.chance(50) {
      machine.directions[replica.name] = generator.pick([.both, .push, .pull])
    } else if machine.withoutLeaves.remove(replica.name) == nil {
      machine.withoutLeaves.insert(replica.name)
    }
    forgetClaims(on: replica)
    forgetClaims(on: machine.local)
    count("link changed")
    note(
      "\(machine.name)/\(replica.name) goes \(machine.direction(of: replica.name))"
        + (machine.withoutLeaves.contains(replica.name) ? " without leaves" : ""))
    try await machine.addAnew(replica)
  }
}
