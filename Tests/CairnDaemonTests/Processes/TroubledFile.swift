// Store files that a daemon cannot use, one kind a case.
import CairnPlatform
import Foundation
import GRDB
import TestSupport
import Testing

/// A way in which a store file is not what the daemon wants.
enum TroubledFile: String, CaseIterable, Sendable, CustomTestStringConvertible {
  case notSQLite
  case otherApplication
  case readOnly
  case locked
  case newerModel
  case otherTypes

  /// As a replica; one at a newer version of the model is none.
  static let replicas = allCases.filter { $0 != .newerModel }

  var testDescription: String { rawValue }

  /// The code in the status, of the local store and of a replica.
  var code: String {
    switch self {
    case .notSQLite, .otherApplication: "not-a-store"
    case .readOnly: "store-read-only"
    case .locked: "store-locked"
    case .newerModel, .otherTypes: "incompatible-model"
    }
  }

  /// What the message says besides the file's name.
  var words: String {
    switch self {
    case .notSQLite: "not an SQLite database"
    case .otherApplication: "another application"
    case .readOnly: "may not be written"
    case .locked: "locked"
    case .newerModel, .otherTypes: "model"
    }
  }

  /// Whether the daemon tries again by itself.
  var mendsItself: Bool { self == .locked || self == .readOnly }

  /// The model that the daemon is given.
  static func model(in folder: TemporaryFolder) throws -> String {
    try TestModel.write(
      "Old", in: folder, entities: ["Item": [("name", "String"), ("count", "Integer 64")]])
  }

  /// Makes the file; what is returned keeps it as it is, until it is let go.
  func make(at path: String, in folder: TemporaryFolder) throws -> AnyObject? {
    switch self {
    case .notSQLite:
      try Data("name,count\nnut,12\n".utf8).write(to: URL(fileURLWithPath: path))
      return nil
    case .otherApplication:
      let queue = try DatabaseQueue(patient: path)
      try queue.write {
        try $0.execute(sql: "CREATE TABLE note (id INTEGER PRIMARY KEY, body TEXT)")
      }
      try queue.close()
      return nil
    case .readOnly:
      try Self.makeStore(at: path, model: try Self.model(in: folder))
      try FileManager.default.setAttributes([.posixPermissions: 0o444], ofItemAtPath: path)
      return nil
    case .locked:
      try Self.makeStore(at: path, model: try Self.model(in: folder))
      return try FileLock(path: path)
    case .newerModel:
      let newer = try TestModel.write(
        "New", in: folder,
        entities: [
          "Item": [("name", "String"), ("count", "Integer 64"), ("weight", "Double")],
          "Box": [("label", "String")],
        ])
      try Self.makeStore(at: path, model: newer)
      return nil
    case .otherTypes:
      let other = try TestModel.write(
        "Other", in: folder, entities: ["Item": [("name", "String"), ("count", "Binary")]])
      try Self.makeStore(at: path, model: other)
      return nil
    }
  }

  private static func makeStore(at path: String, model: String) throws {
    try ApplicationStore(model: model, path: path).insert("Item", ["name": "nut"])
  }
}

/// Another program's exclusive lock on a database, held until the end of this object.
final class FileLock {
  private let queue: DatabaseQueue

  init(path: String) throws {
    var configuration = Configuration()
    configuration.prepareDatabase { try $0.execute(sql: "PRAGMA locking_mode = EXCLUSIVE") }
    queue = try DatabaseQueue(path: path, configuration: configuration)
    try queue.writeWithoutTransaction { database in
      // A transaction that is begun and undone leaves the lock in place, and the file as it was.
      try database.execute(sql: "BEGIN EXCLUSIVE; ROLLBACK")
    }
  }

  deinit { try? queue.close() }
}

/// Writes model files for tests.
enum TestModel {
  /// - Parameter entities: Attribute names and types by entity.
  /// - Returns: the path of a `.xcdatamodeld` with one version.
  static func write(
    _ name: String, in folder: TemporaryFolder, entities: [String: [(String, String)]]
  ) throws -> String {
    let body = entities.sorted { $0.key < $1.key }.map { entity, attributes in
      "<entity name=\"\(entity)\" representedClassName=\"\(entity)\" syncable=\"YES\">"
        + attributes.map {
          "<attribute name=\"\($0)\" optional=\"YES\" attributeType=\"\($1)\"/>"
        }.joined() + "</entity>"
    }
    return try write(name, in: folder, contents: body.joined(separator: "\n"))
  }

  /// The same for any contents of the model element.
  static func write(_ name: String, in folder: TemporaryFolder, contents: String) throws -> String {
    let path = folder.file("\(name).xcdatamodeld")
    try FileManager.default.createDirectory(
      atPath: "\(path)/\(name).xcdatamodel", withIntermediateDirectories: true)
    let text = """
      <?xml version="1.0" encoding="UTF-8" standalone="yes"?>
      <model type="com.apple.IDECoreDataModeler.DataModel" documentVersion="1.0">
      \(contents)
      </model>
      """
    try Data(text.utf8).write(to: URL(fileURLWithPath: "\(path)/\(name).xcdatamodel/contents"))
    return path
  }
}
