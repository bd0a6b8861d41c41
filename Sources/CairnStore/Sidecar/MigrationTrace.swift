import Foundation

/// What migrations, or an administrator's statements, have dropped of a store's values: no history tells of that, and the
/// same names may have come back since.
///
/// A migration keeps it in the sidecar of a store that sync has written to, until sync takes it up; a store of a database
/// does so at the opening that finds other tables or columns than it noted.
public struct MigrationTrace: Hashable, Sendable {
  /// Entities (`Person`) and properties (`Person.name`), as they were called when they were dropped.
  public let names: Set<String>

  public init(_ names: some Sequence<String>) { self.names = Set(names) }

  /// Where it is kept.
  public static let key = SidecarKey(map: "sync_meta", key: Data("dropped".utf8))
  /// What the sidecar has where sync has written to the store.
  public static let witness = SidecarKey(map: "sync_meta", key: Data("head".utf8))

  // Bytes: the names, with a line feed after each, so that two traces are one when one follows the other
  public var encoded: Data { Data(names.sorted().map { $0 + "\n" }.joined().utf8) }

  public init(decoding data: Data) {
    names = Set(String(decoding: data, as: UTF8.self).split(separator: "\n").map(String.init))
  }
}
