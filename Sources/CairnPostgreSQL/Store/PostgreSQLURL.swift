import CairnStore
import Foundation

/// The URL of a store: libpq's connection URL, or libpq's settings, with the store's schema as the fragment.
///
/// Settings such as `service=inventory` stand behind `postgresql:` with what a URL cannot have as `%XX`.
package enum PostgreSQLURL {
  /// The schema of a URL without a fragment.
  package static let defaultSchema = "cairn"

  private static let scheme = "postgresql:"

  /// - Parameters:
  ///   - connection: `postgresql://USER@HOST/DATABASE`, or settings such as `service=inventory sslmode=verify-full`.
  ///   - schema: Nil for ``defaultSchema``.
  /// - Throws: 134080 for what is neither, and for one with a password, which is not repeated.
  package static func make(_ connection: String, schema: String? = nil) throws -> URL {
    if mentionsPassword(connection) {
      throw CoreDataError(
        .persistentStoreOpen,
        "A PostgreSQL store's connection has a password in it, which would be shown with it. Put it into a "
          + "systemd credential, into .pgpass or into PGPASSWORD.")
    }
    let fragment = try "#" + encoded(SchemaName(schema ?? defaultSchema).text)
    let isURL = connection.hasPrefix("postgresql://") || connection.hasPrefix("postgres://")
    let isPlain = connection.unicodeScalars.allSatisfy { $0.properties.generalCategory != .control }
    guard isPlain, isURL ? !connection.contains("#") : connection.contains("="),
      let url = URL(string: (isURL ? connection : scheme + encoded(connection)) + fragment)
    else {
      throw CoreDataError(
        .persistentStoreOpen,
        "\"\(connection)\" is no place of a PostgreSQL store. Write postgresql://USER@HOST/DATABASE, or libpq's "
          + "settings such as: service=inventory sslmode=verify-full")
    }
    // Where libpq is there, it says whether it knows the settings.
    if (try? LibPQ.functions()) != nil {
      _ = try ConnectionParameters(parts(of: url).connection, environment: [:])
    }
    return url
  }

  /// What libpq is to connect with, and the schema, nil where none is named.
  static func parts(of url: URL) -> (connection: String, schema: String?) {
    let parts = url.absoluteString.split(
      separator: "#", maxSplits: 1, omittingEmptySubsequences: false)
    var connection = String(parts.first ?? "")
    if connection.hasPrefix(scheme), !connection.hasPrefix(scheme + "//") {
      let settings = String(connection.dropFirst(scheme.count))
      connection = settings.removingPercentEncoding ?? settings
    }
    let fragment = parts.count > 1 ? String(parts[1]) : ""
    return (connection, fragment.isEmpty ? nil : fragment.removingPercentEncoding ?? fragment)
  }

  /// Whether a connection seems to have a password in it, told without libpq, which may be missing: rather once too
  /// often.
  private static func mentionsPassword(_ connection: String) -> Bool {
    let text = connection.lowercased().filter { $0 != " " }
    if text.contains("password=") { return true }
    guard let start = text.range(of: "://")?.upperBound else { return false }
    let authority = text[start...].prefix { $0 != "/" && $0 != "?" }
    guard let user = authority.lastIndex(of: "@") else { return false }
    return authority[..<user].contains(":")
  }

  private static func encoded(_ text: String) -> String {
    text.addingPercentEncoding(withAllowedCharacters: allowed) ?? ""
  }

  private static let allowed = CharacterSet.alphanumerics.intersection(
    CharacterSet(charactersIn: "\u{0}"..."\u{7f}")
  ).union(CharacterSet(charactersIn: "-._~=,/:@"))
}
