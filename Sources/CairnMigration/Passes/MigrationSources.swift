import CairnContext
import CairnModel
import CairnPredicates
import Foundation

/// The source objects of a mapping, batch by batch where that is possible.
struct MigrationSources {
  private enum Content {
    case objects([ManagedObject])
    case rows(InstanceColumn, ManagedObjectContext)
  }
  private let content: Content

  init(_ objects: [ManagedObject]) { content = .objects(objects) }

  /// What a request finds; only the keys are read.
  ///
  /// Nil where that is not the same as running the request: it finds something else than rows of a
  /// store.
  init?(_ request: AnyFetchRequest, in context: ManagedObjectContext) throws {
    guard request.resultType == .managedObjectResultType, !context.hasChanges else { return nil }
    let ids = request.forIDs()
    var column = InstanceColumn()
    let isWhole =
      request.fetchLimit == 0 && request.fetchOffset == 0
      && (request.sortDescriptors ?? []).isEmpty
    if isWhole {
      ids.sortDescriptors = [ObjectSortDescriptor(key: "objectID", ascending: true)]
      ids.fetchLimit = Self.portion
    }
    var found: Int
    repeat {
      ids.fetchOffset = isWhole ? column.count : request.fetchOffset
      let part = try context.fetch(ids)
      found = part.count
      for id in part {
        guard column.append(id) else { return nil }
      }
    } while isWhole && found == Self.portion
    content = .rows(column, context)
  }

  /// So many keys are read at a time.
  private static let portion = 100_000

  var count: Int {
    switch content {
    case .objects(let objects): return objects.count
    case .rows(let column, _): return column.count
    }
  }

  /// Objects with their values.
  func objects(at places: Range<Int>) throws -> [ManagedObject] {
    switch content {
    case .objects(let objects): return Array(objects[places])
    case .rows(let column, let context):
      return try context.filledObjects(with: places.map(column.id(at:)))
    }
  }
}
