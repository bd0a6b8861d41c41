// The rows of a store of the self-test.
import Cairn
import CairnRecords
import Foundation

/// What one store holds, by the names of its rows.
struct DrillRows: Equatable {
  struct Note: Equatable {
    let text: String?
    let count: Int
    let group: String?
    let related: [String]
  }

  private(set) var notes: [String: Note] = [:]
  private(set) var groups: Set<String> = []
  /// Names that two rows of an entity have.
  private(set) var twice: [String] = []

  /// Reads a store's file, which a daemon may have open.
  init(path: String, model: ManagedObjectModel) throws {
    let context = try ReadOnlyStore(StoreLocation(file: path), using: model).context()
    try context.performAndWait {
      let request = FetchRequest<ManagedObject>(entityName: "Note")
      request.relationshipKeyPathsForPrefetching = ["group", "related"]
      for object in try context.fetch(request) {
        let name = Self.name(of: object)
        let related = object.value(forKey: "related") as? Set<ManagedObject> ?? []
        let note = Note(
          text: object.value(forKey: "text") as? String,
          count: (object.value(forKey: "count") as? NSNumber)?.intValue ?? 0,
          group: (object.value(forKey: "group") as? ManagedObject).map(Self.name),
          related: related.map(Self.name).sorted())
        if notes.updateValue(note, forKey: name) != nil { twice.append(name) }
      }
      let groupRequest = FetchRequest<ManagedObject>(entityName: "Group")
      for object in try context.fetch(groupRequest) {
        let name = Self.name(of: object)
        if !groups.insert(name).inserted { twice.append(name) }
      }
    }
  }

  private static func name(of object: ManagedObject) -> String {
    object.value(forKey: "name") as? String ?? ""
  }

  var count: Int { notes.count + groups.count }
  var counts: [String: Int] { notes.mapValues(\.count) }

  /// The names of rows that are not the same in another store.
  func differences(from other: DrillRows) -> [String] {
    let names = Set(notes.keys).union(other.notes.keys)
    return names.filter { notes[$0] != other.notes[$0] }.sorted()
      + groups.symmetricDifference(other.groups).sorted()
  }
}
