import CairnModel

/// Permanent IDs by the numbers of the temporary ones they replaced.
struct SuccessorTable {
  /// Place in ``ids`` plus one, by number.
  private var places = RowTable()
  private var ids: [ManagedObjectID] = []

  func id(for number: UInt64) -> ManagedObjectID? {
    let place = places[Int64(bitPattern: number)]
    return place == 0 ? nil : ids[Int(place) - 1]
  }

  mutating func set(_ id: ManagedObjectID, for number: UInt64) {
    ids.append(id)
    places[Int64(bitPattern: number)] = UInt(ids.count)
  }
}
