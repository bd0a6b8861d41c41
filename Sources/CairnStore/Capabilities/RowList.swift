import CairnModel

/// Rows by their entities and keys; it makes IDs when a caller asks for them.
///
/// Most who delete a hundred thousand rows at once want to know how many they were.
public struct RowList: Sendable {
  private enum Part: Sendable {
    case ids([ManagedObjectID])
    case keys([Int64], EntityDescription, StoreIdentity)
  }
  private var parts: [Part] = []
  /// How many rows there are.
  public private(set) var count = 0

  public init() {}

  public init(_ ids: [ManagedObjectID]) {
    if ids.isEmpty { return }
    parts = [.ids(ids)]
    count = ids.count
  }

  public var isEmpty: Bool { count == 0 }

  /// The IDs, in the order in which the rows were added.
  public var ids: [ManagedObjectID] {
    var result: [ManagedObjectID] = []
    result.reserveCapacity(count)
    for part in parts {
      switch part {
      case .ids(let ids): result += ids
      case .keys(let keys, let entity, let store):
        for key in keys {
          result.append(ManagedObjectID(entity: entity, storeIdentity: store, key: .row(key)))
        }
      }
    }
    return result
  }

  /// Adds rows of one exact entity.
  public mutating func append(
    _ keys: [Int64], of entity: EntityDescription, in store: StoreIdentity
  ) {
    if keys.isEmpty { return }
    parts.append(.keys(keys, entity, store))
    count += keys.count
  }

  public static func += (list: inout RowList, other: RowList) {
    list.parts += other.parts
    list.count += other.count
  }
}
