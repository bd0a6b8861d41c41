import CairnStore
import Foundation

// Digests are kept up to date with every commit, from what it changes.

extension Ledger {
  /// What a commit does to the digests.
  ///
  /// - Parameters:
  ///   - changes: The entries that it changes, with what is there now and what will be.
  ///   - added: The records that it adds besides.
  ///   - stored: The state of the digests as it was read.
  func digestOperations(
    _ changes: [CountedChange], _ added: [NewRecords], stored: Data?
  ) -> [SidecarOperation] {
    if let rebuilt = rebuiltDigests {
      var operations: [SidecarOperation] = [
        .require(SyncKey.digests, stored), .put(SyncKey.digests, rebuilt.state.encoded),
      ]
      operations += rebuilt.obsolete.map { .remove($0) }
      operations += rebuilt.sums.filter { !$0.value.isZero }.map {
        .add($0.key.key, $0.value.numbers)
      }
      return operations
    }
    // A store that has just been taken up has no records.
    if isNew {
      return [.put(SyncKey.digests, DigestState(names: head.names, extent: .all).encoded)]
    }
    let isEmpty = changes.isEmpty && added.isEmpty
    guard let stored else { return isEmpty ? [] : [.require(SyncKey.digests, nil)] }
    do {
      let state = try DigestState(decoding: stored)
      guard state.names == head.names else { return [.remove(SyncKey.digests)] }
      if isEmpty { return [] }
      var sums = DigestSums()
      for change in changes where state.counts(change.key) {
        if let old = try change.old.flatMap({ try digest(of: change.key, $0) }) {
          sums.subtract(old.sum, from: old.bucket)
        }
        if let new = try newDigest(of: change) {
          sums.add(new.sum, to: new.bucket)
        }
      }
      for records in added {
        schema.visitDigests(of: records) { id, bucket, sum in
          if state.counts(SyncKey.record(id)) { sums.add(sum, to: bucket) }
        }
      }
      return [.require(SyncKey.digests, stored)]
        + sums.byBucket.filter { !$0.value.isZero }.map { .add($0.key.key, $0.value.numbers) }
    } catch {
      // Without digests everything is read, and they are made anew.
      return [.remove(SyncKey.digests)]
    }
  }

  private func newDigest(
    of change: CountedChange
  ) throws -> (bucket: DigestBucket, sum: DigestSum)? {
    guard let new = change.new else { return nil }
    guard let entry = change.record else { return try digest(of: change.key, new) }
    return schema.digest(of: entry, id: try SyncKey.identity(in: change.key))
  }

  /// What an entry of `sync_records` or `sync_links` counts for.
  func digest(
    of key: SidecarKey, _ value: Data
  ) throws -> (bucket: DigestBucket, sum: DigestSum)? {
    if key.map == SyncMap.links.rawValue {
      return try LinkEntry(decoding: value).state.digest(SyncKey.linkKey(from: key.key))
    }
    let id = try SyncKey.identity(RecordID.self, in: key.key)
    return schema.digest(of: try entry(decoding: value), id: id)
  }
}

/// Digests that were counted anew, to be committed.
struct RebuiltDigests {
  var state: DigestState
  var sums: [DigestBucket: DigestSum] = [:]
  /// Entries of digests that are not to be believed.
  var obsolete: [SidecarKey] = []
}

/// Counts a store's digests anew, in chunks, each one commit, while others write.
struct DigestBuild {
  let access: StoreAccess
  var entriesPerCommit = 1000

  /// Makes the digests complete, if they are not.
  func runIfNeeded() throws {
    while try !step() {}
  }

  /// Drops the digests, so that no comparison believes them.
  func discard() throws {
    for _ in 0..<StoreAccess.attempts {
      let ledger = try access.ledger()
      guard try ledger.value(SyncKey.digests) != nil else { return }
      ledger.put(SyncKey.digests, nil)
      if try access.commit(ledger) { return }
    }
    throw StoreAccess.contention(access.store)
  }

  /// - Returns: Whether they are complete.
  func step() throws -> Bool {
    guard let sidecar = access.store.capabilities.sidecar else { return true }
    for _ in 0..<StoreAccess.attempts {
      let ledger = try access.ledger()
      let names = ledger.head.names
      let stored = try ledger.value(SyncKey.digests).flatMap { try? DigestState(decoding: $0) }
      var rebuilt: RebuiltDigests
      if let stored, stored.names == names {
        if stored.extent == .all { return true }
        rebuilt = try count(from: stored, ledger, sidecar)
      } else {
        rebuilt = RebuiltDigests(
          state: DigestState(names: names, extent: .records(before: Data())))
        try sidecar.visitEntries(of: .digests) { key, _ in
          rebuilt.obsolete.append(SyncMap.digests.key(key))
        }
      }
      ledger.rebuiltDigests = rebuilt
      if try access.commit(ledger) { return false }
    }
    throw StoreAccess.contention(access.store)
  }

  private func count(
    from state: DigestState, _ ledger: Ledger, _ sidecar: any SidecarKeeping
  ) throws -> RebuiltDigests {
    let (map, start): (SyncMap, Data)
    switch state.extent {
    case .records(let end): (map, start) = (.records, end)
    case .links(let end): (map, start) = (.links, end)
    case .all: return RebuiltDigests(state: state)
    }
    let entries = try sidecar.sidecarEntries(
      of: map.rawValue, from: start, to: nil, limit: entriesPerCommit)
    var rebuilt = RebuiltDigests(state: state)
    for (key, value) in entries {
      guard let found = try ledger.digest(of: map.key(key), value) else { continue }
      rebuilt.sums[found.bucket, default: DigestSum()] += found.sum
    }
    let next = entries.last.map { $0.key + Data([0]) } ?? start
    if entries.count == entriesPerCommit {
      rebuilt.state.extent = map == .records ? .records(before: next) : .links(before: next)
    } else {
      rebuilt.state.extent = map == .records ? .links(before: Data()) : .all
    }
    return rebuilt
  }
}
