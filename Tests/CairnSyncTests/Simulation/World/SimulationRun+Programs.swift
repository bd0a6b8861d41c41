import CairnContext
import CairnCoordinator
import CairnModel
import CairnStore
import Foundation

@testable import CairnSync

// What programs do in a simulation.

extension SimulationRun {
  func version(of store: SimulatedStore) -> SampleModel.Version {
    if let machine = machines.first(where: { $0.local === store }) { return machine.version }
    return store.version
  }

  /// The version of the daemons that share a replica which is made anew.
  func version(ofReplica store: SimulatedStore) -> SampleModel.Version {
    let isNewer = machines.contains { machine in
      machine.version == .muchNewer && machine.replicas.contains { $0 === store }
    }
    return isNewer ? .muchNewer : .current
  }

  /// - Parameter exceeds: Whether the program's model lacks a rule, by which all other stores refuse what it writes.
  func write(
    _ store: SimulatedStore, exceeds: Bool = false, _ generator: inout SeededGenerator
  ) throws {
    let coordinator: PersistentStoreCoordinator
    do {
      coordinator = try store.program(
        exceeds ? 2 : Int.random(in: 0..<2, using: &generator), version(of: store), isLax: exceeds)
    } catch {
      count("program refused")
      return note("a program cannot open \(store.name): \(error)")
    }
    let machine = machines.first { $0.local === store } ?? generator.pick(machines)
    let before = try? store.lastTransaction()
    var program = SimulatedProgram(
      store.name, coordinator, time: number, seed: generator.next())
    var error: (any Error)?
    do { try program.run(&oracle, deletes: deletes, exceeds: exceeds) } catch let failure {
      error = failure
    }
    var isSaved = error == nil
    if error != nil {
      // A commit whose last step failed may be there all the same.
      let values = (try? store.picture().values) ?? []
      isSaved = program.draft.writes.contains { values.contains($0.write.value) }
    }
    if isSaved {
      if let before, let machine {
        saves += 1
        try? store.setDate(
          scheduler.now(of: machine.name), and: saves % 1000, ofTransactionsAfter: before)
      }
      oracle.acknowledge(program.draft, in: store.name, at: number)
      if let last = try? store.lastTransaction() {
        logged.append((store.name, number, last, program.draft))
      }
      for (what, times) in program.done { count(what, times) }
    } else {
      count("save refused")
      if denies, "\(error.map { "\($0)" } ?? "")".contains("parts") {
        count("delete refused by a rule")
      }
    }
    note(
      "a program at \(store.name): \(program.draft.words.joined(separator: "; "))"
        + (error.map { " — \(isSaved ? "saved all the same" : "not saved"): \($0)" } ?? ""))
    tell(of: store, &generator)
  }

  /// A program deletes some parts.
  func deleteParts(
    _ keys: Set<String>, at store: SimulatedStore, _ generator: inout SeededGenerator
  ) throws -> Int {
    var count = 0
    try save(at: store, &generator) { context in
      let request = FetchRequest<ManagedObject>(entityName: "Part")
      for part in try context.fetch(request) where keys.contains(SimulatedProgram.key(part)) {
        context.delete(part)
        count += 1
      }
    }
    return count
  }

  /// A program gives an item another value.
  func setValue(
    _ value: String, ofItem key: String, was old: String, at store: SimulatedStore,
    _ generator: inout SeededGenerator
  ) throws {
    try save(at: store, &generator) { context in
      let request = FetchRequest<ManagedObject>(entityName: "Item")
      for item in try context.fetch(request) where SimulatedProgram.key(item) == key {
        let isRenamed = item.entity.attributesByName["text"] != nil
        item.setValue(value, forKey: isRenamed ? "text" : "value")
      }
    }
    note("a program at \(store.name) corrects \(key).value = \(value) (was \(old))")
    var draft = SimulationOracle.Draft()
    draft.writes = [
      (
        .init(
          value: value, place: "item \(key) value", record: key, store: store.name, time: number),
        old
      )
    ]
    draft.touched = [key]
    oracle.acknowledge(draft, in: store.name, at: number)
  }

  /// Lets a program save by itself, which others do nothing in the middle of.
  private func save(
    at store: SimulatedStore, _ generator: inout SeededGenerator,
    _ work: (ManagedObjectContext) throws -> Void
  ) throws {
    // One of its own: others may have been started before the store was migrated.
    let isLocal = machines.contains { $0.local === store }
    let coordinator = try store.program(
      8, isLocal ? version(of: store) : version(ofReplica: store))
    let before = try store.lastTransaction()
    let context = ManagedObjectContext(.privateQueue)
    context.persistentStoreCoordinator = coordinator
    try context.performAndWait {
      try work(context)
      if context.hasChanges { try context.save() }
    }
    if let machine = machines.first(where: { $0.local === store }) ?? generator.pick(machines) {
      saves += 1
      try store.setDate(
        scheduler.now(of: machine.name), and: saves % 1000, ofTransactionsAfter: before)
    }
    tell(of: store, &generator)
  }

  /// A program writes while a machine is in the middle of a step.
  func interrupt(_ machine: SimulatedMachine, _ generator: inout SeededGenerator) {
    let store = generator.pick([machine.local] + machine.replicas) ?? machine.local
    let after = Int.random(in: 1...12, using: &generator)
    note("a program writes to \(store.name) at failpoint \(after) of \(machine.name) from now")
    let salt = generator.next()
    // Proof: the simulation waits for the machine's turn to end while this runs.
    nonisolated(unsafe) let (run, place) = (self, store)
    scheduler.interrupt(machine.name, after: after) { failpoint in
      var generator = SeededGenerator(seed: salt)
      run.count("write in the middle of a step")
      run.count("write at \(failpoint.rawValue)")
      run.note("at \(failpoint.rawValue):")
      try? run.write(place, &generator)
      run.meanwhile = (place.name, try? place.picture())
    }
  }
}
