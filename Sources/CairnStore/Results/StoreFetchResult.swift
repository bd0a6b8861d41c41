import CairnModel

/// What a store found, in the form the request asked for.
public enum StoreFetchResult: Sendable {
  case snapshots([RowSnapshot])
  case objectIDs([ManagedObjectID])
  case count(Int)
  /// Null values are absent.
  case dictionaries([[String: AttributeValue]])

  /// The IDs of the rows that are marked; none where there are no marks.
  package func rowIDs(marked: [Bool]) -> [ManagedObjectID] {
    guard case .snapshots(let rows) = self else { return [] }
    return zip(rows, marked).compactMap { $1 ? $0.objectID : nil }
  }
}
