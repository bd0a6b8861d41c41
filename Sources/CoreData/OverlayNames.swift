// Members that Apple's overlay adds under names that Cairn has already, and deprecated ones.
import CairnStack
import Foundation

extension PersistentContainer {
  /// Where stores are kept unless a description says otherwise.
  public class var defaultDirectoryURL: URL { defaultDirectoryURL() }
}

extension PersistentStoreCoordinator {
  /// Deprecated by Apple: reads the metadata of a store file; without a type, of SQLite.
  @_disfavoredOverload
  public class func metadataForPersistentStore(
    ofType storeType: String?, at url: URL
  ) throws -> [String: Any] {
    try metadataForPersistentStore(ofType: storeType ?? NSSQLiteStoreType, at: url, options: nil)
  }

  /// Deprecated by Apple: sets the metadata of a store file; without a type, of SQLite.
  @_disfavoredOverload
  public class func setMetadata(
    _ metadata: [String: Any]?, forPersistentStoreOfType storeType: String?, at url: URL
  ) throws {
    try setMetadata(
      metadata, forPersistentStoreOfType: storeType ?? NSSQLiteStoreType, at: url, options: nil)
  }
}
