import CairnModel

/// What a store found, in the form the request asked for.
public enum StoreFetchResult: Sendable {
  case snapshots([RowSnapshot])
  case objectIDs([ManagedObjectID])
  case count(Int)
  /// Null values are absent.
  case dictionaries([[String: AttributeValue]])
}
