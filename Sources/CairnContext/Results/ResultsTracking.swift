import CairnModel
import CairnPredicates
import CairnStore
import Foundation

/// The work of a fetched results controller, whatever type its results have: fetches, follows the
/// context's events, and tells the delegate.
///
/// Apart from the class, because a delegate is given a controller of another generic type than the
/// program made; both share this.
// Unchecked: everything mutable is used on the context's queue, where `performFetch` and the
// context's notifications run; `deinit` runs when no thread uses it any more.
final class ResultsTracking: @unchecked Sendable {
  let request: AnyFetchRequest
  let context: ManagedObjectContext
  let sectionNameKeyPath: String?
  let cacheName: String?
  /// The controller that the program made.
  weak var owner: AnyObject?
  /// What the owner shows in an index for a section's name.
  var indexTitle: (String) -> String? = ResultsTracking.firstLetter
  /// The controller for delegates, when the program's is of another type.
  private weak var stand: FetchedResultsController<any FetchRequestResult>?
  weak var delegate: (any FetchedResultsControllerDelegate)? {
    didSet { missing = [] }
  }
  var missing: MissingDelegateMethods = []

  /// Nil before the first fetch.
  private(set) var content: ResultsContent?
  /// Counts the contents, for what is derived from them.
  private(set) var version = 0
  private var places: (version: Int, byObject: [ObjectIdentifier: Int])?
  private var isTracking = false
  private var isTelling = false
  /// Events that the delegate caused while it was told of one.
  private var waiting: [[AnyHashable: Any]] = []
  private var observations: [any NSObjectProtocol] = []
  /// The request that the section cache was last used for.
  private var cachedRequest: String?
  /// IDs that the delegate was told of before the objects were saved.
  private var temporaryIDs: [ObjectIdentifier: ManagedObjectID] = [:]

  init(
    request: AnyFetchRequest, context: ManagedObjectContext, sectionNameKeyPath: String?,
    cacheName: String?
  ) {
    self.request = request
    self.context = context
    self.sectionNameKeyPath = sectionNameKeyPath
    self.cacheName = cacheName
  }

  deinit { stopObserving() }

  /// The controller as delegates know it.
  var controller: FetchedResultsController<any FetchRequestResult> {
    if let owner = owner as? FetchedResultsController<any FetchRequestResult> { return owner }
    if let stand { return stand }
    let made = FetchedResultsController<any FetchRequestResult>(tracking: self)
    stand = made
    return made
  }

  /// The first letter of a name as a capital, nil for an empty name.
  static func firstLetter(of name: String) -> String? { name.first.map { $0.uppercased() } }

  // MARK: Fetching

  func performFetch() throws {
    context.confinement.check()
    let fetched = try fetch()
    install(fetched)
    temporaryIDs = [:]
    isTracking = delegate != nil && returnsObjects
    if isTracking { observe() } else { stopObserving() }
    guard isTracking, let content else { return }
    noteTemporaryIDs(of: content.objects)
    if !missing.contains(.snapshot) {
      tell { $0.controller($1, didChangeContentWith: snapshot([])) }
    }
  }

  private var returnsObjects: Bool { request.resultType == .managedObjectResultType }

  private func fetch() throws -> ResultsContent {
    guard returnsObjects else {
      let untyped = FetchRequest<any FetchRequestResult>()
      untyped.copyValues(from: request)
      return try content(of: try context.fetch(untyped).compactMap { $0 as? NSObject }) {
        // The columns of dictionaries are named by their key paths.
        ($0 as? NSDictionary)?[$1]
      }
    }
    let typed = FetchRequest<ManagedObject>()
    typed.copyValues(from: request)
    let objects = try context.fetch(typed)
    guard sectionNameKeyPath != nil else { return ResultsContent(objects: objects) }
    let cache = SectionCaching(tracking: self, objects: objects)
    try cache.checkRequest(against: cachedRequest)
    if let known = cache.content() { return known }
    try FaultFiring.fill(objects)
    let made = try content(of: objects) { ($0 as? ManagedObject)?.value(forKeyPath: $1) }
    cachedRequest = cache.keep(made)
    return made
  }

  /// Cuts a sorted list into sections.
  ///
  /// - Throws: 134060 when objects of a section do not stand together.
  private func content(
    of objects: [NSObject], value: (NSObject, String) -> Any?
  ) throws -> ResultsContent {
    guard let keyPath = sectionNameKeyPath else { return ResultsContent(objects: objects) }
    let made = ResultsContent(
      objects: objects, names: objects.map { Self.name(of: value($0, keyPath)) })
    if let (place, name) = made.firstOutOfOrder {
      let reason =
        "The fetched object at index \(place) has an out of order section name '\(name)'. Objects "
        + "must be sorted by section name."
      throw CoreDataError(
        .coreData, reason + " Make the first sort descriptor order by \(keyPath).",
        userInfo: ["reason": reason])
    }
    return made
  }

  /// The text that stands for a value; nothing for nil.
  static func name(of value: Any?) -> String {
    switch value {
    case nil, is NSNull: return ""
    case let text as String: return text
    case let number as NSNumber:
      return String(cString: number.objCType) == "c" ? "\(number.int8Value)" : number.stringValue
    case .some(let value): return PlainText.of(value)
    }
  }

  private func install(_ new: ResultsContent) {
    content = new
    version += 1
  }

  /// The place of an object in the results.
  func place(of object: AnyObject) -> Int? {
    guard let content else { return nil }
    if places?.version != version {
      var byObject: [ObjectIdentifier: Int] = [:]
      byObject.reserveCapacity(content.objects.count)
      for (place, object) in content.objects.enumerated() {
        byObject[ObjectIdentifier(object)] = place
      }
      places = (version, byObject)
    }
    return places?.byObject[ObjectIdentifier(object)]
  }

  // MARK: Following the context

  private func observe() {
    guard observations.isEmpty else { return }
    func on(_ name: Notification.Name, _ body: @escaping (ResultsTracking, Notification) -> Void) {
      let body = Transferred(value: body)
      observations.append(
        NotificationCenter.default.addObserver(forName: name, object: context, queue: nil) {
          [weak self] notification in
          guard let self else { return }
          body.value(self, notification)
        })
    }
    on(ManagedObjectContext.didChangeObjectsNotification) {
      $0.contextDidChange($1.userInfo ?? [:])
    }
    on(ManagedObjectContext.didSaveObjectsNotification) { tracking, _ in tracking.contextDidSave() }
  }

  private func stopObserving() {
    for observation in observations { NotificationCenter.default.removeObserver(observation) }
    observations = []
  }

  private func contextDidChange(_ info: [AnyHashable: Any]) {
    guard isTracking, delegate != nil else { return }
    if info[ManagedObjectContext.NotificationKey.invalidatedAllObjects.rawValue] != nil {
      // The objects cannot be used any more; only another fetch gives new ones.
      isTracking = false
      return
    }
    waiting.append(info)
    guard !isTelling else { return }
    while isTracking, !waiting.isEmpty { process(waiting.removeFirst()) }
    waiting = []
  }

  private func process(_ info: [AnyHashable: Any]) {
    guard let old = content,
      let event = try? ResultsEvent(info, tracking: self), !event.isEmpty
    else { return }
    let descriptors = request.sortDescriptors ?? []
    let update = ResultsUpdate(
      of: old, removing: event.removed, placing: event.members,
      isSectioned: sectionNameKeyPath != nil
    ) { (try? descriptors.areInIncreasingOrder($0, $1)) ?? false }
    let difference = ResultsDifference(
      from: old, to: update.content, origins: update.origins, touched: update.touched)
    if difference.isEmpty { return }
    isTelling = true
    tell(difference, from: old, to: update.content)
    isTelling = false
    if isTracking { noteTemporaryIDs(of: event.members.map(\.object)) }
  }

  // MARK: Telling the delegate

  private func tell(
    _ body: (any FetchedResultsControllerDelegate, FetchedResultsController<any FetchRequestResult>)
      -> Void
  ) {
    guard let delegate else { return }
    body(delegate, controller)
  }

  /// In the first form that the delegate has methods for.
  private func tell(
    _ difference: ResultsDifference, from old: ResultsContent, to new: ResultsContent
  ) {
    if !missing.contains(.snapshot) {
      install(new)
      let changed = difference.updates.compactMap { $0.new.map { new.objects[$0] } }
      tell { $0.controller($1, didChangeContentWith: snapshot(changed)) }
      if !missing.contains(.snapshot) { return }
    }
    if sectionNameKeyPath == nil, !missing.contains(.difference) {
      install(new)
      if let collection = collectionDifference(difference, from: old, to: new) {
        tell { $0.controller($1, didChangeContentWith: collection) }
      }
      if !missing.contains(.difference) { return }
    }
    install(old)
    tell { $0.controllerWillChangeContent($1) }
    install(new)
    tellSections(difference, from: old, to: new)
    tellObjects(difference, from: old, to: new)
    tell { $0.controllerDidChangeContent($1) }
    if missing.isSuperset(of: .all) {
      // The delegate asked for no changes, so there are none to follow.
      install(old)
      isTracking = false
      stopObserving()
    }
  }

  private func tellSections(
    _ difference: ResultsDifference, from old: ResultsContent, to new: ResultsContent
  ) {
    func tell(_ index: Int, of content: ResultsContent, _ type: FetchedResultsChangeType) {
      var section = content.sections[index]
      // Nothing is in a section that is gone.
      if type == .delete { section.range = section.range.lowerBound..<section.range.lowerBound }
      let info = info(section, of: content)
      self.tell { $0.controller($1, didChange: info, atSectionIndex: index, for: type) }
    }
    for index in difference.deletedSections { tell(index, of: old, .delete) }
    for index in difference.insertedSections { tell(index, of: new, .insert) }
  }

  private func tellObjects(
    _ difference: ResultsDifference, from old: ResultsContent, to new: ResultsContent
  ) {
    for change in difference.changes {
      let object = change.new.map { new.objects[$0] } ?? change.old.map { old.objects[$0] }
      guard let object else { continue }
      tell {
        $0.controller(
          $1, didChange: object, at: change.old.map(old.indexPath), for: change.type,
          newIndexPath: change.new.map(new.indexPath))
      }
    }
  }

  func info(_ section: ResultsContent.Section, of content: ResultsContent) -> FetchedResultsSection
  {
    FetchedResultsSection(
      name: section.name, indexTitle: indexTitle(section.name), content: content,
      range: section.range)
  }

  private func snapshot(_ changed: [NSObject]) -> DiffableDataSourceSnapshotReference {
    func id(_ object: NSObject) -> AnyHashable? {
      (object as? ManagedObject).map { AnyHashable($0.objectID) }
    }
    let snapshot = DiffableDataSourceSnapshotReference()
    guard let content else { return snapshot }
    snapshot.fill(
      content.sections.map { ($0.name, content.objects[$0.range].compactMap(id)) },
      reloaded: changed.compactMap(id))
    return snapshot
  }

  private func collectionDifference(
    _ difference: ResultsDifference, from old: ResultsContent, to new: ResultsContent
  ) -> CollectionDifference<ManagedObjectID>? {
    var changes: [CollectionDifference<ManagedObjectID>.Change] = []
    for change in difference.changes {
      if let place = change.old, let object = old.objects[place] as? ManagedObject {
        let id = temporaryIDs[ObjectIdentifier(object)] ?? object.objectID
        changes.append(.remove(offset: place, element: id, associatedWith: change.new))
      }
      if let place = change.new, let object = new.objects[place] as? ManagedObject {
        changes.append(.insert(offset: place, element: object.objectID, associatedWith: change.old))
      }
    }
    return CollectionDifference(changes)
  }

  // MARK: Temporary IDs

  private func noteTemporaryIDs(of objects: [NSObject]) {
    for case let object as ManagedObject in objects where object.objectID.isTemporaryID {
      temporaryIDs[ObjectIdentifier(object)] = object.objectID
    }
  }

  /// Delegates that were told IDs learn the permanent ones.
  private func contextDidSave() {
    guard isTracking, let content, !temporaryIDs.isEmpty else { return }
    var changes: [CollectionDifference<ManagedObjectID>.Change] = []
    var renamed: [NSObject] = []
    for (place, object) in content.objects.enumerated() {
      guard let object = object as? ManagedObject, !object.objectID.isTemporaryID,
        let old = temporaryIDs.removeValue(forKey: ObjectIdentifier(object))
      else { continue }
      renamed.append(object)
      changes.append(.remove(offset: place, element: old, associatedWith: place))
      changes.append(.insert(offset: place, element: object.objectID, associatedWith: place))
    }
    if renamed.isEmpty { return }
    if !missing.contains(.snapshot) {
      tell { $0.controller($1, didChangeContentWith: snapshot([])) }
    } else if sectionNameKeyPath == nil, !missing.contains(.difference),
      let difference = CollectionDifference(changes)
    {
      tell { $0.controller($1, didChangeContentWith: difference) }
    }
  }
}
