import CairnModel
import CairnSQL
import CairnStore

/// Rows of one exact entity, by their keys.
struct EntityRows {
  let entity: SQLEntity
  var keys: [Int64] = []

  init(_ entity: SQLEntity, _ keys: [Int64] = []) {
    self.entity = entity
    self.keys = keys
  }

  /// The keys, so many at a time that a list of them is a parameter of a sensible size.
  var portionsOfKeys: [ArraySlice<Int64>] { portions(of: 20_000) }

  func portions(of size: Int) -> [ArraySlice<Int64>] {
    stride(from: 0, to: keys.count, by: size).map { keys[$0..<min($0 + size, keys.count)] }
  }

  func ids(_ reader: RowReader) -> [ManagedObjectID] {
    keys.map { reader.objectID(entity, key: $0) }
  }
}

extension [EntityRows] {
  /// Adds a row to runs of rows.
  @inline(__always)
  mutating func add(_ key: Int64, of entity: SQLEntity) {
    if isEmpty || self[count - 1].entity !== entity { append(EntityRows(entity)) }
    self[count - 1].keys.append(key)
  }

  /// One list for each entity, in the order of the entities' numbers.
  var grouped: [EntityRows] {
    if count < 2 { return self }
    var groups: [EntityRows] = []
    var places: [Int: Int] = [:]
    for run in self {
      if let place = places[run.entity.number] {
        groups[place].keys += run.keys
      } else {
        places[run.entity.number] = groups.count
        groups.append(run)
      }
    }
    return groups.sorted { $0.entity.number < $1.entity.number }
  }
}
