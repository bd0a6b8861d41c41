// The data of the cases with a daemon: a model file that names classes, as Xcode's do.

@_spi(Generated) import Cairn
import CairnSync
import Foundation
import GRDBSQLite

/// The sample's ten attributes, a note that applications write, and an entity with files.
enum ServiceModel {
  static func file(in folder: URL) -> URL { folder.appendingPathComponent("Service.xcdatamodel") }

  static func write(to folder: URL) throws {
    let package = file(in: folder)
    try FileManager.default.createDirectory(at: package, withIntermediateDirectories: true)
    try text.write(
      to: package.appendingPathComponent("contents"), atomically: true, encoding: .utf8)
  }

  private static let text = """
    <?xml version="1.0" encoding="UTF-8" standalone="yes"?>
    <model type="com.apple.IDECoreDataModeler.DataModel" documentVersion="1.0" \
    lastSavedToolsVersion="22758" systemVersion="23F79" minimumToolsVersion="Automatic" \
    sourceLanguage="Swift" userDefinedModelVersionIdentifier="">
      <entity name="Item" representedClassName="Item" syncable="YES">
        <attribute name="code" optional="YES" attributeType="String"/>
        <attribute name="count" optional="YES" attributeType="Integer 64" usesScalarValueType="YES"/>
        <attribute name="created" optional="YES" attributeType="Date" usesScalarValueType="NO"/>
        <attribute name="group" optional="YES" attributeType="Integer 64" usesScalarValueType="YES"/>
        <attribute name="name" optional="YES" attributeType="String"/>
        <attribute name="number" optional="YES" attributeType="Integer 64" usesScalarValueType="YES"/>
        <attribute name="payload" optional="YES" attributeType="Binary"/>
        <attribute name="ratio" optional="YES" attributeType="Double" usesScalarValueType="YES"/>
        <attribute name="title" optional="YES" attributeType="String"/>
        <attribute name="weight" optional="YES" attributeType="Double" usesScalarValueType="YES"/>
      </entity>
      <entity name="Note" representedClassName="Note" syncable="YES">
        <attribute name="number" optional="YES" attributeType="Integer 64" usesScalarValueType="YES"/>
        <attribute name="text" optional="YES" attributeType="String"/>
      </entity>
      <entity name="Picture" representedClassName="Picture" syncable="YES">
        <attribute name="data" optional="YES" attributeType="Binary" allowsExternalBinaryDataStorage="YES"/>
        <attribute name="name" optional="YES" attributeType="String"/>
      </entity>
    </model>
    """

  /// The rows as `cairnctl import` and Python read them: one JSON object a line.
  static func writeLines(_ rows: [Sample], to file: URL) throws {
    let format = ISO8601DateFormatter()
    var text = ""
    for row in rows {
      let date = format.string(from: Date(timeIntervalSinceReferenceDate: row.created))
      let payload = row.payload.map { "\"\($0.base64EncodedString())\"" } ?? "null"
      text += """
        {"number": \(row.number), "group": \(row.group), "count": \(row.count), \
        "ratio": \(row.ratio), "weight": \(row.weight), "created": "\(date)", \
        "code": "\(row.code)", "name": "\(row.name)", "title": "\(row.title)", \
        "payload": \(payload)}

        """
    }
    try Data(text.utf8).write(to: file)
  }
}

/// An application with the daemon's local store, or the writer of a replica's file.
final class Application {
  private let coordinator: PersistentStoreCoordinator
  private let store: PersistentStore
  private let context: ManagedObjectContext

  /// - Parameter folder: Where the model lies.
  init(_ file: URL, modelIn folder: URL) throws {
    try ServiceModel.write(to: folder)
    coordinator = PersistentStoreCoordinator(
      managedObjectModel: try ManagedObjectModel.load(
        contentsOf: ServiceModel.file(in: folder)))
    store = try coordinator.addPersistentStore(
      ofType: "SQLite", configurationName: nil, at: file,
      options: [
        "NSPersistentHistoryTrackingKey": true,
        "NSSQLitePragmasOption": ["synchronous": "NORMAL"],
      ])
    context = ManagedObjectContext(concurrencyType: .privateQueueConcurrencyType)
    context.persistentStoreCoordinator = coordinator
  }

  /// Inserts the rows, so many a save.
  func insert(_ rows: [Sample], aSave: Int = 1000) throws {
    for start in stride(from: 0, to: rows.count, by: aSave) {
      try insert("Item", Array(rows[start..<min(start + aSave, rows.count)])) { object, sample in
        object.fill(sample)
      }
    }
  }

  /// Saves one note; the seconds that takes.
  func saveNote(_ number: Int) throws -> Double {
    var seconds = 0.0
    try context.performAndWait {
      let note = EntityDescription.insertNewObject(forEntityName: "Note", into: context)
      note.setValue(Int64(number), forKey: "number")
      note.setValue("note \(number)", forKey: "text")
      seconds = try timed { try context.save() }
      context.reset()
    }
    return seconds
  }

  func insertPictures(_ count: Int, bytes: Int) throws {
    for number in 0..<count {
      try insert("Picture", [number]) { object, number in
        object.setValue(
          Data(repeating: UInt8(truncatingIfNeeded: number), count: bytes), forKey: "data")
        object.setValue("picture \(number)", forKey: "name")
      }
    }
  }

  /// Changes two values of each item, a thousand objects a save.
  func changeItems() throws {
    try context.performAndWait {
      let request = FetchRequest<ManagedObject>(entityName: "Item")
      request.includesPropertyValues = false
      let ids = try context.fetch(request).map(\.objectID)
      context.reset()
      for start in stride(from: 0, to: ids.count, by: 1000) {
        for (number, id) in ids[start..<min(start + 1000, ids.count)].enumerated() {
          let object = try context.existingObject(with: id)
          object.setValue("changed \(start + number)", forKey: "title")
          object.setValue(Int64(number), forKey: "count")
        }
        try context.save()
        context.reset()
      }
    }
  }

  private func insert<Row: Sendable>(
    _ entity: String, _ rows: [Row], fill: (ManagedObject, Row) -> Void
  ) throws {
    try context.performAndWait {
      for row in rows {
        fill(EntityDescription.insertNewObject(forEntityName: entity, into: context), row)
      }
      try context.save()
      context.reset()
    }
  }

  /// An engine on the store, in this process.
  func makeEngine() throws -> SyncEngine {
    try SyncEngine(coordinator: coordinator, local: store)
  }

  func close() throws { try coordinator.remove(store) }
}

extension RawDatabase {
  /// How many rows an entity has in a file of this model, read from outside.
  func count(of entity: String) throws -> Int { try number("count(*)", of: entity) }

  /// The largest key of an entity's rows; 0 without rows.
  func largestKey(of entity: String) throws -> Int { try number("max(Z_PK)", of: entity) }

  private func number(_ expression: String, of entity: String) throws -> Int {
    let statement = try prepare("SELECT \(expression) FROM Z\(entity.uppercased())")
    defer { sqlite3_finalize(statement) }
    return try step(statement) ? Int(sqlite3_column_int64(statement, 0)) : 0
  }
}
