import CairnModel
import CairnStore
import Foundation

/// What a store that is one file holds.
struct WholeFileContent {
  /// With type and UUID.
  var metadata: [String: Any]
  var tables: MemoryTables
}

/// How the content of a store becomes the bytes of a file, and back.
protocol WholeFileFormat: Sendable {
  /// The store type, such as `XML`.
  var type: String { get }
  /// What stands before row keys in object URIs.
  var rowPrefix: String { get }

  /// Checks that objects of the model can be told apart in a file.
  ///
  /// - Throws: 134020.
  func check(_ model: ManagedObjectModel) throws
  /// The content of a store that is not there yet.
  func emptyTables() -> MemoryTables
  /// Reads a file.
  ///
  /// - Throws: 134000 for a file that is no such store, 259 for a damaged one.
  func content(
    of data: Data, path: String, model: ManagedObjectModel, identity: StoreIdentity,
    options: StoreOptions
  ) throws -> WholeFileContent
  /// The metadata of a file, with type and UUID.
  ///
  /// - Throws: As ``content(of:path:model:identity:options:)``.
  func metadata(of data: Data, path: String) throws -> [String: Any]
  /// The file of a store.
  func data(of content: WholeFileContent, model: ManagedObjectModel) throws -> Data
  /// The file with other metadata.
  func data(of data: Data, path: String, withMetadata metadata: [String: Any]) throws -> Data
}
