// What a fetch has found, read little by little.

import Cairn
import CairnControl
import Foundation

/// The result of a fetch, read batch by batch.
///
/// Which records there are is found page by page where the store can go on behind a row, else at once; a batch has
/// their values as they are when it is read, in the state that the context is pinned to, if it is. Records that
/// were deleted meanwhile are left out.
// Unchecked: what changes is only touched inside `performAndWait` of the context.
public final class RecordCursor: @unchecked Sendable {
  private struct Row {
    let id: ManagedObjectID
    let values: [String: JSONValue]
    let byteCount: Int
  }

  /// What a batch may grow to, unless one row has more.
  static let byteLimit = 1 << 20
  /// How many rows are found at once where that is done page by page: without an index for its order each page is
  /// found by sorting all rows behind the last one, so few pages are better, and each ID takes about 150 bytes.
  public static let pageSize = 20_000

  private let fetch: RecordFetch
  private let context: ManagedObjectContext
  private(set) var found: [ManagedObjectID]
  private let isNumbered: Bool
  private let pageSize: Int?
  private let limit: Duration?
  /// How many rows are still wanted; nil for all.
  private var wanted: Int?
  /// Whether rows may be behind those that were found last.
  private(set) var mayFindMore = false
  private var position = 0
  /// Read, and not handed out yet.
  private var ahead: [Row] = []
  /// How many are read next: fewer where rows are long, which the first one tells.
  private var step = 1
  private var hasStarted = false

  init(
    fetch: RecordFetch, context: ManagedObjectContext, isNumbered: Bool, pageSize: Int?,
    limit: Duration?
  ) {
    self.isNumbered = isNumbered
    self.pageSize = pageSize
    self.fetch = fetch
    self.context = context
    self.limit = limit
    found = []
    wanted = fetch.parameters.limit.flatMap { $0 > 0 ? $0 : nil }
  }

  /// The next batch, nil after the last.
  ///
  /// There is always a first one, which names the properties.
  public func next() throws -> FetchRecords.Reply? {
    try context.performAndWait {
      while ahead.count < RecordFetch.batchSize,
        ahead.reduce(0, { $0 + $1.byteCount }) < Self.byteLimit
      {
        if position == found.count, try !findOn() { break }
        try readOn()
      }
      let batch = take()
      if batch.isEmpty, hasStarted { return nil }
      let properties = hasStarted ? nil : fetch.columns.map(\.name)
      hasStarted = true
      return FetchRecords.Reply(
        properties: properties, rows: batch.map(\.values),
        last: isNumbered ? batch.last?.id.rowKey.map(Int.init) : nil)
    }
  }

  /// Takes as many of the rows that were read as one batch may have, at least one.
  private func take() -> [Row] {
    var (count, bytes) = (0, 0)
    while count < min(ahead.count, RecordFetch.batchSize) {
      bytes += ahead[count].byteCount
      if count > 0, bytes > Self.byteLimit { break }
      count += 1
    }
    defer { ahead.removeFirst(count) }
    return Array(ahead.prefix(count))
  }

  /// Finds the first page, or all rows.
  func findFirst() throws {
    let size = min(pageSize ?? .max, wanted ?? .max)
    fetch.request.fetchLimit = size == .max ? 0 : size
    found = try fetch.find(in: context, within: limit)
    position = 0
    wanted = wanted.map { $0 - found.count }
    mayFindMore = pageSize != nil && found.count == size && wanted != 0
  }

  /// Finds the next page.
  ///
  /// - Returns: Whether there is another row.
  private func findOn() throws -> Bool {
    guard mayFindMore else { return false }
    let reader = try makeReader()
    let place = reader.performAndWait {
      // The last of those that are still there.
      found.lazy.reversed().compactMap { self.fetch.place(of: $0, in: reader) }.first
    }
    guard let place else {
      throw ControlError.busy(reason: "all rows that were found last are gone; read them anew")
    }
    fetch.request.fetchOffset = 0
    fetch.request.place = place
    try findFirst()
    return !found.isEmpty
  }

  /// Reads some more rows.
  private func readOn() throws {
    let end = min(position + step, found.count)
    let rows = try read(found[position..<end])
    position = end
    ahead += rows
    let average = rows.reduce(0) { $0 + $1.byteCount } / max(1, rows.count)
    step = min(RecordFetch.batchSize, step * 2, max(1, Self.byteLimit / max(1, average)))
  }

  /// A context of its own in the same state, so that nothing that it reads stays.
  private func makeReader() throws -> ManagedObjectContext {
    let reader = ManagedObjectContext(concurrencyType: .privateQueueConcurrencyType)
    reader.persistentStoreCoordinator = context.persistentStoreCoordinator
    reader.undoManager = nil
    reader.stalenessInterval = context.stalenessInterval
    if let token = context.queryGenerationToken {
      try reader.performAndWait { try reader.setQueryGenerationFrom(token) }
    }
    return reader
  }

  /// Reads rows, none of whose objects stays.
  private func read(_ ids: ArraySlice<ManagedObjectID>) throws -> [Row] {
    let reader = try makeReader()
    return try reader.performAndWait {
      defer { reader.reset() }
      let request = FetchRequest<ManagedObject>(entityName: fetch.parameters.entity)
      request.predicate = ObjectPredicate(format: "SELF IN %@", Array(ids))
      request.returnsObjectsAsFaults = false
      request.affectedStores = fetch.request.affectedStores
      let objects = Dictionary(
        try reader.fetch(request).map { ($0.objectID, $0) }, uniquingKeysWith: { first, _ in first }
      )
      let there = ids.filter { objects[$0] != nil }
      return zip(there, try fetch.rows(there.compactMap { objects[$0] })).map { id, values in
        Row(id: id, values: values, byteCount: JSONValue.object(values).roughByteCount)
      }
    }
  }
}

extension JSONValue {
  /// About what the value takes as text.
  fileprivate var roughByteCount: Int {
    switch self {
    case .null, .bool: 5
    case .integer, .number: 12
    case .string(let text): text.utf8.count + 2
    case .array(let elements): elements.reduce(2) { $0 + $1.roughByteCount + 1 }
    case .object(let members):
      members.reduce(2) { $0 + $1.key.utf8.count + $1.value.roughByteCount + 4 }
    }
  }
}
