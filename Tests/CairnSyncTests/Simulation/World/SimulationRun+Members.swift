import Foundation

@testable import CairnSync

// Links of a simulation whose other side is no store: how machines are linked, and what goes wrong with logs and lines.

extension SimulationRun {
  /// How machines are linked where some of the links lead to members of a kind: the hubs that each has, by their
  /// numbers, and whether it has the member.
  ///
  /// - Parameters:
  ///   - shape: 0 for the member alone; 1 for a part of the machines that has it, and a part that has a hub; 2 for both
  ///     everywhere.
  static func places(
    _ kind: SimulatedMember.Kind, shape: Int, machines count: Int
  ) -> [(hubs: [Int], hasMember: Bool)] {
    (0..<count).map { index in
      // The first machine is called by the others, and calls none.
      let hasMember = kind == .log || index > 0
      switch shape {
      case 0: return ([], hasMember)
      case 1 where count == 2: return ([], hasMember)
      case 1 where kind == .log: return index == 0 ? ([0], false) : (index == 1 ? [0] : [], true)
      case 1: return index == 0 ? ([], hasMember) : ([0], index == 1)
      default: return ([0], hasMember)
      }
    }
  }

  /// Links machines with members of a kind; call before they start.
  static func link(
    _ machines: [SimulatedMachine], _ kind: SimulatedMember.Kind, _ has: [Bool],
    _ generator: inout SeededGenerator, _ scheduler: Scheduler
  ) {
    let log = SimulatedLog(&generator) { scheduler.now }
    for (index, machine) in machines.enumerated() where has[index] {
      switch kind {
      case .log: machine.member = .log(log)
      case .peer:
        let called = machines[index - 1]
        let line = SimulatedLine(to: called.name, scheduler)
        called.lines.append(line)
        machine.member = .peer(line)
      }
    }
  }

  /// The machine whose daemon a machine calls.
  func peer(of machine: SimulatedMachine) -> SimulatedMachine? {
    guard case .peer(let line)? = machine.member else { return nil }
    return machines.first { $0.name == line.machine }
  }

  /// The store behind a link: its replica, or that of the daemon that it leads to; nil for a log.
  func store(of machine: SimulatedMachine, _ replica: String) -> SimulatedStore? {
    if replica == SimulatedMember.Kind.peer.rawValue { return peer(of: machine)?.local }
    return machine.replicas.first { $0.name == replica }
  }

  func happen(to machine: SimulatedMachine, _ generator: inout SeededGenerator) {
    switch machine.member {
    case nil: return
    case .log(let log)?:
      let often: [SimulatedLog.Trouble] = [.well, .well, .well, .backedUp, .restored, .failing]
      let trouble = generator.pick(SimulatedLog.Trouble.allCases + often) ?? .well
      guard log.begin(trouble, &generator) else { return }
      if [.restored, .cut, .streamLost, .lost].contains(trouble) {
        forgetClaims(onLogOf: machines)
      }
      count("log \(trouble.rawValue)")
      note("the log is \(trouble.rawValue)")
    case .peer(let line)?:
      let often: [SimulatedLine.Trouble] = [.whole, .whole]
      let trouble = generator.pick(SimulatedLine.Trouble.allCases + often) ?? .whole
      line.begin(trouble, &generator)
      count("line \(trouble.rawValue)")
      note("the line from \(machine.name) to \(line.machine) is \(trouble.rawValue)")
    }
  }

  /// Everything is well from now on.
  func mendMembers(_ generator: inout SeededGenerator) {
    for machine in machines {
      switch machine.member {
      case nil: break
      case .log(let log)?:
        _ = log.begin(.well, &generator)
        count("log lives", log.size.lives)
      case .peer(let line)?: line.begin(.whole, &generator)
      }
    }
  }

  /// What the log of all has in the end: every value that a store shows, so that who joins gets it from there.
  func compareLogs(with picture: StorePicture) {
    for machine in machines {
      guard case .log(let log)? = machine.member else { continue }
      let missing = picture.values.subtracting(log.values(seenBy: nil))
      for value in missing.sorted().prefix(3) {
        fault("apart: \(value) is in all stores and not in the log of \(machine.name)")
      }
      count("log entries", log.size.entries)
    }
  }
}
