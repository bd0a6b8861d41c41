import CairnModel
import CairnSQL
import CairnStore
import Foundation

/// The work of one save inside its transaction.
///
/// Deletes come first, then updates, then inserts, so that a unique value may pass from one row to
/// another. All conflicts are collected before the transaction is given up.
final class SaveTransaction {
  let lookup: RowLookup
  let request: SaveChangesRequest
  private(set) var sidecarMaps: Set<String>
  let rows: RowWriter
  private let deleter: RowDeleter
  /// Whether rows are deleted one by one, so that those that another writer has changed are found.
  private let deletesOneByOne: Bool
  private let history: HistoryWriter?
  private var conflicts: [RowConflict] = []
  private var violations: UniquenessViolations
  /// The inserted rows as they will be read back.
  private var inserted: [RowSnapshot] = []
  /// The updated rows as they will be read back.
  private var updated: [RowSnapshot] = []
  /// The places of those that may have become something else than what was written.
  private var uncertain: [Int] = []
  private var hasDerivedInsertions = false
  private var recent: (description: EntityDescription, entity: SQLEntity)?
  private var recentShape: UpdateShape?

  init(
    lookup: RowLookup, request: SaveChangesRequest, recordsHistory: Bool,
    sidecarMaps: Set<String>, deletesOneByOne: Bool
  ) throws {
    self.lookup = lookup
    self.request = request
    self.sidecarMaps = sidecarMaps
    rows = RowWriter(lookup: lookup)
    deleter = RowDeleter(lookup: lookup)
    // For a few nothing is gained otherwise, and history wants to know whether a row that is deleted
    // in any case was there.
    self.deletesOneByOne =
      deletesOneByOne || request.deletions.count < 8
      || request.deletions.contains { $0.overwritesConflicts }
    violations = UniquenessViolations(lookup: lookup, request: request)
    history =
      recordsHistory
      ? try HistoryWriter(
        lookup: lookup, author: request.author, contextName: request.contextName,
        date: request.date) : nil
  }

  /// Removes files written for a transaction that did not commit.
  func discardFiles() { lookup.reader.files.remove(rows.newFiles) }

  /// Files that nothing refers to any more once the transaction has committed.
  var obsoleteFiles: [String] { rows.obsoleteFiles + deleter.obsoleteFiles }

  var recordsHistory: Bool { history != nil }

  func run() throws -> SaveOutcome {
    defer { rows.finish() }
    if let key = try applySidecar() { return .sidecarChanged(key) }
    guard try KeyReservation.take(request.rowKeyClaims, lookup) else { return .rowKeysTaken }
    try checkLocks()
    try delete()
    try clearMovingValues()
    try update()
    try insert()
    if !conflicts.isEmpty { return .conflicts(conflicts) }
    if !violations.isEmpty { return .constraintViolations(violations.list) }
    try LinkWriter(lookup: lookup).apply(request.links)
    try DerivedValues.refresh(request, lookup)
    try history?.finish()
    try putAtTransaction()
    return .saved(
      SaveReceipt(snapshots: try storedSnapshots(), transactionNumber: history?.number))
  }

  /// The entity of a row; rows come in runs of one.
  private func entity(_ snapshot: RowSnapshot) -> SQLEntity { entity(snapshot.objectID) }

  private func entity(_ objectID: ManagedObjectID) -> SQLEntity { entity(objectID.entity) }

  private func entity(_ description: EntityDescription) -> SQLEntity {
    if recent?.description === description, let entity = recent?.entity { return entity }
    let entity = lookup.schema.entity(description)
    recent = (description, entity)
    return entity
  }

  // MARK: Steps

  private func applySidecar() throws -> SidecarKey? {
    let tables = SidecarTables(connection: lookup.connection)
    for case .require(let key, let value) in request.sidecar
    where try tables.value(for: key) != value {
      return key
    }
    try tables.execute(request.sidecar, known: &sidecarMaps)
    return nil
  }

  private func putAtTransaction() throws {
    guard let number = history?.number else { return }
    let tables = SidecarTables(connection: lookup.connection)
    for case .putAtTransaction(let map, let value) in request.sidecar {
      let key = SidecarKey(map: map, transaction: number)
      _ = try tables.execute(.put(key, value), known: &sidecarMaps)
    }
  }

  private func checkLocks() throws {
    for lock in request.locks {
      let entity = lookup.schema.entity(lock.objectID.entity)
      let stored = try rows.storedVersion(of: lock.objectID.rowKey ?? 0, entity: entity)
      if stored != lock.version { try addConflict(lock.objectID, expected: lock.version) }
    }
  }

  private func addConflict(_ objectID: ManagedObjectID, expected: Int64) throws {
    conflicts.append(
      RowConflict(
        objectID: objectID, expectedVersion: expected,
        persisted: try lookup.snapshot(for: objectID)))
  }

  private func delete() throws {
    if !deletesOneByOne { return try deleteTogether() }
    for deletion in request.deletions {
      let id = deletion.objectID
      let entity = entity(id)
      let expected = deletion.overwritesConflicts ? nil : deletion.version
      if try deleter.delete(id.rowKey ?? 0, entity: entity, expected: expected) {
        try record(deletion, entity)
      } else if !deletion.overwritesConflicts {
        try addConflict(id, expected: deletion.version)
      }
    }
  }

  /// Rows of one entity and version with a few statements.
  ///
  /// - Throws: ``RowsHaveChanged`` when one of them has another version.
  private func deleteTogether() throws {
    struct Place: Hashable {
      let entity: Int
      let version: Int64
    }
    var places: [Place: Int] = [:]
    var groups: [(entity: SQLEntity, version: Int64, keys: [Int64])] = []
    // Rows come in runs.
    var run: (description: EntityDescription, version: Int64, keys: [Int64])?
    func endRun() {
      guard let ended = run else { return }
      run = nil
      let entity = entity(ended.description)
      let wanted = Place(entity: entity.number, version: ended.version)
      if let place = places[wanted] {
        groups[place].keys += ended.keys
      } else {
        places[wanted] = groups.count
        groups.append((entity, ended.version, ended.keys))
      }
    }
    for deletion in request.deletions {
      if run?.version != deletion.version || run?.description !== deletion.objectID.entity {
        endRun()
        run = (deletion.objectID.entity, deletion.version, [])
      }
      run?.keys.append(deletion.objectID.rowKey ?? 0)
    }
    endRun()
    for (entity, version, keys) in groups {
      guard try deleter.delete(keys, entity: entity, expected: version) else {
        throw RowsHaveChanged()
      }
    }
    if history == nil { return }
    for deletion in request.deletions { try record(deletion, entity(deletion.objectID)) }
  }

  private func record(_ deletion: SaveChangesRequest.Deletion, _ entity: SQLEntity) throws {
    let slots = entity.history.tombstoneSlots
    try history?.record(
      .delete, entity: entity, key: deletion.objectID.rowKey ?? 0,
      tombstone: slots.isEmpty ? [] : deletion.snapshot.map { row in slots.map { row[$0] } } ?? [])
  }

  /// When several updates touch unique columns, the values may be exchanged between the rows; they
  /// are all taken away first, since NULLs never collide.
  private func clearMovingValues() throws {
    guard lookup.schema.hasConstraints else { return }
    var moving: [(update: SaveChangesRequest.Update, entity: SQLEntity, columns: [String])] = []
    for update in request.updates {
      let entity = entity(update.snapshot)
      guard !entity.constraints.isEmpty else { continue }
      let unique = Set(entity.constraints.flatMap(\.slots))
      let columns = update.changedSlots.filter(unique.contains).compactMap {
        entity.slots[$0].column
      }
      if !columns.isEmpty { moving.append((update, entity, columns)) }
    }
    guard moving.count > 1 else { return }
    for (update, entity, columns) in moving {
      try rows.clear(
        columns, of: update.snapshot.objectID.rowKey ?? 0, entity: entity,
        expected: update.overwritesConflicts ? nil : update.version)
    }
  }

  private func update() throws {
    updated.reserveCapacity(request.updates.count)
    for (place, update) in request.updates.enumerated() {
      RowSnapshot.fetchAhead(request.updates, from: place)
      let snapshot = update.snapshot
      let entity = entity(snapshot)
      do {
        let version = try write(update, shape(of: update, entity), entity: entity)
        // Columns that were not written may have changed since the snapshot was read.
        if update.overwritesConflicts || !entity.derivedSlots.isEmpty {
          uncertain.append(updated.count)
        }
        let isExact = Self.areExact(snapshot, entity)
        updated.append(Self.storedRow(snapshot, entity, version: version, isExact: isExact))
      } catch {
        try violations.add(error, snapshot: snapshot, entity: entity)
      }
    }
  }

  /// Most often that of the update before.
  private func shape(of update: SaveChangesRequest.Update, _ entity: SQLEntity) -> UpdateShape {
    if let recentShape, recentShape.entity === entity,
      recentShape.changedSlots == update.changedSlots,
      recentShape.changedToManys == update.changedToManys
    {
      return recentShape
    }
    let shape = UpdateShape(update, entity)
    recentShape = shape
    return shape
  }

  /// - Returns: The version of the row now.
  private func write(
    _ update: SaveChangesRequest.Update, _ shape: UpdateShape, entity: SQLEntity
  ) throws -> Int64 {
    let slots = shape.slots
    let snapshot = update.snapshot
    let key = snapshot.objectID.rowKey ?? 0
    // Versions come out of files: one at the end of what there is begins anew.
    var version = update.version &+ 1
    if update.overwritesConflicts {
      guard let stored = try rows.storedVersion(of: key, entity: entity) else {
        // Another writer deleted the row; the decision is that it lives on.
        try rows.insert(snapshot, entity: entity, version: version)
        try history?.record(.insert, entity: entity, key: key)
        return version
      }
      version = max(stored, update.version) &+ 1
      _ = try rows.update(snapshot, slots: slots, entity: entity, to: version, expected: nil)
    } else {
      let isCurrent = try rows.update(
        snapshot, slots: slots, entity: entity, to: version, expected: update.version)
      guard isCurrent else {
        try addConflict(snapshot.objectID, expected: update.version)
        return version
      }
    }
    try history?.record(.update, entity: entity, key: key, columns: shape.mask)
    return version
  }

  private func insert() throws {
    var stored: [RowSnapshot] = []
    stored.reserveCapacity(request.insertions.count)
    defer { inserted = stored }
    let addFile = rows.addNewFile
    let insertions = request.insertions
    var index = 0
    // Rows before this are written singly, because one of them was refused among others.
    var firstBlock = 0
    while index < insertions.count {
      let snapshot = insertions[index].snapshot
      let description = snapshot.objectID.entity
      let entity = entity(snapshot)
      let writer = try rows.insertion(entity)
      if !entity.derivedSlots.isEmpty { hasDerivedInsertions = true }
      // Rows come in runs of one entity.
      var end = index + 1
      while end < insertions.count, insertions[end].snapshot.objectID.entity === description {
        end += 1
      }
      while index < end {
        if index >= firstBlock, writer.blockCount > 1, end - index >= writer.blockCount {
          let block = index..<index + writer.blockCount
          let isWritten = try writer.insert(insertions[block]) { snapshot, isExact in
            stored.append(Self.storedRow(snapshot, entity, version: 1, isExact: isExact))
          }
          if isWritten {
            for place in block {
              let key = insertions[place].snapshot.objectID.rowKey ?? 0
              try history?.record(.insert, entity: entity, key: key)
            }
            index = block.endIndex
            continue
          }
          firstBlock = block.endIndex
        }
        let snapshot = insertions[index].snapshot
        index += 1
        let isExact: Bool
        do {
          isExact = try writer.insert(snapshot, version: 1, addFile: addFile)
        } catch {
          try note(error, of: snapshot, entity)
          continue
        }
        stored.append(Self.storedRow(snapshot, entity, version: 1, isExact: isExact))
        try history?.record(.insert, entity: entity, key: snapshot.objectID.rowKey ?? 0)
      }
    }
  }

  /// Takes up what a new row was refused for.
  private func note(
    _ error: any Error, of snapshot: RowSnapshot, _ entity: SQLEntity
  ) throws {
    if let failure = SQLiteResultCode.failure(in: error),
      SQLiteResultCode.isPrimaryKeyViolation(failure)
    {
      try addConflict(snapshot.objectID, expected: 0)
    } else {
      try violations.add(error, snapshot: snapshot, entity: entity)
    }
  }

  // MARK: Receipt

  private func storedSnapshots() throws -> [RowSnapshot] {
    if hasDerivedInsertions {
      for (place, row) in inserted.enumerated() where !entity(row).derivedSlots.isEmpty {
        inserted[place] = try lookup.snapshot(for: row.objectID) ?? row
      }
    }
    for place in uncertain {
      updated[place] = try lookup.snapshot(for: updated[place].objectID) ?? updated[place]
    }
    if inserted.isEmpty { return updated }
    return updated.isEmpty ? inserted : inserted + updated
  }

  /// A row as it will be read back.
  private static func storedRow(
    _ snapshot: RowSnapshot, _ entity: SQLEntity, version: Int64, isExact: Bool
  ) -> RowSnapshot {
    if isExact, snapshot.version == version { return snapshot }
    if isExact {
      return RowSnapshot.make(
        objectID: snapshot.objectID, version: version, count: snapshot.count
      ) { $0.initialize(from: snapshot.slots, count: snapshot.count) }
    }
    return RowSnapshot.make(
      objectID: snapshot.objectID, version: version, count: snapshot.count
    ) { values in
      for (index, slot) in entity.slots.enumerated() {
        if case .transient = slot {
          values.initialize(index, to: .null)
        } else {
          values.initialize(index, to: StoredForm.value(snapshot[index]))
        }
      }
    }
  }

  /// Whether all values will be read back as they are.
  private static func areExact(_ snapshot: RowSnapshot, _ entity: SQLEntity) -> Bool {
    // Contexts leave transient values out.
    for slot in entity.transientSlots where !snapshot[slot].isNull { return false }
    let slots = snapshot.slots
    for index in 0..<snapshot.count where !StoredForm.isExact(slots[index]) { return false }
    return true
  }
}

/// Thrown by a transaction that deletes rows together and finds that one of them is not what it
/// was: it must be done again, row by row.
struct RowsHaveChanged: Error {}
