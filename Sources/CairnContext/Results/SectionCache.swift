import Foundation
import Synchronization

/// The sections that named caches of fetched results controllers remember.
///
/// In memory, for the whole process: what it saves is reading a section name from every object, and
/// a file that outlives the program would have to be checked against more than that. An entry holds
/// for one request and one state of the data; see ``Key``. Mutable state: the entries.
enum SectionCache {
  /// What an entry was made for.
  struct Key: Hashable {
    /// Everything of the request and the controller that decides objects, order and sections.
    let request: String
    /// The objects and their versions, in order.
    let data: Int
  }

  struct Entry {
    let key: Key
    let sections: [(name: String, count: Int)]
  }

  /// Names are made by programs and few; the oldest goes when a program makes them up.
  private static let limit = 256
  private struct State {
    var entries: [String: Entry] = [:]
    var order: [String] = []
  }
  private static let state = Mutex(State())

  static func entry(named name: String) -> Entry? { state.withLock { $0.entries[name] } }

  static func keep(_ entry: Entry, named name: String) {
    state.withLock { state in
      if state.entries.updateValue(entry, forKey: name) == nil { state.order.append(name) }
      if state.order.count > limit { state.entries[state.order.removeFirst()] = nil }
    }
  }

  /// Forgets one cache, or all.
  static func delete(named name: String?) {
    state.withLock { state in
      guard let name else {
        state = State()
        return
      }
      state.entries[name] = nil
      state.order.removeAll { $0 == name }
    }
  }
}
