// A replica in a PostgreSQL database, as the configuration names it.
import Cairn
import CairnControl
import CairnSync
import Foundation

/// Where a PostgreSQL store is, and how to get in.
public struct PostgreSQLSection: Sendable, Hashable {
  /// The schema of a store that is given none.
  public static let defaultSchema = "cairn"

  /// A connection URL, or libpq's settings, without a password.
  public let connection: String
  public let schema: String
  /// The systemd credential with the password; nil for the usual one, if there is any.
  public let credential: String?
  /// Whether what other programs write with plain SQL is captured.
  public let capturesSQL: Bool
  /// All of the place as a URL.
  public let url: URL

  /// - Throws: `CoreDataError` for what is no place of a store.
  public init(
    connection: String, schema: String? = nil, credential: String? = nil,
    capturesSQL: Bool = false
  ) throws {
    self.connection = connection
    self.schema = schema ?? Self.defaultSchema
    self.credential = credential
    self.capturesSQL = capturesSQL
    url = try URL.postgreSQLStore(connection, schema: self.schema)
  }

  /// The place for people.
  var location: String {
    schema == Self.defaultSchema ? connection : "\(connection)#\(schema)"
  }

  /// The command with which people save the store, and nothing else of the database.
  func dumpCommand(named name: String) -> String {
    // pg_dump takes a pattern, in which quotes keep letters and characters as they are.
    let pattern = "\"\(schema.replacing("\"", with: "\"\""))\""
    return [
      "pg_dump", "--dbname", ShellWord.quoted(connection), "--schema", ShellWord.quoted(pattern),
      "--file", ShellWord.quoted("\(name).sql"),
    ].joined(separator: " ")
  }

  /// How the store is opened.
  var options: [String: ReplicaConfiguration.OptionValue] {
    var options: [String: ReplicaConfiguration.OptionValue] = [:]
    if let credential {
      options[StoreOptionKey.postgreSQLPasswordCredential] = .text(credential)
    }
    if capturesSQL { options[StoreOptionKey.postgreSQLCapture] = .flag(true) }
    return options
  }

  static func read(_ reader: SectionReader) -> PostgreSQLSection? {
    let connection = reader.requiredText(
      "connection",
      remedy: "write how to reach the database, such as: service=inventory")
    let schema = reader.text("schema")
    let credential = reader.text("credential")
    let captures = reader.flag("captureSQL", default: false)
    if let credential, !isCredential(credential) {
      reader.report(
        "credential", "\"\(credential)\" is no name of a credential",
        "write the name that stands before the colon in LoadCredential=")
    }
    guard let connection else { return nil }
    do {
      return try PostgreSQLSection(
        connection: connection, schema: schema, credential: credential, capturesSQL: captures)
    } catch {
      let message = (error as? CoreDataError)?.message ?? "\(error)"
      reader.report("connection", message)
      return nil
    }
  }

  /// Whether systemd may have a credential of this name.
  static func isCredential(_ name: String) -> Bool {
    !name.isEmpty && name != "." && name != ".." && !name.contains("/")
      && name.unicodeScalars.allSatisfy { $0.properties.generalCategory != .control }
  }
}
