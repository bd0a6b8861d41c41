// Delegates of fetched results controllers that keep a list of their own, each from one form of
// what they are told.
import CairnContext
import CairnModel
import Foundation
import Testing

/// A list with sections, as a view would show it.
struct ShownList: Equatable, CustomStringConvertible {
  struct Section: Equatable {
    var name: String
    var rows: [String]
  }
  var sections: [Section] = []

  init<T>(_ controller: FetchedResultsController<T>) {
    sections = (controller.sections ?? []).map { section in
      Section(name: section.name, rows: (section.objects ?? []).map(Self.label))
    }
  }

  static func label(_ object: Any) -> String { (object as? ManagedObject)?.text("title") ?? "?" }

  var description: String {
    sections.map { "\($0.name): \($0.rows.joined(separator: " "))" }.joined(separator: " | ")
  }
}

/// Applies the single changes to its list when an event ends, as a table view does: what goes by the
/// old places, then what comes by the new ones in ascending order.
final class ChangeRecorder: FetchedResultsControllerDelegate {
  struct Row {
    let object: ManagedObject
    let old: IndexPath?
    let type: FetchedResultsChangeType
    let new: IndexPath?
  }
  var sections: [(name: String, rows: [ObjectIdentifier])] = []
  /// Every call by name, in order.
  var calls: [String] = []
  var rows: [Row] = []
  var deletedSections: [Int] = []
  var insertedSections: [(index: Int, name: String)] = []
  var countBefore: Int?
  var events = 0
  var lastController: AnyObject?

  func start<T>(_ controller: FetchedResultsController<T>) { sections = Self.list(controller) }

  static func list<T>(_ controller: FetchedResultsController<T>) -> [(
    name: String, rows: [ObjectIdentifier]
  )] {
    (controller.sections ?? []).map { section in
      (section.name, (section.objects ?? []).map { ObjectIdentifier($0 as AnyObject) })
    }
  }

  func controllerWillChangeContent(_ controller: FetchedResultsController<any FetchRequestResult>) {
    calls.append("will")
    (rows, deletedSections, insertedSections) = ([], [], [])
    countBefore = controller.fetchedObjects?.count
  }

  func controller(
    _ controller: FetchedResultsController<any FetchRequestResult>,
    didChange sectionInfo: any FetchedResultsSectionInfo, atSectionIndex sectionIndex: Int,
    for type: FetchedResultsChangeType
  ) {
    calls.append("section \(type)")
    if type == .delete {
      deletedSections.append(sectionIndex)
      #expect(sections[sectionIndex].name == sectionInfo.name)
    } else {
      insertedSections.append((sectionIndex, sectionInfo.name))
    }
  }

  func controller(
    _ controller: FetchedResultsController<any FetchRequestResult>, didChange anObject: Any,
    at indexPath: IndexPath?, for type: FetchedResultsChangeType, newIndexPath: IndexPath?
  ) {
    guard let object = anObject as? ManagedObject else { return }
    calls.append("\(type)")
    rows.append(Row(object: object, old: indexPath, type: type, new: newIndexPath))
    if let newIndexPath {
      #expect(controller.object(at: newIndexPath) as? ManagedObject === object)
    }
  }

  func controllerDidChangeContent(_ controller: FetchedResultsController<any FetchRequestResult>) {
    calls.append("did")
    events += 1
    lastController = controller
    apply()
  }

  private func apply() {
    var list: [(name: String, rows: [ObjectIdentifier?])] = sections.map { ($0.name, $0.rows) }
    for row in rows {
      guard let old = row.old else { continue }
      #expect(list[old.section].rows[old.row] == ObjectIdentifier(row.object))
      if row.type != .update { list[old.section].rows[old.row] = nil }
    }
    var left = list.map { (name: $0.name, rows: $0.rows.compactMap(\.self)) }
    for index in deletedSections.sorted(by: >) {
      #expect(left[index].rows.isEmpty, "a section goes only after its rows")
      left.remove(at: index)
    }
    for (index, name) in insertedSections.sorted(by: { $0.index < $1.index }) {
      left.insert((name, []), at: index)
    }
    let arriving = rows.filter { $0.type == .insert || $0.type == .move }
      .compactMap { row in row.new.map { (path: $0, row: row) } }
      .sorted { $0.path < $1.path }
    for (path, row) in arriving {
      left[path.section].rows.insert(ObjectIdentifier(row.object), at: path.row)
    }
    sections = left
  }
}

/// Takes whole snapshots.
final class SnapshotRecorder: FetchedResultsControllerDelegate {
  var sections: [String] = []
  var items: [[ManagedObjectID]] = []
  var reloaded: [ManagedObjectID] = []
  var count = 0
  /// Must stay 0: the snapshot takes the place of the other forms.
  var otherCalls = 0

  func controller(
    _ controller: FetchedResultsController<any FetchRequestResult>,
    didChangeContentWith snapshot: DiffableDataSourceSnapshotReference
  ) {
    count += 1
    sections = snapshot.sectionIdentifiers.compactMap { $0 as? String }
    items = sections.map {
      snapshot.itemIdentifiersInSection(withIdentifier: $0).compactMap { $0 as? ManagedObjectID }
    }
    reloaded = snapshot.reloadedItemIdentifiers.compactMap { $0 as? ManagedObjectID }
  }

  func controllerWillChangeContent(_ controller: FetchedResultsController<any FetchRequestResult>) {
    otherCalls += 1
  }
}

/// Applies differences of IDs.
final class DifferenceRecorder: FetchedResultsControllerDelegate {
  var ids: [ManagedObjectID] = []
  var last: CollectionDifference<ManagedObjectID>?
  var count = 0
  var otherCalls = 0

  func controller(
    _ controller: FetchedResultsController<any FetchRequestResult>,
    didChangeContentWith diff: CollectionDifference<ManagedObjectID>
  ) {
    count += 1
    last = diff
    if let applied = ids.applying(diff) { ids = applied } else { Issue.record("does not apply") }
  }

  func controllerDidChangeContent(_ controller: FetchedResultsController<any FetchRequestResult>) {
    otherCalls += 1
  }
}
