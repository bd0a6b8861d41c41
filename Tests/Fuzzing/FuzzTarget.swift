import Cairn
import CairnControl
import CairnDaemon
import CairnModel
import CairnModelFiles
import CairnPredicates
import CairnSQLite
import CairnSync
import Foundation

/// One reader of what comes from outside.
enum FuzzTarget: String, CaseIterable {
  /// What arrives at the control socket.
  case frames
  /// Predicates that a client sends.
  case predicates
  case configurations
  /// Documents of Xcode's editor, and compiled models.
  case models
  /// Keyed archives, which transformable attributes hold.
  case archives
  /// What stores exchange.
  case changes
  /// SQLite files, which `inspect` and `browse` look into.
  case stores

  /// Reads an input as its reader would.
  ///
  /// - Parameter folder: For files.
  /// - Returns: Whether the reader took it.
  @discardableResult
  func read(_ input: Data, in folder: URL) -> Bool {
    do {
      switch self {
      case .frames:
        var framing = MessageFraming(limit: 1 << 16)
        let middle = input.count / 2
        for part in [input.prefix(middle), input.dropFirst(middle)] {
          for message in try framing.append(part) {
            _ = try ControlCall(message: try JSONParser.parse(message))
          }
        }
      case .predicates:
        guard let text = String(data: input, encoding: .utf8) else { return false }
        let predicate = try ObjectPredicate.parse(untrusted: text)
        // What is printed means the same.
        _ = try ObjectPredicate.parse(predicate.predicateFormat)
      case .configurations:
        let file = folder.appendingPathComponent("cairnd.yaml")
        try Self.write(input, to: file)
        _ = try ConfigurationLoader(path: file.path, environment: [:]).load()
      case .models:
        let file = folder.appendingPathComponent("contents")
        try input.write(to: file)
        _ = try ManagedObjectModel.read(contentsOf: file)
      case .archives:
        let value = SecureUnarchiveFromDataTransformer().transformedValue(input)
        if value == nil { return false }
      case .changes: _ = try ChangeSet(decoding: input)
      case .stores:
        let file = folder.appendingPathComponent("store.sqlite")
        for suffix in ["", "-wal", "-shm"] {
          try? FileManager.default.removeItem(atPath: file.path + suffix)
        }
        try input.write(to: file)
        _ = try StoreInspection(contentsOf: file)
      }
      return true
    } catch {
      return false
    }
  }

  private static func write(_ input: Data, to file: URL) throws {
    try input.write(to: file)
    try FileManager.default.setAttributes([.posixPermissions: 0o600], ofItemAtPath: file.path)
  }

  /// Inputs that are made here, because they are no text.
  func samples(in folder: URL) throws -> [Data] {
    switch self {
    case .frames, .predicates, .configurations, .models: return []
    case .archives:
      let values: [Any] = [
        ["a": [1, 2.5, "three"], "b": Date(timeIntervalSince1970: 0)] as [String: Any],
        [Data([1, 2, 3]), UUID(), NSNull()] as [Any], "text",
      ]
      return values.compactMap {
        SecureUnarchiveFromDataTransformer().reverseTransformedValue($0) as? Data
      }
    case .changes:
      return [
        Self.changes().encoded(), ChangeSet(source: Self.source, after: 0, upTo: 1).encoded(),
      ]
    case .stores: return [try Self.store(in: folder)]
    }
  }

  private static let source = StoreID(high: 1, low: 2)

  private static func changes() -> ChangeSet {
    let stamp = Stamp(clock: ClockReading(milliseconds: 1_700_000_000_000), store: source)
    let seen = SeenWrites([StoreID(high: 3, low: 4): ClockReading(milliseconds: 7)])
    let write = PropertyWrite(stamp: stamp, seen: seen)
    let record = RecordState(
      id: RecordID(high: 5, low: 6), entity: "Item",
      registers: [
        "name": Register(value: .string("x"), write: write),
        "count": Register(value: .integer(-1), write: PropertyWrite(stamp: stamp)),
        "price": Register(value: .decimal(Decimal(string: "1.25") ?? 0), write: write),
        "data": Register(value: .data(Data([1, 2])), write: write),
        "owner": Register(value: .reference(RecordID(high: 7, low: 8)), write: write),
      ], deletion: Deletion(stamp: stamp, seen: seen, policy: .writeWins),
      survivor: RecordID(high: 0, low: 1))
    let link = LinkChange(
      key: LinkKey(relationship: "Item.tags", owner: record.id, member: RecordID(high: 9, low: 9)),
      state: LinkState(stamp: stamp, isMember: true))
    return ChangeSet(source: source, after: 1, upTo: 9, records: [record], links: [link])
  }

  /// The bytes of a store with some rows and history.
  private static func store(in folder: URL) throws -> Data {
    let model = ManagedObjectModel()
    model.entities = [
      EntityDescription(
        name: "Item",
        properties: [
          AttributeDescription(name: "name", type: .string),
          AttributeDescription(name: "count", type: .integer64),
        ])
    ]
    let file = folder.appendingPathComponent("sample.sqlite")
    let coordinator = PersistentStoreCoordinator(managedObjectModel: model)
    let store = try coordinator.addPersistentStore(
      ofType: StoreTypeName.sqlite, configurationName: nil, at: file,
      options: [
        StoreOptionKey.historyTracking: true,
        StoreOptionKey.sqlitePragmas: ["journal_mode": "DELETE"],
      ])
    let context = ManagedObjectContext(.privateQueue)
    context.persistentStoreCoordinator = coordinator
    try context.performAndWait {
      for number in 0..<20 {
        let object = ManagedObject(entity: model.entities[0], insertInto: context)
        object.setValue("item \(number)", forKey: "name")
        object.setValue(number, forKey: "count")
      }
      try context.save()
    }
    try coordinator.remove(store)
    return try Data(contentsOf: file)
  }
}
