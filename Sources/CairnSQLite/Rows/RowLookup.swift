import CairnModel
import CairnSQL
import CairnStore
import Foundation

/// Reads rows by key, and the members of relationships, within one read or write.
struct RowLookup {
  let connection: SQLiteConnection
  let reader: RowReader
  var schema: SQLSchema { reader.schema }

  /// The row of one object, nil when there is none.
  ///
  /// The object is looked for in its entity's whole hierarchy, because an ID that came out of a
  /// foreign key without companion column may name an ancestor of the exact entity.
  func snapshot(for objectID: ManagedObjectID) throws -> RowSnapshot? {
    guard let key = objectID.rowKey else { return nil }
    let shape = schema.shape(inHierarchyOf: objectID.entity)
    let statement = try connection.statement(shape.byKey)
    defer { statement.reset() }
    statement.bind(key, at: 1)
    guard try statement.step() else { return nil }
    return reader.snapshot(statement, shape: shape, known: objectID)
  }

  /// The rows of many objects, in their order; one statement an entity.
  func snapshots(for objectIDs: [ManagedObjectID]) throws -> [RowSnapshot?] {
    if objectIDs.count == 1 { return [try snapshot(for: objectIDs[0])] }
    var result = [RowSnapshot?](repeating: nil, count: objectIDs.count)
    var wanted: [Int: KeyPositions] = [:]
    // IDs come in runs of one entity.
    var run: (description: EntityDescription, number: Int, positions: KeyPositions)?
    for (position, objectID) in objectIDs.enumerated() {
      guard let key = objectID.rowKey else { continue }
      if run?.description !== objectID.entity {
        if let run { wanted[run.number] = run.positions }
        let number = schema.entity(objectID.entity).number
        run = (objectID.entity, number, wanted.removeValue(forKey: number) ?? KeyPositions())
      }
      run?.positions.add(key, position)
    }
    if let run { wanted[run.number] = run.positions }
    for (number, positions) in wanted {
      guard let entity = schema.entity(number: number) else { continue }
      try read(entity, positions, objectIDs, into: &result)
    }
    return result
  }

  private func read(
    _ entity: SQLEntity, _ keys: KeyPositions, _ asked: [ManagedObjectID],
    into result: inout [RowSnapshot?]
  ) throws {
    let shape = schema.shape(entity, includingSubentities: true)
    var keys = keys
    keys.sort()
    // A few keys do not pay for the list as JSON.
    guard keys.count > 4 else {
      let statement = try connection.statement(shape.byKey)
      defer { statement.reset() }
      for (key, position) in keys.pairs {
        statement.bind(key, at: 1)
        if try statement.step() {
          result[position] = reader.snapshot(statement, shape: shape, known: asked[position])
        }
        statement.reset()
      }
      return
    }
    let statement = try connection.statement(shape.byKeys)
    defer { statement.reset() }
    keys.bind(to: statement, at: 1)
    while try statement.step() {
      let key = statement.integer(1)
      var snapshot: RowSnapshot?
      for place in keys.places(of: key) {
        let position = keys.pairs[place].position
        if snapshot == nil {
          snapshot = reader.snapshot(statement, shape: shape, known: asked[position])
        }
        result[position] = snapshot
      }
    }
  }
}

/// Keys as the text of a JSON array, one parameter for a list of any length.
enum KeyList {
  static func json(_ keys: some Sequence<Int64>) -> String {
    String(decoding: bytes(keys), as: UTF8.self)
  }

  /// The same as bytes.
  static func bytes(_ keys: some Sequence<Int64>) -> [UInt8] {
    var bytes: [UInt8] = [UInt8(ascii: "[")]
    bytes.reserveCapacity(keys.underestimatedCount * 8 + 2)
    for key in keys {
      if bytes.count > 1 { bytes.append(UInt8(ascii: ",")) }
      if key < 0 { bytes.append(UInt8(ascii: "-")) }
      let first = bytes.count
      var rest = key.magnitude
      repeat {
        bytes.append(UInt8(ascii: "0") + UInt8(truncatingIfNeeded: rest % 10))
        rest /= 10
      } while rest > 0
      bytes[first...].reverse()
    }
    bytes.append(UInt8(ascii: "]"))
    return bytes
  }
}

/// Row keys that are asked for together, and where in a list each was asked for.
///
/// SQLite gives the rows of a list of keys in the order of the keys, so the next one asked about is
/// most often the next one here; any other order costs a binary search.
struct KeyPositions {
  private(set) var pairs: [(key: Int64, position: Int)] = []
  private var isSorted = true
  private var next = 0

  var count: Int { pairs.count }

  mutating func add(_ key: Int64, _ position: Int) {
    if let last = pairs.last, last.key > key { isSorted = false }
    pairs.append((key, position))
  }

  /// Call it when all have been added.
  mutating func sort() {
    if isSorted { return }
    pairs.sort { ($0.key, $0.position) < ($1.key, $1.position) }
    isSorted = true
  }

  /// Binds the keys as the text of a JSON array.
  func bind(to statement: SQLiteStatement, at index: Int32) {
    statement.bindText(KeyList.bytes(pairs.lazy.map(\.key)), at: index)
  }

  /// Which of ``pairs`` have a key, several when it was asked for more than once.
  mutating func places(of key: Int64) -> Range<Int> {
    if next >= pairs.count || pairs[next].key != key { next = firstIndex(of: key) }
    let start = next
    while next < pairs.count, pairs[next].key == key { next += 1 }
    return start..<next
  }

  private func firstIndex(of key: Int64) -> Int {
    var (low, high) = (0, pairs.count)
    while low < high {
      let middle = (low + high) / 2
      if pairs[middle].key < key { low = middle + 1 } else { high = middle }
    }
    return low
  }
}
