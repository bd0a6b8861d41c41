// The forms of a store's answer as optional values: a test says `try #require(answer.snapshots)`,
// so that an answer of another form fails it.

import CairnModel
import CairnStore

extension StoreFetchResult {
  package var snapshots: [RowSnapshot]? {
    if case .snapshots(let rows) = self { rows } else { nil }
  }

  package var objectIDs: [ManagedObjectID]? {
    if case .objectIDs(let ids) = self { ids } else { nil }
  }

  package var count: Int? {
    if case .count(let count) = self { count } else { nil }
  }

  package var dictionaries: [[String: AttributeValue]]? {
    if case .dictionaries(let rows) = self { rows } else { nil }
  }
}
