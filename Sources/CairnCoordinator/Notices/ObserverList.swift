/// The observers of a coordinator, held weakly.
///
/// A value inside the coordinator's mutex.
struct ObserverList {
  private struct Entry {
    weak var observer: (any CoordinatorObserver)?
  }
  private var entries: [Entry] = []

  mutating func add(_ observer: any CoordinatorObserver) {
    entries.removeAll { $0.observer == nil || $0.observer === observer }
    entries.append(Entry(observer: observer))
  }

  mutating func remove(_ observer: any CoordinatorObserver) {
    entries.removeAll { $0.observer == nil || $0.observer === observer }
  }

  /// Those that are still alive, in the order they were added.
  var alive: [any CoordinatorObserver] { entries.compactMap(\.observer) }
}
