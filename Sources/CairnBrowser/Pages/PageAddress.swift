// The addresses of the pages.

import Cairn
import Foundation

/// Paths of a store's pages, with every name made safe.
struct PageAddress: Sendable, Hashable {
  /// What stands before each path: nothing, or where one store of several is.
  let base: String

  /// Where one store of several is.
  static func store(_ name: String) -> String { "/stores/\(safe(name))" }

  /// A path behind the base, such as `/history`.
  func path(_ rest: String) -> String { base + rest }

  func entity(_ name: String) -> String { "\(base)/entities/\(Self.safe(name))" }

  /// The page of rows with a condition and an order.
  func rows(_ entity: String, condition: String, sort: String?, page: Int) -> String {
    var items: [String] = []
    if !condition.isEmpty { items.append("where=\(Self.safe(condition))") }
    if let sort { items.append("sort=\(Self.safe(sort))") }
    if page > 1 { items.append("page=\(page)") }
    return self.entity(entity) + (items.isEmpty ? "" : "?" + items.joined(separator: "&"))
  }

  func record(_ id: ManagedObjectID) -> String {
    "\(base)/records/\(Self.path(of: id))"
  }

  /// The history of a record.
  func changes(_ id: ManagedObjectID) -> String {
    "\(base)/changes/\(Self.path(of: id))"
  }

  func bytes(_ id: ManagedObjectID, attribute: String) -> String {
    "\(record(id))/\(Self.safe(attribute))"
  }

  /// The last part of the object's URI: `p12` in SQLite.
  static func key(of id: ManagedObjectID) -> String {
    id.uriRepresentation().lastPathComponent
  }

  private static let allowed = CharacterSet(
    charactersIn: "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-._~")

  private static func path(of id: ManagedObjectID) -> String {
    "\(safe(id.entity.name ?? ""))/\(safe(key(of: id)))"
  }

  /// A text as one part of a path or a query.
  static func safe(_ text: String) -> String {
    text.addingPercentEncoding(withAllowedCharacters: allowed) ?? ""
  }
}
