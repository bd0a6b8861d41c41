// Where a store is, and how to get in there.

import Cairn
import CairnStore
import Foundation

/// The place of a store that no coordinator need have open: a file, or a schema of a database.
public struct StoreLocation: Sendable, Hashable {
  public let url: URL
  /// The store's type.
  public let type: String
  /// More options to open it with, such as the name of a database's credential; a file takes none.
  public let options: [String: String]

  public init(url: URL, type: String, options: [String: String] = [:]) {
    self.url = url
    self.type = type
    self.options = options
  }

  /// The place of a file.
  ///
  /// - Parameter type: Nil to look at the file. A program that has a SQLite store open gives it: closing the file would
  ///   give up the locks that it has of it.
  /// - Throws: ``ReadOnlyStoreError`` for a file that is no store.
  public init(file path: String, type: String? = nil) throws {
    self.init(url: URL(fileURLWithPath: path), type: try type ?? ReadOnlyStore.type(of: path))
  }

  public var isFile: Bool { url.isFileURL }

  /// The place for people: a path, or the database with the schema.
  public var text: String { url.storePlace }

  /// All options to open the store with; of an option that stands in both, that of `others` counts.
  func openingOptions(_ others: [AnyHashable: Any] = [:]) -> [AnyHashable: Any] {
    others.merging(options.map { ($0.key as AnyHashable, $0.value as Any) }) { other, _ in other }
  }
}
