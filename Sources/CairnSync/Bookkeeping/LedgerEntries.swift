import CairnStore
import Foundation

/// What a ledger has read of a store's entries, and what it is to change in them: one place for each key,
/// since most keys are asked for as often as they are changed.
struct LedgerEntries {
  private struct Entry {
    var stored: Data?
    var new: Data?
    var isRead = false
    var isChanged = false
  }
  private var entries: [SidecarKey: Entry] = [:]
  /// How many are to change.
  private(set) var changes = 0

  mutating func reserve(_ count: Int) {
    entries.reserveCapacity(entries.count + count)
  }

  /// The value with the changes; nil when it has not been read.
  func value(_ key: SidecarKey) -> Data?? {
    guard let entry = entries[key] else { return nil }
    return entry.isChanged ? .some(entry.new) : entry.isRead ? .some(entry.stored) : nil
  }

  /// The change to an entry: its value to be, or nil where it is to go; nil without one.
  func change(_ key: SidecarKey) -> Data?? {
    entries[key].flatMap { $0.isChanged ? .some($0.new) : nil }
  }

  /// What was read, whatever is to become of it.
  func stored(_ key: SidecarKey) -> Data? { entries[key]?.stored }

  /// Notes what is stored; what was read first stays.
  mutating func note(_ key: SidecarKey, stored value: Data?) {
    func note(_ entry: inout Entry) {
      if entry.isRead { return }
      entry.stored = value
      entry.isRead = true
    }
    note(&entries[key, default: Entry()])
  }

  /// - Parameter isAbsent: Whether nothing is stored there, where that has not been read.
  mutating func put(_ key: SidecarKey, _ value: Data?, isAbsent: Bool = false) {
    /// - Returns: Whether it was not to change before.
    func put(_ entry: inout Entry) -> Bool {
      defer { entry.isChanged = true }
      entry.new = value
      if isAbsent { entry.isRead = true }
      return !entry.isChanged
    }
    if put(&entries[key, default: Entry()]) { changes += 1 }
  }

  /// What is to change, in the order of the maps, with what was read of it.
  func sortedChanges() -> [(key: SidecarKey, stored: Data??, new: Data?)] {
    var found: [(key: SidecarKey, stored: Data??, new: Data?)] = []
    found.reserveCapacity(changes)
    for (key, entry) in entries where entry.isChanged {
      found.append((key, entry.isRead ? .some(entry.stored) : nil, entry.new))
    }
    return SyncKey.sorted(found, by: \.key)
  }

  var changed: [SidecarKey: Data?] {
    var found: [SidecarKey: Data?] = [:]
    found.reserveCapacity(changes)
    for (key, entry) in entries where entry.isChanged { found[key] = .some(entry.new) }
    return found
  }

  /// Changes something else instead.
  mutating func replaceChanges(_ changed: [SidecarKey: Data?]) {
    for index in entries.values.indices {
      entries.values[index].isChanged = false
      entries.values[index].new = nil
    }
    changes = 0
    for (key, value) in changed { put(key, value) }
  }

  /// What was read.
  var read: [(key: SidecarKey, value: Data?)] {
    entries.compactMap { $0.value.isRead ? ($0.key, $0.value.stored) : nil }
  }
}
