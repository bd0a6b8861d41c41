import CairnModel
import CairnStore
import Foundation

/// Uses the section cache for one fetch of a controller.
///
/// Only names that follow from the objects' own attributes are cached: a key path through a
/// relationship could change its value without the object's row changing.
struct SectionCaching {
  let tracking: ResultsTracking
  let objects: [ManagedObject]
  private let name: String?
  private let request: String

  init(tracking: ResultsTracking, objects: [ManagedObject]) {
    self.tracking = tracking
    self.objects = objects
    let isOwn = tracking.sectionNameKeyPath.map { !$0.contains(".") } ?? false
    name = isOwn ? tracking.cacheName : nil
    request = name == nil ? "" : Self.description(of: tracking)
  }

  /// The request must not be changed while its cache is in use.
  ///
  /// - Throws: 134060.
  func checkRequest(against last: String?) throws {
    guard let name, let last, last != request,
      SectionCache.entry(named: name)?.key.request == last
    else { return }
    throw CoreDataError(
      .coreData,
      "The fetch request of a fetched results controller was changed while the cache \"\(name)\" "
        + "holds sections for what it was. Call deleteCache(withName:) before changing it, or use "
        + "no cache name.")
  }

  /// The sections that the cache has for exactly this request and these rows.
  func content() -> ResultsContent? {
    guard let name, let entry = SectionCache.entry(named: name), let key, entry.key == key else {
      return nil
    }
    return ResultsContent(objects: objects, sections: entry.sections)
  }

  /// Remembers sections; returns the request they are for, nil when nothing was kept.
  func keep(_ content: ResultsContent) -> String? {
    guard let name, let key else { return nil }
    SectionCache.keep(
      SectionCache.Entry(key: key, sections: content.sections.map { ($0.name, $0.range.count) }),
      named: name)
    return request
  }

  /// Nil when there are objects whose values are not those of a row.
  private var key: SectionCache.Key? {
    var hasher = Hasher()
    for object in objects {
      guard !object.hasChanges, let version = object.snapshot?.version else { return nil }
      hasher.combine(object.objectID.hash)
      hasher.combine(version)
    }
    hasher.combine(objects.count)
    return SectionCache.Key(request: request, data: hasher.finalize())
  }

  private static func description(of tracking: ResultsTracking) -> String {
    let request = tracking.request
    let stores =
      request.affectedStores ?? tracking.context.persistentStoreCoordinator?
      .persistentStores ?? []
    let order = (request.sortDescriptors ?? []).map { "\($0)" }
    return [
      request.entityName ?? "", tracking.sectionNameKeyPath ?? "",
      request.predicate?.predicateFormat ?? "", order.joined(separator: ","),
      "\(request.fetchOffset) \(request.fetchLimit) \(request.includesSubentities)",
      stores.map(\.identity.identifier).joined(separator: ","),
    ].joined(separator: "\n")
  }
}
