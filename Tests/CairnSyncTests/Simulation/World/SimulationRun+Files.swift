import CairnStore
import Foundation

@testable import CairnSync

// What happens to files in a simulation.

extension SimulationRun {
  func file(
    _ kind: SimulationStep.Kind, _ store: SimulatedStore, _ generator: inout SeededGenerator
  ) async throws {
    let isLocal = machines.contains { $0.local === store }
    switch kind {
    case .trouble:
      let trouble = generator.pick(SimulatedStore.Trouble.allCases) ?? .full
      if store.isGone { return }
      try store.begin(trouble, salt: Int.random(in: 0..<10_000, using: &generator))
      count("store \(trouble.rawValue)")
      note("\(store.name) is \(trouble.rawValue)")
    case .heal:
      try store.heal()
      note("\(store.name) is well")
    case .backUp:
      try store.backUp(at: number)
      if store.backedUp == number { count("backup") }
      note("\(store.name) is backed up")
    case .restore:
      guard let since = store.backedUp, !store.isGone, !store.isFaulty else { return }
      if isLocal { await stopOwner(of: store) }
      forget(store, since: since)
      try store.restore()
      count(isLocal ? "local restored" : "replica restored")
      note("\(store.name) comes back from the backup of step \(since)")
    case .exchange:
      guard store.exists, !store.isGone, !store.isFaulty else { return }
      if isLocal { await stopOwner(of: store) }
      try store.exchange()
      count("exchanged for a copy")
      note("\(store.name) is exchanged for a copy")
    case .takeAway:
      if isLocal || store.isGone { return }
      forgetClaims(onUnknown: store)
      try store.takeAway()
      count("store gone")
      note("\(store.name) is gone")
    case .bringBack:
      guard store.isGone else { return }
      try bringBack(store)
      note("\(store.name) is back")
    case .lose:
      // A replica's disk dies; its operators begin with an empty one.
      guard !isLocal, !store.isGone, store.exists, !store.isFaulty else { return }
      forget(store, since: 0)
      try store.takeAway()
      store.forgetAside()
      try store.create(&generator, version(ofReplica: store))
      try await replace(store)
      count("replica lost")
      note("\(store.name) is lost and made anew")
    case .narrow:
      guard store.exists, !store.isGone, !store.isFaulty,
        let part = generator.pick(DroppedPart.allCases)
      else { return }
      if isLocal { await stopOwner(of: store) }
      // As of a store that comes back from a backup of this moment, without that part; history that sync has not read
      // tells no more of it.
      let captured = (try? store.captured()) ?? 0
      let unread = logged.filter { $0.store == store.name && $0.transaction > captured }
      let kept = logged
      forget(store, since: unread.map(\.time).min() ?? number)
      logged = kept
      let before = try? store.picture().values
      try store.narrow(part)
      if let before, let after = try? store.picture().values {
        oracle.drop(before.subtracting(after), from: store.name)
      }
      count("dropped and back")
      note("\(store.name) goes to a version without \(part.rawValue), and back")
    case .write, .turns, .advance, .die, .interrupt, .start, .stop, .upgrade, .configure, .clock,
      .clockRight, .purge, .purgeBySync, .redirect, .wait, .verify, .pause, .resume, .accept,
      .approve, .discard, .repair, .revert, .takeBack, .exceed, .member:
      break
    }
  }

  func bringBack(_ store: SimulatedStore) throws {
    guard store.isGone else { return }
    // A daemon that has started meanwhile may have made a new one.
    if store.exists { forget(store, since: 0) }
    try store.bringBack()
  }

  private func stopOwner(of store: SimulatedStore) async {
    for machine in machines where machine.local === store { await machine.stop() }
  }

  private func replace(_ store: SimulatedStore) async throws {
    for machine in machines where machine.replicas.contains(where: { $0 === store }) {
      try await machine.addAnew(store)
    }
  }

  /// What no other store has is not sure any more.
  private func forget(_ store: SimulatedStore, since: Int) {
    var values: Set<String> = []
    var records: Set<String> = []
    for other in stores where other !== store {
      guard let picture = try? other.picture() else { continue }
      values.formUnion(picture.values)
      records.formUnion(picture.records)
    }
    values.formUnion(journal(except: store))
    lost.formUnion(known(in: [store]).subtracting(known(in: stores.filter { $0 !== store })))
    oracle.lose(store.name, since: since, elsewhere: values, records: records)
    logged.removeAll { $0.store == store.name && $0.time > since }
    forgetClaims(on: store)
  }

  /// The records that sync knows in any of the stores that can be read.
  func known(in stores: [SimulatedStore]) -> Set<RecordID> {
    stores.reduce(into: []) { $0.formUnion((try? $1.knownRecords()) ?? []) }
  }

  /// Remembers what the journals have: sync is going to purge them.
  func keepJournal() { formerJournal = journal() }

  /// The values that lost, as the journals of all stores have them, or had.
  func journal(except store: SimulatedStore? = nil) -> Set<String> {
    var entries: [JournalEntry] = []
    for machine in machines {
      // Out of the files, which are there when no machine runs, and through what is open, where a file is gone.
      for place in [machine.local] + machine.replicas where place !== store {
        entries += (try? place.journal()) ?? []
      }
      guard let engine = machine.engine else { continue }
      var places: [StoreAccess] = machine.local === store ? [] : [engine.local]
      for replica in machine.replicas where replica !== store {
        if let access = try? engine.link(replica.name).replica { places.append(access) }
      }
      for access in places {
        let stored = try? access.store.capabilities.sidecar?.sidecarEntries(
          of: SyncMap.journal.rawValue, from: nil, to: nil, limit: 0)
        entries += (stored ?? []).compactMap { try? JournalEntry(decoding: $0.value) }
      }
    }
    var found = store == nil ? formerJournal : []
    for entry in entries {
      switch entry.conflict.losingValue {
      case .string(let text): found.insert(text)
      case .double(let number): found.insert("\(number)")
      default: break
      }
    }
    return found
  }
}
