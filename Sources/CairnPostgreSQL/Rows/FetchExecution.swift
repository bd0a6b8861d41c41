import CairnModel
import CairnStore

/// Runs a fetch: SQL reads the rows of the entity, the one evaluator does the rest.
///
/// A fetch that sees other rows than those of the entity, as one with a predicate may, reads all of them in one snapshot.
struct FetchExecution {
  let content: StoreContent
  let connection: PostgreSQLConnection
  let request: StoreFetchRequest

  func run() throws -> StoreFetchResult {
    try KeyPathCheck.check(request)
    if let plain = try runPlain() { return plain }
    let transaction = try PostgreSQLTransaction(on: connection, .repeatableRead, readOnly: true)
    do {
      let reading = RowReading(content: content, connection: connection)
      let rows = try reading.rows(
        of: request.entity, includesSubentities: request.includesSubentities)
      let source = StoredRows(reading, rows)
      let result = try SnapshotQuery(request, source: source).run(over: rows)
      // The evaluator cannot throw where it reads further rows.
      if let failure = source.failure { throw failure }
      transaction.rollBack()
      return result
    } catch {
      transaction.rollBack()
      throw error
    }
  }

  /// A fetch of all rows in the order of their keys, which SQL cuts by itself.
  ///
  /// - Returns: nil for another one.
  private func runPlain() throws -> StoreFetchResult? {
    guard request.predicate == nil, request.sortDescriptors.isEmpty else { return nil }
    let reading = RowReading(content: content, connection: connection)
    let (entity, subentities) = (request.entity, request.includesSubentities)
    switch request.result {
    case .dictionaries: return nil
    case .count:
      let all = try reading.count(of: entity, includesSubentities: subentities)
      let rest = max(0, all - max(0, request.offset))
      return .count(request.limit > 0 ? min(rest, request.limit) : rest)
    case .objectIDs:
      let ids = try reading.objectIDs(
        of: entity, includesSubentities: subentities, limit: request.limit, offset: request.offset)
      for _ in ids { try request.monitor?.noteRow() }
      return .objectIDs(ids)
    case .snapshots:
      let rows = try reading.rows(
        of: entity, includesSubentities: subentities, limit: request.limit, offset: request.offset)
      for _ in rows { try request.monitor?.noteRow() }
      return .snapshots(rows)
    }
  }
}

/// Further rows for the evaluator: those that predicates and sort descriptors reach through relationships.
private final class StoredRows: SnapshotSource {
  private let reading: RowReading
  private var known: [ManagedObjectID: RowSnapshot?]
  private var knownMembers: [Members: [ManagedObjectID]] = [:]
  /// What went wrong where nothing could be thrown.
  private(set) var failure: (any Error)?

  private struct Members: Hashable {
    let relationship: ObjectIdentifier
    let owner: ManagedObjectID
  }

  init(_ reading: RowReading, _ rows: [RowSnapshot]) {
    self.reading = reading
    known = Dictionary(
      rows.map { ($0.objectID, Optional($0)) }, uniquingKeysWith: { first, _ in first })
  }

  func snapshot(for id: ManagedObjectID) -> RowSnapshot? {
    if let row = known[id] { return row }
    let row = read { try reading.snapshots(for: [id]).first ?? nil } ?? nil
    known[id] = .some(row)
    return row
  }

  func members(
    of relationship: RelationshipDescription, owner: ManagedObjectID
  ) -> [ManagedObjectID] {
    let place = Members(relationship: ObjectIdentifier(relationship), owner: owner)
    if let members = knownMembers[place] { return members }
    let members = read { try reading.members(of: relationship, owners: [owner]).first ?? [] } ?? []
    knownMembers[place] = members
    return members
  }

  private func read<Value>(_ body: () throws -> Value) -> Value? {
    if failure != nil { return nil }
    do {
      return try body()
    } catch {
      failure = error
      return nil
    }
  }
}
