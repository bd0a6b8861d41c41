import CairnModel
import CairnStore
import Foundation

/// The results of a fetch, in sections, kept up to date with the context, for lists that people see.
///
/// ```swift
/// let controller = FetchedResultsController(
///   fetchRequest: request, managedObjectContext: context, sectionNameKeyPath: "author.name",
///   cacheName: nil)
/// controller.delegate = self
/// try controller.performFetch()
/// ```
///
/// The first sort descriptor must order by the same value as the section key path, or by one that
/// groups the objects the same way. With a delegate that asks for changes, ``performFetch()`` starts
/// to follow the context: every event, also one that merges the save of another context, is
/// announced as the smallest difference. An object in the results that was refreshed counts as
/// changed. After the context's `reset()`, or the removal of a store, fetch again: the objects are
/// dead, and nothing is followed until then. New objects that match are added whatever the
/// request's limit says.
///
/// Sections of a named cache are remembered in memory for the process, for one request and one
/// state of the rows; see ``deleteCache(withName:)``.
///
/// Use it on the context's queue. Delegates are given a controller of
/// `any FetchRequestResult`, which is equal (`==`, and `===` as this module defines it) to the one
/// the program made. Source: `NSFetchedResultsController`.
open class FetchedResultsController<ResultType: FetchRequestResult>: NSObject {
  let tracking: ResultsTracking
  private var typedRequest: FetchRequest<ResultType>?
  private var typed: (version: Int, objects: [ResultType])?
  private var infos: (version: Int, list: [any FetchedResultsSectionInfo])?

  /// A controller that has not fetched yet.
  ///
  /// Traps for a request whose sort descriptors are nil, as Core Data does. With an empty array the
  /// objects stand in the order of the fetch, and new ones come last.
  ///
  /// - Parameters:
  ///   - sectionNameKeyPath: The value that tells sections apart; nil for one section.
  ///   - name: The cache that keeps the sections, nil for none.
  public init(
    fetchRequest: FetchRequest<ResultType>, managedObjectContext context: ManagedObjectContext,
    sectionNameKeyPath: String?, cacheName name: String?
  ) {
    if fetchRequest.sortDescriptors == nil {
      // Reached by: a program that makes the request so; Core Data raises here too.
      fatalError(
        "An instance of NSFetchedResultsController requires a fetch request with sort descriptors")
    }
    if let type = ResultType.self as? ManagedObject.Type { ObjectClasses.learn(type) }
    tracking = ResultsTracking(
      request: fetchRequest, context: context, sectionNameKeyPath: sectionNameKeyPath,
      cacheName: name)
    typedRequest = fetchRequest
    super.init()
    tracking.owner = self
    tracking.indexTitle = { [weak self] in self?.sectionIndexTitle(forSectionName: $0) }
  }

  /// One for delegates, over the work of another one.
  init(tracking: ResultsTracking) {
    self.tracking = tracking
    super.init()
  }

  // MARK: Facts

  open var fetchRequest: FetchRequest<ResultType> {
    if let typedRequest { return typedRequest }
    let request = FetchRequest<ResultType>()
    request.copyValues(from: tracking.request)
    typedRequest = request
    return request
  }
  open var managedObjectContext: ManagedObjectContext { tracking.context }
  open var sectionNameKeyPath: String? { tracking.sectionNameKeyPath }
  open var cacheName: String? { tracking.cacheName }

  /// The object that the controller tells of changes, not kept alive.
  ///
  /// Set it before ``performFetch()``, which decides whether the context is followed.
  open var delegate: (any FetchedResultsControllerDelegate)? {
    get { tracking.delegate }
    set { tracking.delegate = newValue }
  }

  // MARK: Fetching

  /// Fetches, cuts the results into sections, and starts to follow the context when there is a
  /// delegate.
  ///
  /// - Throws: What the fetch throws; 134060 when objects of a section do not stand together, and
  ///   when the request was changed while a cache was in use.
  open func performFetch() throws {
    try CoreDataError.bridging { try tracking.performFetch() }
  }

  /// Forgets the sections of a cache, or of all of them.
  open class func deleteCache(withName name: String?) { SectionCache.delete(named: name) }

  // MARK: Results

  /// The results in order; nil before the first fetch.
  open var fetchedObjects: [ResultType]? {
    guard let content = tracking.content else { return nil }
    if let typed, typed.version == tracking.version { return typed.objects }
    let objects = content.objects.map(cast)
    typed = (tracking.version, objects)
    return objects
  }

  /// The object at a section and a row; traps when there is none, as Core Data does.
  open func object(at indexPath: IndexPath) -> ResultType {
    guard let content = tracking.content else {
      // Reached by: a program that asks for an object before it has fetched.
      fatalError("object(at:) needs results: call performFetch() first.")
    }
    guard let place = content.place(at: indexPath) else {
      // Reached by: a program that asks for a row that is not there; Core Data raises here too.
      fatalError(
        "no object at index \(indexPath.row) in section at index \(indexPath.section)")
    }
    return cast(content.objects[place])
  }

  /// Where an object stands; nil when it is not among the results.
  open func indexPath(forObject object: ResultType) -> IndexPath? {
    guard let content = tracking.content, let object = object as? NSObject else { return nil }
    if let place = tracking.place(of: object) { return content.indexPath(at: place) }
    // IDs and dictionaries are equal without being the same.
    guard !(object is ManagedObject) else { return nil }
    return content.objects.firstIndex(of: object).map(content.indexPath)
  }

  private func cast(_ object: NSObject) -> ResultType {
    if let result = object as? ResultType { return result }
    // Reached by: a program whose result type is not what its request gives.
    fatalError(
      "The fetch of \(tracking.request.entityName ?? "?") gives \(type(of: object)), not "
        + "\(ResultType.self). Check the request's resultType, and that the class in the model is "
        + "found: \(ResultType.self).registerClass(forEntityName:) (@_spi(Runtime)) makes sure.")
  }

  // MARK: Sections

  /// The sections in order; nil before the first fetch.
  open var sections: [any FetchedResultsSectionInfo]? {
    guard let content = tracking.content else { return nil }
    if let infos, infos.version == tracking.version { return infos.list }
    let list = content.sections.map { tracking.info($0, of: content) }
    infos = (tracking.version, list)
    return list
  }

  /// What an index of sections shows for a section: what the delegate says, else the first letter
  /// of the name as a capital.
  ///
  /// For subclasses to override.
  open func sectionIndexTitle(forSectionName sectionName: String) -> String? {
    if let owner = tracking.owner, owner !== (self as AnyObject) {
      return tracking.indexTitle(sectionName)
    }
    guard let delegate = tracking.delegate else {
      return ResultsTracking.firstLetter(of: sectionName)
    }
    return delegate.controller(tracking.controller, sectionIndexTitleForSectionName: sectionName)
  }

  /// The titles of all sections that have one, in order.
  open var sectionIndexTitles: [String] { (sections ?? []).compactMap(\.indexTitle) }

  /// The section that an entry of the index leads to.
  ///
  /// - Parameters:
  ///   - title: An entry of ``sectionIndexTitles``.
  ///   - sectionIndex: Its place there; with another title there, the first section of that title
  ///     counts.
  /// - Returns: `NSNotFound` when no section has the title.
  open func section(forSectionIndexTitle title: String, at sectionIndex: Int) -> Int {
    let titled = (sections ?? []).enumerated().filter { $0.element.indexTitle != nil }
    if titled.indices.contains(sectionIndex), titled[sectionIndex].element.indexTitle == title {
      return titled[sectionIndex].offset
    }
    return titled.first { $0.element.indexTitle == title }?.offset ?? NSNotFound
  }

  // MARK: Identity

  /// Controllers over the same work are equal, whatever their type.
  open override func isEqual(_ object: Any?) -> Bool {
    guard let other = object as? any TrackingHolder else { return false }
    return other.tracking === tracking
  }
  open override var hash: Int { ObjectIdentifier(tracking).hashValue }
}

/// A controller of any result type.
protocol TrackingHolder {
  var tracking: ResultsTracking { get }
}
extension FetchedResultsController: TrackingHolder {}
