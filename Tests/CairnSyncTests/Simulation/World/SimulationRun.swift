import CairnContext
import CairnCoordinator
import CairnModel
import CairnSQLite
import CairnStore
import Foundation
import Synchronization

@testable import CairnSync

/// One simulation: machines and stores of one seed, the steps taken on them, and what was found wrong.
final class SimulationRun {
  struct Outcome: Sendable {
    /// What is wrong, the kind of it before a colon.
    var faults: [String] = []
    var trace: [String] = []
    /// How often each thing happened.
    var counts: [String: Int] = [:]
    var kind: String? { faults.first.map { String($0.prefix { $0 != ":" }) } }
  }

  /// What a wait or verify has come to.
  private final class Claim: Sendable {
    let result = Mutex<Result<VerifyReport?, SyncError>?>(nil)
  }
  private struct Waiting {
    let actor: String
    let machine: String
    let replica: String
    /// The store behind the replica; nil for a log.
    let store: SimulatedStore?
    let claim: Claim
    /// What both stores had when it began; nothing of one that went back in time or was lost since.
    var values: (local: Set<String>, replica: Set<String>)
    let task: Task<Void, Never>
    /// The link's passes, complete or not, when it was last looked at.
    var attempts: Int
  }
  struct Notice {
    let due: UInt64
    let machine: String
    let replica: String
  }

  let seed: UInt64
  private let folder: URL
  let scheduler: Scheduler
  let machines: [SimulatedMachine]
  let stores: [SimulatedStore]
  let deletes: Bool
  /// Whether an item with parts cannot be deleted; a delete that is denied waits for good then.
  let denies: Bool
  private let isWild: Bool
  var oracle = SimulationOracle()
  var outcome = Outcome()
  /// The values in journals that sync has purged.
  var formerJournal: Set<String> = []
  private var notices: [Notice] = []
  private var waiting: [Waiting] = []
  private(set) var number = 0
  /// How many saves of programs there were.
  var saves = 0
  /// What each of them did, when and where, and its last transaction.
  var logged: [(store: String, time: Int, transaction: Int64, draft: SimulationOracle.Draft)] = []
  /// Whether a file was changed behind sync, so that its stores differ until they are repaired.
  var isTampered = false
  /// The records that only a store knew that was lost or came back from a backup.
  var lost: Set<RecordID> = []
  /// What a store held right after a program had written to it in the middle of a step.
  var meanwhile: (store: String, picture: StorePicture?) = ("", nil)
  /// By store, the latest model version that a daemon has brought it to.
  private let keepsTrace: Bool

  /// - Parameters:
  ///   - isWild: Whether clocks jump further than sync allows for.
  ///   - hasDatabase: Whether the hub is a store in a PostgreSQL database.
  ///   - member: What some links lead to instead of stores.
  init(
    seed: UInt64, in folder: URL, isWild: Bool, hasDatabase: Bool = false,
    member: SimulatedMember.Kind? = nil, keepsTrace: Bool = false
  ) throws {
    self.isWild = isWild
    self.seed = seed
    self.folder = folder
    self.keepsTrace = keepsTrace
    var generator = SeededGenerator(seed: seed)
    let scheduler = Scheduler(seed: seed)
    self.scheduler = scheduler
    let policy = generator.pick(DeleteConflictPolicy.allCases + [.lastWriter]) ?? .lastWriter
    var setting = SeededGenerator(seed: seed &* 3 &+ 2)
    let denies = setting.chance(40)
    let isOneWay = setting.chance(20)
    // A first copy of small batches comes in parts; of larger ones, new records go by the run there, too.
    let batchSize = setting.chance(60) ? 7 : 40
    // What is silent for so long is expired, if sync purges.
    let retention = setting.pick([3000, 3000, 30_000]) ?? 3000
    // So that links ask now and then; of less than four records none does.
    let limit =
      (SimulationStep.hasOperators(seed: seed) || member != nil) && seed % 3 != 0
      ? DeletionLimit(count: 2, share: nil, smallest: 4) : DeletionLimit()
    self.denies = denies
    deletes = generator.chance(85)
    let names = ["a", "b", "c"].prefix(Int.random(in: 2...3, using: &generator))
    let hubs = try ["hub", "nas"].map { name in
      try name == "hub" && hasDatabase
        ? SimulatedDatabase(name, in: folder, denies: denies)
        : SimulatedStore(name, in: folder, denies: denies)
    }
    // All share the hub; with three, the last may have only what the second shares with it.
    let shape = Int.random(in: 0..<3, using: &generator)
    let places = member.map { Self.places($0, shape: shape, machines: names.count) }
    machines = try names.enumerated().map { index, name in
      let replicas: [SimulatedStore]
      switch (shape, index) {
      case _ where places != nil: replicas = (places?[index].hubs ?? []).map { hubs[$0] }
      case (0, _): replicas = [hubs[0]]
      case (1, 0): replicas = [hubs[0]]
      case (1, 1): replicas = hubs
      case (1, _): replicas = [hubs[1]]
      default: replicas = hubs
      }
      var directions: [String: SyncDirection] = [:]
      if isOneWay {
        for replica in replicas {
          directions[replica.name] = setting.pick([.both, .push, .pull, .pull, .push])
        }
      }
      return SimulatedMachine(
        name, local: try SimulatedStore(name, in: folder, denies: denies), replicas: replicas,
        scheduler: scheduler, policy: policy, denies: denies, directions: directions,
        batchSize: batchSize, retention: retention, deletions: limit)
    }
    if let member, let places {
      Self.link(machines, member, places.map(\.hasMember), &setting, scheduler)
    }
    var used = machines.map(\.local)
    for hub in hubs where machines.contains(where: { $0.replicas.contains { $0 === hub } }) {
      used.append(hub)
    }
    stores = used
    for store in stores { try store.create(&generator, .current) }
    note(
      "policy \(policy.rawValue), \(denies ? "deny, " : "")"
        + machines.map { $0.links.joined(separator: " ") }.joined(separator: ", "))
  }

  // MARK: Running

  func run(_ steps: [SimulationStep]) async -> Outcome {
    do {
      for machine in machines { try await machine.start() }
      for step in steps {
        number += 1
        try await perform(step)
        await afterStep()
        if !outcome.faults.isEmpty { break }
      }
      if outcome.faults.isEmpty { try await finish() }
    } catch {
      fault("failed: \(error)")
    }
    for machine in machines { await machine.stop() }
    for (run, times) in scheduler.takeRuns() { count("\(run.rawValue) by the run", times) }
    for item in waiting { item.task.cancel() }
    for store in stores { store.close() }
    return outcome
  }

  func note(_ text: @autoclosure () -> String) {
    guard keepsTrace else { return }
    let plain = text().replacingOccurrences(of: folder.path, with: "")
    outcome.trace.append("\(number) \(stores.reduce(plain) { $1.withoutPlace($0) })")
  }
  func count(_ what: String, _ times: Int = 1) { outcome.counts[what, default: 0] += times }
  func fault(_ text: String) {
    outcome.faults.append(text)
    note("FAULT \(text)")
  }

  private func perform(_ step: SimulationStep) async throws {
    var generator = SeededGenerator(seed: step.salt)
    let machine = machines[Int.random(in: 0..<machines.count, using: &generator)]
    let store = stores[Int.random(in: 0..<stores.count, using: &generator)]
    switch step.kind {
    case .write: try write(store, &generator)
    case .exceed: try write(store, exceeds: true, &generator)
    case .turns: await turns(Int.random(in: 1...12, using: &generator), &generator)
    case .advance:
      let limit: UInt64 = generator.chance(20) ? 15_000 : 800
      await advance(UInt64.random(in: 0...limit, using: &generator))
    case .die:
      let after = Int.random(in: 1...12, using: &generator)
      scheduler.kill(machine.name, after: after)
      note("\(machine.name) dies at its failpoint \(after) from now")
    case .start: await start(machine)
    case .interrupt: interrupt(machine, &generator)
    case .stop:
      guard machine.isRunning else { return }
      await machine.stop()
      count("stop")
      note("\(machine.name) stops")
    case .configure: await configure(machine, &generator)
    case .upgrade: await upgrade(machine)
    case .clock: jump(machine, &generator)
    case .clockRight:
      scheduler.setClock(of: machine.name, to: 0)
      note("the clock of \(machine.name) is right")
    case .purge: try purge(store)
    case .purgeBySync: await purgeBySync(machine, &generator)
    case .redirect: try await redirect(machine, &generator)
    case .wait: await claim(machine, verifies: false, &generator)
    case .verify: await claim(machine, verifies: true, &generator)
    case .pause:
      guard let engine = machine.engine else { return }
      try engine.pause()
      count("pause")
      note("\(machine.name) is paused")
      await scheduler.settle()
    case .resume: try await resume(machine)
    case .member: happen(to: machine, &generator)
    case .trouble, .heal, .backUp, .restore, .exchange, .takeAway, .bringBack, .lose, .narrow:
      try await file(step.kind, store, &generator)
    case .accept, .approve, .discard, .repair, .revert, .takeBack:
      await operate(step.kind, machine, &generator)
    }
  }

  private func resume(_ machine: SimulatedMachine) async throws {
    guard let engine = machine.engine else { return }
    for link in machine.links { scheduler.note(callTo: link) }
    try engine.resume()
    await scheduler.settle()
  }

  func start(_ machine: SimulatedMachine) async {
    guard !machine.isRunning else { return }
    do {
      try await machine.start()
      count("start")
      note("\(machine.name) starts")
    } catch {
      count("start refused")
      note("\(machine.name) does not start: \(error)")
    }
  }

  private func upgrade(_ machine: SimulatedMachine) async {
    if machine.version == .muchNewer { return }
    await machine.stop()
    machine.local.close()
    machine.version = .muchNewer
    count("upgrade")
    note("\(machine.name) gets the newer model")
    await start(machine)
  }

  private func jump(_ machine: SimulatedMachine, _ generator: inout SeededGenerator) {
    let year: Int64 = 365 * 24 * 3_600_000
    // Jumps beyond the allowed skew only where they are asked for: see README, open.
    let wild = [-year, -400_000, 600_000, 3_600_000, year]
    // What was written further ahead waits for an operator to accept it.
    let held: [Int64] = SimulationStep.hasOperators(seed: seed) ? [400_000] : []
    let offset =
      generator.pick([-200_000, -60_000, 60_000, 250_000] + held + (isWild ? wild : [])) ?? 0
    scheduler.setClock(of: machine.name, to: offset)
    if offset < -300_000 { oracle.forgetSight(from: 0) }
    count(offset < 0 ? "clock back" : "clock ahead")
    note("the clock of \(machine.name) jumps by \(offset) ms")
  }

  private func purge(_ store: SimulatedStore) throws {
    guard store.exists, let coordinator = try? store.program(9, version(of: store)),
      let history = coordinator.persistentStores.first?.capabilities.history,
      let picture = try? store.picture(),
      let purged = try? history.purgeHistory(before: .max, date: nil)
    else { return }
    count("purge")
    oracle.forgetSight(of: picture.values)
    let captured = (try? store.captured()) ?? 0
    for save in logged where save.store == store.name && save.transaction > captured {
      oracle.forget(save.draft, in: store.name)
    }
    note("a program purges the history of \(store.name): \(purged)")
  }

  // MARK: Turns and time

  /// Lets links go on, one turn at a time, in an order that the salt gives.
  func turns(_ count: Int, _ generator: inout SeededGenerator) async {
    for _ in 0..<count {
      guard let link = generator.pick(scheduler.waitingForTurns) else { return }
      await turn(link, &generator)
    }
  }

  private func turn(_ link: String, _ generator: inout SeededGenerator) async {
    _ = scheduler.takeReached()
    await scheduler.grant(link)
    let reached = scheduler.takeReached()
    for failpoint in reached { count("reached \(failpoint.rawValue)") }
    let words = link.split(separator: "/").map(String.init)
    guard words.count == 2, let machine = machines.first(where: { $0.name == words[0] }) else {
      return
    }
    note(
      "\(link) goes on: \(reached.map(\.rawValue).joined(separator: " ")) \(words.count == 2 ? phase(of: machine, words[1]) : "")"
    )
    // Also one that was asked by another and died of it.
    for machine in machines {
      guard let failpoint = scheduler.whereDied(machine.name) else { continue }
      await machine.stop()
      count("death \(failpoint.rawValue)")
      note("\(machine.name) died at \(failpoint.rawValue)")
    }
    let commits: Set<SyncEnvironment.Failpoint> = [
      .afterCaptureCommit, .afterImportCommit, .afterBootstrapCommit,
    ]
    guard !commits.isDisjoint(with: reached) else { return }
    tell(of: machine.local, &generator)
    if let replica = self.store(of: machine, words[1]) { tell(of: replica, &generator) }
    await collectClaims(link)
  }

  private func phase(of machine: SimulatedMachine, _ replica: String) -> String {
    guard let life = try? machine.engine?.link(replica).life else { return "" }
    return life.phase.word + (life.lastError.map { " (\($0))" } ?? "")
  }

  /// Commits are noticed: at once, late, twice or not at all.
  func tell(of store: SimulatedStore, _ generator: inout SeededGenerator) {
    for machine in machines {
      let isLocal = machine.local === store
      for name in machine.replicaNames where isLocal || self.store(of: machine, name) === store {
        let notice = Notice(
          due: scheduler.now
            + (generator.chance(30) ? UInt64.random(in: 1...4000, using: &generator) : 0),
          machine: machine.name, replica: name)
        switch Int.random(in: 0..<10, using: &generator) {
        case 0: count("lost notice")
        case 1:
          count("repeated notice")
          notices += [notice, notice]
        default:
          if notice.due > scheduler.now { count("late notice") }
          notices.append(notice)
        }
      }
    }
  }

  private func deliver() async {
    let due = notices.filter { $0.due <= scheduler.now }
    notices.removeAll { $0.due <= scheduler.now }
    for notice in due {
      await machines.first { $0.name == notice.machine }?.notice(notice.replica)
    }
  }

  func advance(_ milliseconds: UInt64) async {
    await scheduler.advance(milliseconds)
    await deliver()
  }

  private func afterStep() async {
    await deliver()
    await collectClaims(nil)
    await decide()
  }

  // MARK: Claims

  private func claim(
    _ machine: SimulatedMachine, verifies: Bool, _ generator: inout SeededGenerator
  ) async {
    guard let engine = machine.engine, let name = generator.pick(machine.replicaNames),
      let local = try? machine.local.picture()
    else { return }
    let store = self.store(of: machine, name)
    // What is given change sets is not compared.
    if verifies, !machine.replicas.contains(where: { $0 === store }) { return }
    let isWhole = !machine.withoutLeaves.contains(name)
    let actor = "\(verifies ? "verify" : "wait") \(number)"
    let claim = Claim()
    let scheduler = self.scheduler
    let link = "\(machine.name)/\(name)"
    scheduler.beginClaim(actor)
    let task = Task {
      await Scheduler.$actor.withValue(actor) {
        do {
          let timeout = Duration.seconds(20)
          let report = verifies ? try await engine.verify(name: name, timeout: timeout) : nil
          if !verifies { try await engine.wait(for: [name], timeout: timeout) }
          claim.result.withLock { $0 = .success(report) }
        } catch {
          claim.result.withLock { $0 = .failure(SyncError(describing: error, at: nil)) }
        }
        scheduler.endClaim(actor)
      }
    }
    guard
      let theirs = values(of: machine, store, in: { $0.common.part(withLeaves: isWhole).values })
    else { return }
    note("\(actor) for \(link)")
    await scheduler.settleClaim(actor, waits: 1)
    await scheduler.settle()
    waiting.append(
      Waiting(
        actor: actor, machine: machine.name, replica: name, store: store, claim: claim,
        values: (local.common.part(withLeaves: isWhole).values, theirs), task: task,
        attempts: attempts(machine, name)))
    await collectClaims(link)
    if verifies { await runAlone(actor, link) }
  }

  private func attempts(_ machine: SimulatedMachine, _ replica: String) -> Int {
    guard let life = try? machine.engine?.link(replica).life else { return -1 }
    return life.counters.passes + life.counters.failedPasses + life.completed
  }

  /// Nobody else does anything until a verify has ended, so that what it says can be compared.
  private func runAlone(_ actor: String, _ link: String) async {
    var generator = SeededGenerator(seed: UInt64(number))
    for _ in 0..<400 {
      if !waiting.contains(where: { $0.actor == actor }) { return }
      if scheduler.isAtGate(actor) {
        let calls = scheduler.calls(of: actor)
        await scheduler.grant(actor)
        await scheduler.settleClaim(actor, waits: calls + 1)
        await scheduler.settle()
      } else if scheduler.isAtGate(link) {
        await turn(link, &generator)
      } else if await !scheduler.fire() {
        return
      }
      await collectClaims(link)
    }
  }

  /// A store is not what it was: what it does not have any more is not waited for.
  func forgetClaims(on store: SimulatedStore) {
    for index in waiting.indices {
      if waiting[index].machine == store.name { waiting[index].values.local = [] }
      if waiting[index].store === store { waiting[index].values.replica = [] }
    }
  }

  /// Machines that have never had the store open make another in its place, and know nothing of this one.
  func forgetClaims(onUnknown store: SimulatedStore) {
    for index in waiting.indices where waiting[index].store === store {
      let engine = machines.first { $0.name == waiting[index].machine }?.engine
      if (try? engine?.link(waiting[index].replica).replica) == nil {
        waiting[index].values.replica = []
      }
    }
  }

  /// What is written once more is not waited for.
  func forgetClaims(to values: Set<String>) {
    for index in waiting.indices {
      waiting[index].values.local.subtract(values)
      waiting[index].values.replica.subtract(values)
    }
  }

  /// A log has lost something: what is in it, and what was appended, is not waited for.
  func forgetClaims(onLogOf machines: [SimulatedMachine]) {
    for index in waiting.indices where waiting[index].store == nil {
      waiting[index].values = ([], [])
    }
  }

  /// What a replica has that a machine can see; nil where it is not there.
  private func values(
    of machine: SimulatedMachine, _ store: SimulatedStore?, in part: (StorePicture) -> Set<String>
  ) -> Set<String>? {
    if let store { return (try? store.picture()).map(part) }
    guard case .log(let log)? = machine.member else { return nil }
    return log.values(seenBy: machine.name)
  }

  private func collectClaims(_ link: String?) async {
    for (index, item) in waiting.enumerated().reversed() {
      if let link, link != "\(item.machine)/\(item.replica)" { continue }
      let machine = machines.first { $0.name == item.machine }
      let now = machine.map { attempts($0, item.replica) } ?? -1
      if now != item.attempts {
        waiting[index].attempts = now
        // A pass was completed or has failed, which may or may not end the wait.
        await scheduler.settleClaim(item.actor, waits: .max, patience: 10)
      } else {
        await scheduler.settleClaim(item.actor, waits: 0)
      }
      guard let result = item.claim.result.withLock({ $0 }) else { continue }
      waiting.removeAll { $0.actor == item.actor }
      await item.task.value
      judge(item, result)
    }
  }

  private func judge(_ item: Waiting, _ result: Result<VerifyReport?, SyncError>) {
    guard let machine = machines.first(where: { $0.name == item.machine }) else { return }
    let isWhole = !machine.withoutLeaves.contains(item.replica)
    switch result {
    case .failure(let error):
      count("claim refused")
      note("\(item.actor): \(error)")
    case .success(let report):
      guard let local = try? machine.local.picture(),
        let theirs = values(of: machine, item.store, in: \.values)
      else { return }
      if let report {
        guard let picture = try? item.store?.picture() else { return }
        count("verify \(report.isEqual ? "equal" : "different")")
        note("\(item.actor): \(report.isEqual ? "equal" : "\(report.differences)")")
        let differences = local.common.part(withLeaves: isWhole)
          .differences(from: picture.common.part(withLeaves: isWhole))
        if report.leftOut > 0 { count("verify leaves out") }
        if report.leftOut > 0, machine.direction(of: item.replica) == .both {
          fault("untrue verify: \(report.leftOut) left out of a link that goes both ways")
        }
        if report.isEqual, !differences.isEmpty {
          fault("untrue verify: equal, but \(differences.prefix(3))")
        }
        if !report.isEqual, differences.isEmpty,
          report.differences.contains(where: {
            $0.kind == .value || $0.kind == .onlyLocal || $0.kind == .onlyReplica
          })
        {
          note("verify sees what rows do not show: \(report.differences.prefix(3))")
        }
      } else {
        count("wait kept")
        note("\(item.actor): in step")
        let journal = self.journal()
        // Also of a link of one direction: what it leaves out is not in step.
        for value in item.values.local.subtracting(theirs)
        where !oracle.isAccounted(value, among: theirs, journal: journal) {
          fault("untrue wait: \(value) of \(machine.name) is not in \(item.replica)")
        }
        for value in item.values.replica.subtracting(local.common.values)
        where !oracle.isAccounted(value, among: local.values, journal: journal) {
          fault("untrue wait: \(value) of \(item.replica) is not in \(machine.name)")
        }
      }
    }
  }
}
