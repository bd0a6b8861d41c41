import CairnModel
import CairnPredicates
import CairnStore
import Foundation

@testable import CairnSync

// The end of a simulation: everything is mended, time goes by, and then all stores must hold the same.

extension SimulationRun {
  func finish() async throws {
    var generator = SeededGenerator(seed: seed)
    note("everything is mended")
    for store in stores {
      try store.heal()
      try bringBack(store)
    }
    mendMembers(&generator)
    let isUpgraded = machines.contains { $0.version == .muchNewer }
    for machine in machines {
      scheduler.setClock(of: machine.name, to: 0)
      scheduler.kill(machine.name, after: nil)
      if isUpgraded, machine.version != .muchNewer {
        await machine.stop()
        machine.local.close()
        machine.version = .muchNewer
      }
      try await machine.start()
      // A person looks at what has stopped.
      try machine.engine?.resume()
      try await machine.syncNow()
    }
    guard await calmDown(&generator) else { return }
    if machines.contains(where: { !$0.exchangesAll }) {
      for machine in machines {
        for replica in machine.replicas { try expectDelivered(machine, replica) }
      }
      if !outcome.faults.isEmpty { explain() }
      note("all links go both ways")
      count("links of one direction")
      for machine in machines { try await machine.exchangeBothWays() }
      guard await calmDown(&generator) else { return }
    }
    if SimulationStep.hasOperators(seed: seed) {
      await lookOnceMore(&generator)
      guard await calmDown(&generator) else { return }
    }
    for store in stores { store.close() }
    try compare()
    for machine in machines {
      for replica in machine.replicas { await expectTruth(machine, replica) }
    }
  }

  /// How many turns links may take while no time passes; those that come to rest take some hundred.
  private static let mostTurns = 10_000

  /// Lets time pass until no link has anything to do.
  ///
  /// - Returns: False when they do not come to rest.
  private func calmDown(_ generator: inout SeededGenerator) async -> Bool {
    var last = ""
    var calm = 0
    for round in 0..<60 {
      let end = scheduler.now + SimulatedMachine.pollInterval
      var turns = 0
      while true {
        if let link = scheduler.waitingForTurns.first {
          turns += 1
          if turns > Self.mostTurns {
            fault("no end of turns: \(link) has something to do for ever")
            return false
          }
          await scheduler.grant(link)
        } else if await !scheduler.fire(before: end) {
          break
        }
      }
      await scheduler.advance(end > scheduler.now ? end - scheduler.now : 0)
      if round % 4 == 3 {
        // Nothing has come of it yet: what is accepted may be refused by a rule.
        let isAccepted = await accept()
        if await attend() || isAccepted { last = "" }
      }
      let state = machines.map { work(of: $0) }.joined(separator: " ")
      calm = state == last ? calm + 1 : 0
      last = state
      if calm == 2 {
        let isGivenUp = await giveUp()
        if await abandon() || isGivenUp { calm = 0 }
      }
      if calm == 2, machines.allSatisfy(isInStep) {
        let denied = machines.flatMap { (try? $0.engine?.status().replicas) ?? [] }
        count("denied deletes", denied.map(\.held.count).max() ?? 0)
        count("rounds to rest", round)
        return true
      }
    }
    let phases = machines.flatMap { machine in
      ((try? machine.engine?.status().replicas) ?? []).map { status in
        "\(machine.name)/\(status.name) \(status.phase.word) \(status.held.text) "
          + "\(status.lastError.map { "\($0)" } ?? ""), behind \(status.lagTransactions ?? 0), "
          + "moved \(work(of: machine))"
      }
    }
    fault("no rest: \(phases)")
    noteWaiting()
    return false
  }

  /// A link of one direction that has nothing to do has brought all there was, whatever else is true of
  /// the two stores.
  private func expectDelivered(_ machine: SimulatedMachine, _ replica: SimulatedStore) throws {
    let direction = machine.direction(of: replica.name)
    let isWhole = !machine.withoutLeaves.contains(replica.name)
    let (local, theirs) = (
      try machine.local.picture().part(withLeaves: isWhole),
      try replica.picture().part(withLeaves: isWhole)
    )
    let journal = journal()
    for (source, destination, isServed, name) in [
      (local, theirs, direction.pushes, replica.name),
      (theirs, local, direction.pulls, machine.name),
    ] where isServed {
      for value in source.values.subtracting(destination.values)
      where !oracle.isAccounted(value, among: destination.values, journal: journal) {
        let place = oracle.writes[value].map { " of \($0.place)" } ?? ""
        fault("lost write: \(value)\(place) did not arrive in \(name)")
      }
    }
  }

  /// What operators do when nothing else goes on: where all is in step, more of it can be taken back.
  private func lookOnceMore(_ generator: inout SeededGenerator) async {
    for machine in machines {
      for kind in [SimulationStep.Kind.discard, .takeBack, .revert] where generator.chance(50) {
        await operate(kind, machine, &generator)
      }
      if !isTampered { continue }
      for replica in machine.replicas { await repair(machine, replica, &generator) }
    }
  }

  private func work(of machine: SimulatedMachine) -> String {
    let replicas = (try? machine.engine?.status().replicas) ?? []
    return replicas.map { status in
      let counters = status.counters
      return "\(counters.recordsPulled) \(counters.recordsPushed) \(counters.linksPulled) "
        + "\(counters.linksPushed) \(counters.failedPasses) \(status.held.count)"
    }.joined(separator: " ")
  }

  private func isInStep(_ machine: SimulatedMachine) -> Bool {
    let replicas = (try? machine.engine?.status().replicas) ?? []
    return replicas.count == machine.links.count
      && replicas.allSatisfy { status in
        guard case .ready = status.phase else { return false }
        // A delete that is denied waits until a program takes away what is in its way.
        let isExpected = denies && status.held.count == status.held.invalid
        return (status.held.count == 0 || isExpected) && (status.lagTransactions ?? 0) == 0
      }
  }

  /// What waits because of a clock that was wrong is believed.
  private func accept() async -> Bool {
    var count = 0
    for machine in machines { count += await accept(machine) }
    return count > 0
  }

  /// What a person does about links that nothing else can help.
  ///
  /// - Returns: Whether there was anything to do.
  private func attend() async -> Bool {
    var isAttended = false
    for machine in machines {
      do {
        if try await mend(machine) { isAttended = true }
        for plan in try machine.engine?.awaitingApproval() ?? [] {
          isAttended = true
          count("approved")
          note("\(machine.name) approves \(plan.message)")
          try await machine.decide(plan, isApproved: true)
        }
      } catch {
        note("\(machine.name) cannot be attended to: \(error)")
      }
    }
    return isAttended
  }

  private func mend(_ machine: SimulatedMachine) async throws -> Bool {
    var isMended = false
    for status in try machine.engine?.status().replicas ?? [] {
      if let error = status.lastError, error.message.contains(machine.local.url.path) {
        // Its own store takes no more writes until it is opened again.
        count("restarted for the local store")
        note("\(machine.name) is started again: \(error)")
        await machine.stop()
        try await machine.start()
        return true
      }
      if let error = status.lastError, let peer = peer(of: machine),
        error.message.contains(peer.local.url.path)
      {
        count("restarted for the local store")
        note("\(peer.name) is started again: \(error)")
        await peer.stop()
        try await peer.start()
        return true
      }
      guard case .failed(let error) = status.phase, error.code == .anotherStore else { continue }
      isMended = true
      count("added anew")
      note("\(machine.name)/\(status.name) is removed and added anew: \(error)")
      if let replica = machine.replicas.first(where: { $0.name == status.name }) {
        try await machine.addAnew(replica)
      } else if let member = machine.member {
        try await machine.addAnew(member)
      }
    }
    return isMended
  }

  private func compare() throws {
    var pictures: [StorePicture] = []
    for store in stores {
      let picture = try store.picture()
      pictures.append(picture)
      for text in picture.faults { fault("invalid: \(store.name): \(text)") }
    }
    for (store, picture) in zip(stores, pictures).dropFirst() {
      for text in pictures[0].differences(from: picture).prefix(6) {
        fault("apart: \(stores[0].name) and \(store.name): \(text)")
      }
    }
    for text in oracle.faults(in: pictures[0], journal: journal()) { fault(text) }
    compareLogs(with: pictures[0])
    if !outcome.faults.isEmpty { explain() }
    count("records", pictures[0].items.count)
    count("leaves", pictures[0].leaves.count)
    count("conflicts", journal().count)
  }

  /// Notes what sync knows in each place of the records that the faults are about.
  private func explain() {
    let words = Set(outcome.faults.flatMap { $0.split(whereSeparator: { " :,".contains($0) }) })
    let keys = words.map(String.init).filter {
      ["k", "t", "l"].contains($0.first) && $0.dropFirst().allSatisfy(\.isNumber)
    }
    for key in keys.sorted().prefix(3) {
      for machine in machines {
        guard let engine = machine.engine else { continue }
        let places =
          [engine.local] + machine.replicas.compactMap { try? engine.link($0.name).replica }
        for access in places {
          noteDeleted(key, machine, access)
          let isTag = key.hasPrefix("t")
          let name = isTag ? "Tag" : key.hasPrefix("l") ? "Leaf" : "Item"
          guard let entity = access.schema.model.entitiesByName[name] else { continue }
          let request = StoreFetchRequest(
            entity: entity,
            predicate: ObjectPredicate(format: "\(isTag ? "name" : "key") == %@", key),
            result: .objectIDs)
          guard case .objectIDs(let ids)? = try? access.store.fetch(request), let id = ids.first,
            let ledger = try? access.ledger(), let record = try? ledger.recordID(for: id),
            let entry = try? ledger.record(record)
          else { continue }
          note(
            "\(machine.name) at \(access.store.url?.lastPathComponent ?? "") knows \(key): \(entry)"
          )
        }
      }
    }
  }

  /// Notes what is refused, and which references wait, and in which places their targets are known.
  private func noteWaiting() {
    for (name, access) in allPlaces() {
      try? access.store.capabilities.sidecar?.visitEntries(of: .quarantine) { _, value in
        let entry = try QuarantineEntry(decoding: value)
        note("\(name) refuses: \(entry.message): \(entry.content)")
      }
    }
    for machine in machines {
      guard let engine = machine.engine else { continue }
      let places =
        [engine.local] + machine.replicas.compactMap { try? engine.link($0.name).replica }
      for access in places {
        let name = "\(machine.name) at \(access.store.url?.lastPathComponent ?? "")"
        try? access.store.capabilities.sidecar?.visitEntries(of: .parked) { key, _ in
          let (target, reference) = try SyncKey.parked(from: key)
          let ledger = try access.ledger()
          guard try ledger.record(target) == nil else { return }
          let owner = try ledger.record(reference.owner)
          note(
            "\(name): \(reference.property) of \(reference.owner) waits for \(target): "
              + (owner.map { "\($0)" } ?? "an unknown owner"))
          for (other, access) in allPlaces() {
            guard let known = try access.ledger().record(target) else { continue }
            note("\(other) knows \(target): \(known)")
          }
        }
      }
    }
  }

  /// What daemons have open, by the daemon and the file.
  private func allPlaces() -> [(name: String, access: StoreAccess)] {
    machines.flatMap { machine in
      guard let engine = machine.engine else { return [(String, StoreAccess)]() }
      let replicas = machine.replicas.compactMap { try? engine.link($0.name).replica }
      return ([engine.local] + replicas).map {
        ("\(machine.name) at \($0.store.url?.lastPathComponent ?? "")", $0)
      }
    }
  }

  /// A record without a row is known by the key that its entry keeps.
  private func noteDeleted(_ key: String, _ machine: SimulatedMachine, _ access: StoreAccess) {
    let entries = try? access.store.capabilities.sidecar?.sidecarEntries(
      of: SyncMap.records.rawValue, from: nil, to: nil, limit: 0)
    for (id, value) in entries ?? [] {
      guard let entry = try? RecordEntry(decoding: value),
        entry.overlay["key"] ?? entry.overlay["name"] == .string(key)
      else { continue }
      let held = (try? access.ledger().value(SyncMap.quarantine.key(id)))?.flatMap {
        try? QuarantineEntry(decoding: $0)
      }
      note(
        "\(machine.name) at \(access.store.url?.lastPathComponent ?? "") knows \(key): \(entry)"
          + (held.map { ", and holds \($0)" } ?? ""))
    }
  }

  /// What the engine says of stores that are equal.
  private func expectTruth(_ machine: SimulatedMachine, _ replica: SimulatedStore) async {
    guard let link = try? machine.engine?.link(replica.name), let access = link.replica else {
      return fault("no rest: \(machine.name)/\(replica.name) is not open")
    }
    do {
      let report = try StoreComparison(local: link.local, replica: access).run(name: replica.name)
      for id in Set(report.differences.compactMap(\.record)).sorted().prefix(3) {
        for access in [link.local, access] {
          let name = access.store.url?.lastPathComponent ?? ""
          let entry = try access.ledger().record(id)
          note("\(name) knows of \(id): \(entry.map { "\($0)" } ?? "nothing")")
        }
      }
      if !report.isEqual {
        fault("untrue verify: \(machine.name)/\(replica.name) \(report.differences.prefix(4))")
      }
    } catch {
      fault("failed: verify of \(machine.name)/\(replica.name): \(error)")
    }
  }
}
