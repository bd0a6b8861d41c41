// The addresses of the pages.

import Cairn
import Foundation

/// Paths of pages, with every name made safe.
enum PageAddress {
  static func entity(_ name: String) -> String { "/entities/\(safe(name))" }

  /// The page of rows with a condition and an order.
  static func rows(_ entity: String, condition: String, sort: String?, page: Int) -> String {
    var items: [String] = []
    if !condition.isEmpty { items.append("where=\(safe(condition))") }
    if let sort { items.append("sort=\(safe(sort))") }
    if page > 1 { items.append("page=\(page)") }
    return Self.entity(entity) + (items.isEmpty ? "" : "?" + items.joined(separator: "&"))
  }

  static func record(_ id: ManagedObjectID) -> String {
    "/records/\(safe(id.entity.name ?? ""))/\(safe(key(of: id)))"
  }

  /// The history of a record.
  static func changes(_ id: ManagedObjectID) -> String {
    "/changes/\(safe(id.entity.name ?? ""))/\(safe(key(of: id)))"
  }

  static func bytes(_ id: ManagedObjectID, attribute: String) -> String {
    "\(record(id))/\(safe(attribute))"
  }

  /// The last part of the object's URI: `p12` in SQLite.
  static func key(of id: ManagedObjectID) -> String {
    id.uriRepresentation().lastPathComponent
  }

  private static let allowed = CharacterSet(
    charactersIn: "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-._~")

  private static func safe(_ text: String) -> String {
    text.addingPercentEncoding(withAllowedCharacters: allowed) ?? ""
  }
}
