import CairnModel
import Foundation

/// Hears what changed in the results of a controller.
///
/// For each event of the context one of three forms is used: the snapshot, if the delegate
/// implements that method; else the difference of object IDs, if it does and there are no sections;
/// else `controllerWillChangeContent`, all sections, all objects, `controllerDidChangeContent`. All
/// methods are optional: a controller finds out by itself which ones a delegate has. Calls come on
/// the context's queue. Source: `NSFetchedResultsControllerDelegate`.
public protocol FetchedResultsControllerDelegate: AnyObject {
  /// The whole results after a change, and also after `performFetch()`.
  func controller(
    _ controller: FetchedResultsController<any FetchRequestResult>,
    didChangeContentWith snapshot: DiffableDataSourceSnapshotReference)

  /// The difference between the lists of object IDs before and after a change.
  ///
  /// An object that moved, or changed where it is, is removed and inserted in association.
  func controller(
    _ controller: FetchedResultsController<any FetchRequestResult>,
    didChangeContentWith diff: CollectionDifference<ManagedObjectID>)

  /// One object; `indexPath` counts before the event, `newIndexPath` after it.
  func controller(
    _ controller: FetchedResultsController<any FetchRequestResult>, didChange anObject: Any,
    at indexPath: IndexPath?, for type: FetchedResultsChangeType, newIndexPath: IndexPath?)

  /// One section that came (`insert`, counted after the event) or went (`delete`, before it).
  func controller(
    _ controller: FetchedResultsController<any FetchRequestResult>,
    didChange sectionInfo: any FetchedResultsSectionInfo, atSectionIndex sectionIndex: Int,
    for type: FetchedResultsChangeType)

  /// The controller still shows the results before the event.
  func controllerWillChangeContent(
    _ controller: FetchedResultsController<any FetchRequestResult>)

  /// Everything about the event has been said.
  func controllerDidChangeContent(
    _ controller: FetchedResultsController<any FetchRequestResult>)

  /// What an index of sections shows for a section; by default the first letter, as a capital.
  func controller(
    _ controller: FetchedResultsController<any FetchRequestResult>,
    sectionIndexTitleForSectionName sectionName: String
  ) -> String?
}

/// What a delegate without a method of its own has: a note for the controller that it lacks it.
extension FetchedResultsControllerDelegate {
  public func controller(
    _ controller: FetchedResultsController<any FetchRequestResult>,
    didChangeContentWith snapshot: DiffableDataSourceSnapshotReference
  ) {
    controller.tracking.missing.insert(.snapshot)
  }

  public func controller(
    _ controller: FetchedResultsController<any FetchRequestResult>,
    didChangeContentWith diff: CollectionDifference<ManagedObjectID>
  ) {
    controller.tracking.missing.insert(.difference)
  }

  public func controller(
    _ controller: FetchedResultsController<any FetchRequestResult>, didChange anObject: Any,
    at indexPath: IndexPath?, for type: FetchedResultsChangeType, newIndexPath: IndexPath?
  ) {
    controller.tracking.missing.insert(.object)
  }

  public func controller(
    _ controller: FetchedResultsController<any FetchRequestResult>,
    didChange sectionInfo: any FetchedResultsSectionInfo, atSectionIndex sectionIndex: Int,
    for type: FetchedResultsChangeType
  ) {
    controller.tracking.missing.insert(.section)
  }

  public func controllerWillChangeContent(
    _ controller: FetchedResultsController<any FetchRequestResult>
  ) {
    controller.tracking.missing.insert(.willChange)
  }

  public func controllerDidChangeContent(
    _ controller: FetchedResultsController<any FetchRequestResult>
  ) {
    controller.tracking.missing.insert(.didChange)
  }

  public func controller(
    _ controller: FetchedResultsController<any FetchRequestResult>,
    sectionIndexTitleForSectionName sectionName: String
  ) -> String? {
    ResultsTracking.firstLetter(of: sectionName)
  }
}

/// The methods that a delegate was found not to have.
struct MissingDelegateMethods: OptionSet {
  let rawValue: Int
  static let snapshot = Self(rawValue: 1)
  static let difference = Self(rawValue: 2)
  static let object = Self(rawValue: 4)
  static let section = Self(rawValue: 8)
  static let willChange = Self(rawValue: 16)
  static let didChange = Self(rawValue: 32)
  /// A delegate without any of these does not ask for changes.
  static let all: Self = [.snapshot, .object, .willChange, .didChange]
}

/// What happened to an object or a section of fetched results, with Core Data's raw values.
///
/// Source: `NSFetchedResultsChangeType`.
public enum FetchedResultsChangeType: UInt, Sendable {
  case insert = 1
  case delete = 2
  /// The object is elsewhere now; it may have changed too.
  case move = 3
  /// The object changed and stayed where it was.
  case update = 4
}

/// One section of fetched results.
///
/// Source: `NSFetchedResultsSectionInfo`.
public protocol FetchedResultsSectionInfo {
  /// The text of the objects' common value at the section key path; empty without sections.
  var name: String { get }
  /// What a list of sections shows for it, such as the first letter of the name.
  var indexTitle: String? { get }
  var numberOfObjects: Int { get }
  /// The section's objects in their order.
  var objects: [Any]? { get }
}

/// A section as it was when it was asked for; later changes make new ones.
struct FetchedResultsSection: FetchedResultsSectionInfo {
  let name: String
  let indexTitle: String?
  /// The whole results, shared by all sections.
  let content: ResultsContent
  let range: Range<Int>

  var numberOfObjects: Int { range.count }
  var objects: [Any]? { Array(content.objects[range]) }
}
