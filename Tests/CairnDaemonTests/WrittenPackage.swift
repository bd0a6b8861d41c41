// A model package of a test, written version by version.
import Cairn
import Foundation

/// An `.xcdatamodeld` folder whose versions are given as the text of their entities.
struct WrittenPackage {
  let path: String

  /// - Parameter versions: Names with what stands between `<model>` and `</model>`.
  init(_ path: String, current: String, _ versions: [(name: String, entities: String)]) throws {
    self.path = path
    for version in versions { try add(version.name, version.entities) }
    try makeCurrent(current)
  }

  /// The text of an entity `Item` with optional strings; `new=old` is one under a new name.
  static func item(_ attributes: String...) -> String {
    let all = attributes.map {
      let names = $0.split(separator: "=")
      let former = names.count > 1 ? "elementID=\"\(names[1])\" " : ""
      return """
        <attribute name="\(names[0])" \(former)optional="YES" attributeType="String"/>
        """
    }
    return "<entity name=\"Item\">\(all.joined())</entity>"
  }

  func add(_ name: String, _ entities: String) throws {
    let folder = "\(path)/\(name).xcdatamodel"
    try FileManager.default.createDirectory(atPath: folder, withIntermediateDirectories: true)
    let text = """
      <?xml version="1.0" encoding="UTF-8" standalone="yes"?>
      <model type="com.apple.IDECoreDataModeler.DataModel" documentVersion="1.0">\(entities)</model>
      """
    try text.write(toFile: "\(folder)/contents", atomically: true, encoding: .utf8)
  }

  /// Makes a version the one that new stores are made with.
  func makeCurrent(_ name: String) throws {
    let text = """
      <?xml version="1.0" encoding="UTF-8"?>
      <plist version="1.0"><dict><key>_XCCurrentVersionName</key>
      <string>\(name).xcdatamodel</string></dict></plist>
      """
    try text.write(toFile: "\(path)/.xccurrentversion", atomically: true, encoding: .utf8)
  }

  func model(_ version: String) throws -> ManagedObjectModel {
    try ModelPackage(contentsOf: URL(fileURLWithPath: path)).model(named: version)
  }

  /// A context on a store of one of the versions, which is made where there is none; `work` runs on its
  /// queue, and what it leaves is saved.
  func withStore<Result>(
    _ path: String, _ version: String, type: String = StoreTypeName.sqlite,
    _ work: (ManagedObjectContext) throws -> Result
  ) throws -> Result {
    let coordinator = PersistentStoreCoordinator(managedObjectModel: try model(version))
    let store = try coordinator.addPersistentStore(
      ofType: type, configurationName: nil, at: URL(fileURLWithPath: path), options: [:])
    let context = ManagedObjectContext(concurrencyType: .privateQueueConcurrencyType)
    context.persistentStoreCoordinator = coordinator
    let result = try context.performAndWait {
      let result = try work(context)
      if context.hasChanges { try context.save() }
      return result
    }
    try coordinator.remove(store)
    return result
  }
}
