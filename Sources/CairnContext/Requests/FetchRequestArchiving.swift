import CairnModel
import CairnPredicates
import CairnStore
import Foundation

/// What a fetch request becomes by being unarchived.
final class ArchivedFetchRequest: FetchRequest<any FetchRequestResult> {}

/// What an archive calls a fetch request.
///
/// Archives list the superclasses of what they hold, and a generic one has no name.
final class ArchivedFetchRequestName: NSObject {
  override class func classForKeyedUnarchiver() -> AnyClass { ArchivedFetchRequest.self }
}

/// Writes fetch requests to archives and reads them again.
///
/// Predicates and expressions are kept as their format, descriptions of properties by name. What
/// has no text (blocks, comparators, managed objects as constants) cannot be archived; the coder
/// fails then.
enum FetchRequestArchiving {
  private enum Key {
    static let entityName = "NSEntityName"
    static let predicate = "NSPredicate"
    static let sortDescriptors = "NSSortDescriptors"
    static let limit = "NSFetchLimit"
    static let offset = "NSFetchOffset"
    static let batchSize = "NSFetchBatchSize"
    static let resultType = "NSResultType"
    static let flags = "CairnFlags"
    static let prefetching = "NSRelationshipKeyPathsForPrefetching"
    static let columns = "NSValuesToFetch"
    static let groups = "NSGroupByProperties"
    static let having = "NSHavingPredicate"
  }

  // MARK: Encoding

  static func encode(_ request: AnyFetchRequest, with coder: NSCoder) {
    coder.encode(request.entityName.map { $0 as NSString }, forKey: Key.entityName)
    coder.encode(text(of: request.predicate, coder), forKey: Key.predicate)
    coder.encode(text(of: request.havingPredicate, coder), forKey: Key.having)
    let sorting = request.sortDescriptors.map { descriptors in
      NSArray(array: descriptors.map { line(of: $0, coder) })
    }
    coder.encode(sorting, forKey: Key.sortDescriptors)
    coder.encode(request.fetchLimit, forKey: Key.limit)
    coder.encode(request.fetchOffset, forKey: Key.offset)
    coder.encode(request.fetchBatchSize, forKey: Key.batchSize)
    coder.encode(Int(request.resultType.rawValue), forKey: Key.resultType)
    coder.encode(flags(of: request), forKey: Key.flags)
    coder.encode(
      request.relationshipKeyPathsForPrefetching.map { NSArray(array: $0.map { $0 as NSString }) },
      forKey: Key.prefetching)
    coder.encode(columns(request.propertiesToFetch), forKey: Key.columns)
    coder.encode(columns(request.propertiesToGroupBy), forKey: Key.groups)
  }

  private static func text(of predicate: ObjectPredicate?, _ coder: NSCoder) -> NSString? {
    guard let predicate else { return nil }
    let format = predicate.predicateFormat
    // Only what parses back to the same predicate may go into an archive.
    guard let parsed = try? ObjectPredicate.parse(format), parsed == predicate else {
      coder.failWithError(
        CoreDataError(
          .coreData,
          "The predicate \(format) cannot be archived, because it mentions objects or blocks."))
      return nil
    }
    return format as NSString
  }

  private static func line(of descriptor: ObjectSortDescriptor, _ coder: NSCoder) -> NSArray {
    if descriptor.hasCustomComparator {
      coder.failWithError(
        CoreDataError(.coreData, "A sort descriptor with a comparator cannot be archived."))
    }
    return [
      (descriptor.key ?? "") as NSString, NSNumber(value: descriptor.ascending),
      (descriptor.selector?.rawValue ?? "") as NSString,
    ]
  }

  private static func flags(of request: AnyFetchRequest) -> Int {
    let values = [
      request.includesSubentities, request.includesPropertyValues,
      request.includesPendingChanges, request.returnsObjectsAsFaults,
      request.returnsDistinctResults, request.shouldRefreshRefetchedObjects,
    ]
    return values.enumerated().reduce(0) { $0 | ($1.element ? 1 << $1.offset : 0) }
  }

  private static func columns(_ properties: [Any]?) -> NSArray? {
    guard let properties else { return nil }
    let lines = properties.compactMap { property -> NSArray? in
      switch property {
      case let computed as ExpressionDescription:
        guard let expression = computed.expression else { return nil }
        return [
          computed.name as NSString, expression.description as NSString,
          NSNumber(value: computed.expressionResultType.rawValue),
        ]
      case let property as PropertyDescription: return [property.name as NSString]
      case let name as String: return [name as NSString]
      default: return nil
      }
    }
    return NSArray(array: lines)
  }

  // MARK: Decoding

  /// Fills a new request; false when the archive holds something else.
  static func decode(_ request: AnyFetchRequest, from coder: NSCoder) -> Bool {
    guard coder.containsValue(forKey: Key.flags) else { return false }
    if let name = string(coder, Key.entityName) { request.setArchivedEntityName(name) }
    do {
      request.predicate = try string(coder, Key.predicate).map { try ObjectPredicate.parse($0) }
      request.havingPredicate = try string(coder, Key.having).map { try ObjectPredicate.parse($0) }
      request.propertiesToFetch = try properties(coder, Key.columns)
      request.propertiesToGroupBy = try properties(coder, Key.groups)
    } catch {
      coder.failWithError(error)
      return false
    }
    request.sortDescriptors = list(coder, Key.sortDescriptors)?.compactMap(sortDescriptor)
    request.fetchLimit = coder.decodeInteger(forKey: Key.limit)
    request.fetchOffset = coder.decodeInteger(forKey: Key.offset)
    request.fetchBatchSize = coder.decodeInteger(forKey: Key.batchSize)
    request.resultType = .init(
      rawValue: UInt(max(coder.decodeInteger(forKey: Key.resultType), 0)))
    let flags = coder.decodeInteger(forKey: Key.flags)
    func flag(_ place: Int) -> Bool { flags & (1 << place) != 0 }
    request.includesSubentities = flag(0)
    request.includesPropertyValues = flag(1)
    request.includesPendingChanges = flag(2)
    request.returnsObjectsAsFaults = flag(3)
    request.returnsDistinctResults = flag(4)
    request.shouldRefreshRefetchedObjects = flag(5)
    request.relationshipKeyPathsForPrefetching = list(coder, Key.prefetching)?.compactMap {
      $0 as? String
    }
    return true
  }

  private static func string(_ coder: NSCoder, _ key: String) -> String? {
    coder.decodeObject(forKey: key) as? String
  }

  private static func list(_ coder: NSCoder, _ key: String) -> [Any]? {
    (coder.decodeObject(forKey: key) as? NSArray)?.map { $0 }
  }

  private static func sortDescriptor(_ line: Any) -> ObjectSortDescriptor? {
    guard let parts = line as? [Any], parts.count == 3, let key = parts[0] as? String,
      let ascending = parts[1] as? Bool, let selector = parts[2] as? String
    else { return nil }
    return ObjectSortDescriptor(
      key: key.isEmpty ? nil : key, ascending: ascending,
      selector: selector.isEmpty ? nil : SelectorName(selector))
  }

  private static func properties(_ coder: NSCoder, _ key: String) throws -> [Any]? {
    try list(coder, key)?.compactMap { line -> Any? in
      guard let parts = line as? [Any], let name = parts.first as? String else { return nil }
      guard parts.count == 3, let format = parts[1] as? String,
        let type = (parts[2] as? NSNumber).flatMap({ AttributeType(rawValue: $0.uintValue) })
      else { return name }
      let computed = ExpressionDescription()
      computed.name = name
      computed.expression = try ObjectExpression.parse(format)
      computed.expressionResultType = type
      return computed
    }
  }
}
