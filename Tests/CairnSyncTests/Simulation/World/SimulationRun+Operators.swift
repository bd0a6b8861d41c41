import CairnStore
import Foundation

@testable import CairnSync

// What operators decide in a simulation: about what waits, what loses and what differs. The oracle takes what an
// act has changed in the local store for written there by one who had seen all that the store had.

extension SimulationRun {
  func operate(
    _ kind: SimulationStep.Kind, _ machine: SimulatedMachine,
    _ generator: inout SeededGenerator
  ) async {
    switch kind {
    case .accept: await accept(machine)
    case .approve: await approve(machine, &generator)
    case .discard: await discard(machine, &generator)
    case .repair:
      guard let replica = generator.pick(machine.replicas) else { return }
      if generator.chance(70) {
        tamper(with: generator.chance(50) ? machine.local : replica, &generator)
      }
      // The one who looks may come much later, or somewhere else.
      if generator.chance(70) { await repair(machine, replica, &generator) }
    case .revert: await revert(machine, &generator)
    case .takeBack: await takeBack(machine, &generator)
    default: break
    }
    await endIfDead(machine)
  }

  /// Lets an operator come by where a link asks, or a store refuses something: one who comes at any time finds that
  /// seldom.
  func decide() async {
    guard SimulationStep.hasOperators(seed: seed) else { return }
    var generator = SeededGenerator(seed: seed &* 11 &+ UInt64(number))
    for machine in machines where generator.chance(15) {
      guard let engine = machine.engine else { continue }
      if let plans = try? engine.awaitingApproval(), !plans.isEmpty {
        await operate(.approve, machine, &generator)
      }
      if (try? engine.status().replicas)?.contains(where: { $0.held.invalid > 0 }) == true {
        await operate(.discard, machine, &generator)
      }
    }
  }

  private func endIfDead(_ machine: SimulatedMachine) async {
    guard let failpoint = scheduler.whereDied(machine.name) else { return }
    await machine.stop()
    count("death \(failpoint.rawValue)")
    note("\(machine.name) died at \(failpoint.rawValue)")
  }

  // MARK: What waits

  /// What waits because of a clock that was wrong is believed.
  ///
  /// - Returns: How much that is.
  @discardableResult
  func accept(_ machine: SimulatedMachine) async -> Int {
    guard let engine = machine.engine else { return 0 }
    // What others brought in as peers is in no status here.
    let held = try? await engine.quarantine(reason: .clockSkew, limit: 1)
    guard held?.items.isEmpty == false else { return 0 }
    let accepted =
      (try? await Scheduler.$actor.withValue("\(machine.name)/engine") {
        try await engine.acceptHeld()
      }) ?? 0
    await scheduler.settle()
    count("accepted", accepted)
    note("\(machine.name) accepts \(accepted) that were held")
    return accepted
  }

  private func approve(
    _ machine: SimulatedMachine, _ generator: inout SeededGenerator
  ) async {
    let plans = (try? machine.engine?.awaitingApproval()) ?? []
    guard let plan = generator.pick(plans) else { return }
    let isApproved = generator.chance(60)
    do {
      try await machine.decide(plan, isApproved: isApproved)
      count(isApproved ? "approved" : "rejected")
      note("\(machine.name) \(isApproved ? "approves" : "rejects") \(plan.message)")
    } catch {
      count("act refused")
      note("\(machine.name) cannot decide about \(plan.message): \(error)")
    }
  }

  /// Gives up what a store does not take: it keeps its state, against that of the others.
  private func discard(
    _ machine: SimulatedMachine, _ generator: inout SeededGenerator
  ) async {
    guard let engine = machine.engine, let page = try? await engine.quarantine() else { return }
    let records = page.items.filter { $0.record != nil }
    let refused = records.filter { $0.entry.reason == .validation }
    guard let item = generator.pick(refused.isEmpty ? records : refused) else { return }
    await discard(item, machine, engine, &generator)
  }

  /// What only one store takes is given up in the end: nothing else brings the stores together.
  ///
  /// - Returns: Whether there was anything of that kind.
  func giveUp() async -> Bool {
    if outcome.counts["too long"] == nil { return false }
    var generator = SeededGenerator(seed: seed &* 17 &+ UInt64(number))
    var isFound = false
    for machine in machines {
      guard let engine = machine.engine,
        let page = try? await engine.quarantine(reason: .validation)
      else { continue }
      let tooLong = page.items.filter { $0.entry.state.map(Self.isTooLong) == true }
      // Of the others, a denied delete alone has no values.
      let others = page.items.filter { $0.entry.state?.registers.isEmpty == false }
      let links = page.items.filter { $0.entry.link != nil }
      for found in (tooLong.isEmpty ? others : tooLong) + links {
        isFound = true
        // What waited because of another record need not wait any more once that was given up.
        guard let item = await retry(found, machine, engine, &generator) else { continue }
        if correct(item, machine, &generator) || item.record == nil { continue }
        if case .impossible = item.discardEffect, let id = item.record {
          takePartsAway(of: id, item.id.store, machine, &generator)
        } else {
          await discard(item, machine, engine, &generator)
        }
      }
    }
    return isFound
  }

  /// Waits no longer for records that a store alone had when it was lost.
  ///
  /// - Returns: Whether anything waited for such.
  func abandon() async -> Bool {
    let gone = lost.subtracting(known(in: stores))
    var isFound = false
    for machine in machines where !gone.isEmpty {
      guard let engine = machine.engine, let page = try? await engine.parked(limit: 10_000) else {
        continue
      }
      let targets = gone.intersection(page.references.map(\.id.target)).sorted()
      if targets.isEmpty { continue }
      let count = try? await Scheduler.$actor.withValue("\(machine.name)/engine") {
        try await engine.abandon(targets)
      }
      await scheduler.settle()
      self.count("abandoned", count ?? 0)
      note("\(machine.name) waits no longer for \(targets)")
      isFound = isFound || (count ?? 0) > 0
    }
    return isFound
  }

  /// Lets an operator try what waits once more.
  ///
  /// - Returns: What waits still.
  private func retry(
    _ item: QuarantinedItem, _ machine: SimulatedMachine, _ engine: SyncEngine,
    _ generator: inout SeededGenerator
  ) async -> QuarantinedItem? {
    let result = try? await Scheduler.$actor.withValue("\(machine.name)/engine") {
      try await engine.retryQuarantined([item.id])
    }
    await scheduler.settle()
    guard let result, result.waiting.isEmpty else { return result?.waiting.first ?? item }
    count("let in by a retry")
    note("\(machine.name) need not discard \(item.id)")
    for store in stores { tell(of: store, &generator) }
    return nil
  }

  /// The record of which the reason of a refusal tells, where that is another one.
  private func refused(with item: QuarantinedItem) -> [RecordID] {
    item.message.split(separator: " ").last.flatMap { RecordID(String($0)) }.map { [$0] } ?? []
  }

  /// Lets a program correct a record that its own store refuses as it is: to keep that would have all others refuse
  /// it, and its links wait.
  ///
  /// - Returns: Whether there is one.
  private func correct(
    _ item: QuarantinedItem, _ machine: SimulatedMachine, _ generator: inout SeededGenerator
  ) -> Bool {
    let isLocal = item.id.store == "local"
    let name = item.id.store
    let store = isLocal ? machine.local : machine.replicas.first { $0.name == name }
    let access = isLocal ? machine.engine?.local : try? machine.engine?.link(name).replica
    guard let store, let access else { return false }
    let ids =
      item.entry.link.map { [$0.key.owner, $0.key.member] }
      ?? [item.record].compactMap { $0 } + refused(with: item)
    return correct(ids.compactMap { try? key(of: $0, in: access) }, at: store, &generator)
  }

  /// - Returns: Whether one of the items had a value that was too long.
  private func correct(
    _ keys: some Sequence<String>, at store: SimulatedStore, _ generator: inout SeededGenerator
  ) -> Bool {
    guard let picture = try? store.picture() else { return false }
    for key in keys {
      guard let old = picture.items[key]?.value, old.count >= SampleModel.mostLength else {
        continue
      }
      do {
        try setValue(oracle.fresh("v"), ofItem: key, was: old, at: store, &generator)
        count("corrected")
        return true
      } catch {
        note("\(key) is not corrected at \(store.name): \(error)")
      }
    }
    return false
  }

  private static func isTooLong(_ state: RecordState) -> Bool {
    guard case .string(let value)? = (state.registers["value"] ?? state.registers["text"])?.value
    else { return false }
    return value.count >= SampleModel.mostLength
  }

  /// Lets a program delete the parts of an item that a store refuses, and that cannot be deleted because of them.
  private func takePartsAway(
    of id: RecordID, _ name: String, _ machine: SimulatedMachine,
    _ generator: inout SeededGenerator
  ) {
    let isLocal = name == "local"
    let store = isLocal ? machine.local : machine.replicas.first { $0.name == name }
    let access = isLocal ? machine.engine?.local : try? machine.engine?.link(name).replica
    guard let store, let access else { return }
    // The rows of the store itself do not show whose they are, as the item is not there: its parts wait for it. In
    // another store that has the item, a part may be one of its own that this store does not know yet.
    let waiting = (try? partsWaiting(for: id, in: access)) ?? []
    let keys =
      stores.compactMap { try? $0.picture() }.flatMap { picture in
        picture.parts.filter { $0.value.map { self.names(of: id).contains($0) } ?? false }.keys
      } + waiting
    note("\(Set(keys).sorted()) are in the way of a discard at \(store.name)")
    do {
      if try deleteParts(Set(keys), at: store, &generator) > 0 { return }
      // They are hidden there for as long as they wait for the item; where they are not, it may be too long as well,
      // and then no program can change it before that is corrected.
      let others = stores.filter { $0 !== store }
      for other in others where correct(names(of: id).sorted(), at: other, &generator) { return }
      for other in others where try deleteParts(Set(keys), at: other, &generator) > 0 { return }
    } catch {
      note("they stay: \(error)")
    }
  }

  /// The keys of the parts that wait for an item in a store.
  private func partsWaiting(for id: RecordID, in access: StoreAccess) throws -> [String] {
    try access.ledger().waiting(for: id).filter { $0.property == "item" }.compactMap {
      try key(of: $0.owner, in: access)
    }
  }

  /// The keys by which the stores know a record.
  private func names(of id: RecordID) -> Set<String> {
    let places = machines.compactMap(\.engine).flatMap { engine in
      [engine.local] + stores.compactMap { try? engine.link($0.name).replica }
    }
    return Set(places.compactMap { try? key(of: id, in: $0) })
  }

  private func discard(
    _ item: QuarantinedItem, _ machine: SimulatedMachine, _ engine: SyncEngine,
    _ generator: inout SeededGenerator
  ) async {
    guard let id = item.record else { return }
    let isLocal = item.id.store == "local"
    guard
      let store = isLocal
        ? machine.local : machine.replicas.first(where: { $0.name == item.id.store }),
      let access = isLocal ? engine.local : try? engine.link(item.id.store).replica,
      let before = try? store.picture()
    else { return }
    let key = (try? key(of: id, in: access)) ?? item.entry.state.flatMap(Self.key)
    let noted = discards(of: id, in: store)
    do {
      try await Scheduler.$actor.withValue("\(machine.name)/engine") {
        _ = try await engine.discard(item.id, revision: item.revision)
      }
      count("discarded")
      note(
        "\(machine.name) discards \(key ?? "?") at \(store.name), \(item.message): "
          + "\(item.discardEffect)")
    } catch {
      count("act refused")
      note("\(machine.name) cannot discard \(key ?? "?") at \(store.name): \(error)")
      let code = (error as? SyncError)?.code
      if code == .notAllowed || code == .planChanged { return }
      // A machine may have died after the commit, or a disk failed; before it, nothing has come of it.
      if discards(of: id, in: store) == noted { return }
    }
    await scheduler.settle()
    guard let after = try? store.picture() else { return }
    if let key, before.named.contains(key) {
      oracle.keep(key, in: before, of: store.name, replacing: Self.replaced(item.discardEffect))
      // They are written anew, later than what is waited for.
      forgetClaims(to: Set(before.written.filter { $0.key.contains(" \(key) ") }.values))
    }
    if let key, item.discardEffect == .deletesRecord, let state = item.entry.state {
      let seen = state.registers.compactMap { _, register -> String? in
        switch register.value {
        case .string(let text): text
        case .double(let number): "\(number)"
        default: nil
        }
      }
      oracle.giveUp(key, having: Set(seen), at: store.name, time: number)
    }
    _ = oracle.acknowledgeAct(at: store.name, from: before, to: after, time: number)
    tell(of: store, &generator)
  }

  /// How often what waited of a record was discarded in a store.
  private func discards(of id: RecordID, in store: SimulatedStore) -> Int {
    (try? store.journal())?.count { $0.conflict.record == id && $0.conflict.rule == .discarded }
      ?? 0
  }

  /// The properties that a discard writes anew, as pictures call them; nil for all.
  private static func replaced(_ effect: DiscardEffect) -> Set<String>? {
    switch effect {
    case .keepsValues(let names): Set(names.map { $0 == "text" ? "value" : $0 })
    case .keepsRecord: nil
    case .deletesRecord, .impossible: []
    }
  }

  private func key(of id: RecordID, in access: StoreAccess) throws -> String? {
    let ledger = try access.ledger()
    guard let entry = try ledger.record(id) else { return nil }
    let object = ledger.objectID(for: entry)
    let row = try object.flatMap { try access.store.snapshots(for: [$0]).first ?? nil }
    return Self.key(
      entry.state(id: id, row: try row.map { try RowReading(ledger: ledger).values(of: $0) }))
  }

  private static func key(_ state: RecordState) -> String? {
    guard case .string(let key)? = (state.registers["key"] ?? state.registers["name"])?.value else {
      return nil
    }
    return key
  }

  // MARK: Taking back

  /// Lets an operator write to a machine's local store.
  ///
  /// - Parameters:
  ///   - records: Those whose values may be changed, as they are called.
  ///   - work: Returns the same for records that are there by then.
  private func act(
    _ what: String, _ machine: SimulatedMachine, on records: Set<String>,
    _ generator: inout SeededGenerator, _ work: (SyncEngine) async throws -> [RecordID]
  ) async {
    guard let engine = machine.engine, let before = try? machine.local.picture(),
      let last = try? machine.local.lastTransaction()
    else { return }
    var allowed = records
    meanwhile = ("", nil)
    let interruptions = outcome.counts["write in the middle of a step", default: 0]
    do {
      let done = try await Scheduler.$actor.withValue("\(machine.name)/engine") {
        try await work(engine)
      }
      allowed.formUnion(done.compactMap { try? key(of: $0, in: engine.local) })
      count(what, done.isEmpty ? 0 : 1)
      note("\(machine.name): \(what) of \(allowed.sorted())")
    } catch {
      count("act refused")
      note("\(machine.name): no \(what) of \(allowed.sorted()): \(error)")
    }
    saves += 1
    try? machine.local.setDate(
      scheduler.now(of: machine.name), and: saves % 1000, ofTransactionsAfter: last)
    await scheduler.settle()
    guard let after = try? machine.local.picture() else { return }
    let changed = oracle.acknowledgeAct(
      at: machine.name, from: before, to: after, time: number)
    if meanwhile.store == machine.local.name, let inserted = meanwhile.picture {
      // A revert takes what a program has inserted in the middle of it, too.
      oracle.acknowledgeDeletes(
        at: machine.name, from: inserted, to: after, time: number, except: before.named)
    }
    // What goes along with a deleted record is not named.
    let others = changed.subtracting(allowed).intersection(after.named)
    let isAlone = interruptions == outcome.counts["write in the middle of a step", default: 0]
    if !others.isEmpty, isAlone { fault("operator: \(what) changed \(others.sorted()), too") }
    tell(of: machine.local, &generator)
  }

  /// Takes back what an author has written lately.
  private func revert(
    _ machine: SimulatedMachine, _ generator: inout SeededGenerator
  ) async {
    guard let engine = machine.engine else { return }
    let author = generator.chance(70) ? "importer" : "app"
    let now = scheduler.now(of: machine.name)
    let since = now - min(now, UInt64.random(in: 0...20_000, using: &generator))
    let request = RevertRequest(.author(author), since: since)
    guard let plan = try? await engine.planRevert(request) else { return }
    let local = engine.local
    let keys = Set(plan.steps.compactMap { try? key(of: $0.record, in: local) })
    await act("revert", machine, on: keys, &generator) { engine in
      try await engine.revert(request).done.map(\.record)
    }
  }

  /// What else a leaf has that goes with its number: by itself none of it is brought back.
  private static let numbers: Set<String> = ["other", "count", "moment", "data", "ident", "flag"]

  /// Writes back a value that has lost.
  private func takeBack(
    _ machine: SimulatedMachine, _ generator: inout SeededGenerator
  ) async {
    guard let engine = machine.engine, let page = try? await engine.conflicts() else { return }
    let conflicts = page.conflicts.filter { item in
      let isLeaf = ["Leaf", "Bloom"].contains(item.conflict.entity)
      return !isLeaf || !Self.numbers.contains(item.conflict.property ?? "")
    }
    guard let chosen = generator.pick(conflicts) else { return }
    let key = try? key(of: engine.local.ledger().resolve(chosen.conflict.record), in: engine.local)
    note("\(machine.name) takes back \(chosen.conflict)")
    await act("restore", machine, on: Set([key].compactMap { $0 }), &generator) { engine in
      let outcome = try await engine.restore(chosen.id)
      return outcome.isChanged ? [outcome.record] : []
    }
  }

  // MARK: What differs

  private func tamper(with store: SimulatedStore, _ generator: inout SeededGenerator) {
    guard let picture = try? store.picture(),
      let key = generator.pick(picture.items.filter { $0.value.value != nil }.keys.sorted()),
      let old = picture.items[key]?.value
    else { return }
    let value = oracle.fresh("v")
    guard (try? store.setValue(value, ofItem: key)) != nil else { return }
    isTampered = true
    oracle.tamper(with: key, from: old, to: value, in: store.name)
    count("changed past history")
    note("\(key).value = \(value) (was \(old)) behind history at \(store.name)")
  }

  /// Brings the stores of a link together.
  ///
  /// They need not be in step: programs write between the comparison and the repair at any time.
  func repair(
    _ machine: SimulatedMachine, _ replica: SimulatedStore,
    _ generator: inout SeededGenerator
  ) async {
    let preference: RepairPreference = generator.chance(50) ? .local : .replica
    guard let link = try? machine.engine?.link(replica.name), let pass = link.steps else { return }
    do {
      let repair = StoreRepair(
        pass: pass, direction: link.configuration.direction, preference: preference)
      let name = replica.name
      let actions = try await Scheduler.$actor.withValue("\(machine.name)/engine") {
        try await link.perform {
          for access in [pass.local, pass.replica] { try HistoryCapture(access: access).run() }
          let report = try StoreComparison(local: pass.local, replica: pass.replica).run(name: name)
          let actions = try repair.plan(report.differences)
          try repair.perform(actions)
          return actions
        }
      }
      count("repaired, \(preference) preferred", actions.count)
      note("\(machine.name)/\(name) is repaired, \(preference) preferred: \(actions)")
    } catch {
      count("act refused")
      note("\(machine.name)/\(replica.name) cannot be repaired: \(error)")
    }
    await scheduler.settle()
    for store in [machine.local, replica] { tell(of: store, &generator) }
  }
}
