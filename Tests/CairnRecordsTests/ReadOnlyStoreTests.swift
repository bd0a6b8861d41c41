// Files that a program reads by itself.
import Cairn
import CairnRecords
import Foundation
import TestSupport
import Testing

@Suite struct ReadOnlyStoreTests {
  private let folder: TemporaryFolder

  init() throws { folder = try TemporaryFolder() }

  private static var model: ManagedObjectModel {
    let model = ManagedObjectModel()
    model.entities = [
      EntityDescription(
        name: "Note", properties: [AttributeDescription(name: "text", type: .string)])
    ]
    return model
  }

  private func store(_ type: String) throws -> String {
    let url = folder.fileURL("Notes.\(type)")
    let coordinator = PersistentStoreCoordinator(managedObjectModel: Self.model)
    let store = try coordinator.addPersistentStore(
      ofType: type, configurationName: nil, at: url, options: [:])
    let context = ManagedObjectContext(concurrencyType: .privateQueueConcurrencyType)
    context.persistentStoreCoordinator = coordinator
    try context.performAndWait {
      let note = ManagedObject(
        entity: try #require(coordinator.managedObjectModel.entitiesByName["Note"]),
        insertInto: context)
      note.setValue("hello", forKey: "text")
      try context.save()
    }
    try coordinator.remove(store)
    return url.path
  }

  /// A model package whose second version lacks the attribute.
  private func package() throws -> String {
    let package = folder.fileURL("Notes.xcdatamodeld")
    func write(_ version: String, _ attributes: String) throws {
      let file = package.appendingPathComponent("\(version).xcdatamodel")
      try FileManager.default.createDirectory(at: file, withIntermediateDirectories: true)
      try """
      <?xml version="1.0" encoding="UTF-8" standalone="yes"?>
      <model type="com.apple.IDECoreDataModeler.DataModel" documentVersion="1.0">
      <entity name="Note">\(attributes)</entity>
      </model>
      """.write(to: file.appendingPathComponent("contents"), atomically: true, encoding: .utf8)
    }
    try write("Notes", "<attribute name=\"text\" optional=\"YES\" attributeType=\"String\"/>")
    try write("Notes 2", "<attribute name=\"body\" optional=\"YES\" attributeType=\"String\"/>")
    try """
    <?xml version="1.0" encoding="UTF-8"?>
    <!DOCTYPE plist PUBLIC "-//Apple//DTD PLIST 1.0//EN" "http://www.apple.com/DTDs/PropertyList-1.0.dtd">
    <plist version="1.0"><dict><key>_XCCurrentVersionName</key>
    <string>Notes 2.xcdatamodel</string></dict></plist>
    """.write(
      to: package.appendingPathComponent(".xccurrentversion"), atomically: true, encoding: .utf8)
    return package.path
  }

  private func texts(_ store: ReadOnlyStore) throws -> [String?] {
    let context = store.context()
    return try context.performAndWait {
      try context.fetch(FetchRequest<ManagedObject>(entityName: "Note")).map {
        $0.value(forKey: "text") as? String
      }
    }
  }

  @Test(arguments: ["SQLite", "XML", "Binary"])
  func storesOfEachTypeAreKnownByTheirFirstBytes(type: String) throws {
    let path = try store(type)
    let opened = try ReadOnlyStore(path: path, model: try package())
    #expect(opened.type == type)
    #expect(try texts(opened) == ["hello"])
  }

  @Test func aSQLiteStoreNeedsNoModelFile() throws {
    #expect(try texts(ReadOnlyStore(path: try store("SQLite"), model: nil)) == ["hello"])
  }

  @Test func othersSayThatTheyNeedOne() throws {
    let path = try store("XML")
    let error = #expect(throws: ReadOnlyStoreError.self) {
      try ReadOnlyStore(path: path, model: nil)
    }
    #expect(error?.hint == "name its model with --model")
  }

  @Test func whatIsNoFileOfAStoreIsRefused() throws {
    let empty = folder.fileURL("empty")
    let junk = folder.fileURL("junk")
    try Data().write(to: empty)
    try Data("hello".utf8).write(to: junk)
    let model = try package()
    for path in [folder.path, empty.path, junk.path, folder.file("nothing"), "/dev/null"] {
      #expect(throws: ReadOnlyStoreError.self, "\(path)") {
        try ReadOnlyStore(path: path, model: model)
      }
    }
  }

  @Test func writingIsRefused() throws {
    let opened = try ReadOnlyStore(path: try store("SQLite"), model: nil)
    let context = opened.context()
    context.performAndWait {
      for note in (try? context.fetch(FetchRequest<ManagedObject>(entityName: "Note"))) ?? [] {
        note.setValue("changed", forKey: "text")
      }
      #expect(throws: CoreDataError.self) { try context.save() }
    }
  }
}
