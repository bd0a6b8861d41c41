import CLibPQ
import CairnPlatform
import CairnStore
import Foundation

/// How to reach a server: all that libpq knows, and the times that Cairn waits.
///
/// The text is a URL (`postgresql://cairn@db1,db2/inventory?target_session_attrs=read-write`) or settings
/// (`service=inventory sslmode=verify-full`), which libpq reads. What it leaves out comes from libpq's environment
/// variables, service files and `.pgpass`, as everywhere.
///
/// No description shows a password, and none is in an error.
package struct ConnectionParameters: Sendable, CustomStringConvertible, CustomReflectable {
  /// Where systemd puts credentials (`LoadCredential=postgresql-password:…`); the password of a store is in one
  /// of this name unless the store's options name another.
  package static let passwordCredential = "postgresql-password"

  /// How long an attempt to reach one host may take: libpq counts in whole seconds, at least two.
  package var connectTimeout = Duration.seconds(10)
  /// How long the server works at one statement before it gives up; nil for as long as it takes.
  package var statementTimeout: Duration? = .seconds(60)
  /// How long a statement waits for rows that others have locked.
  package var lockTimeout = Duration.seconds(10)
  /// How long a transaction may stand still in the middle before the server ends it, so that a machine that
  /// hangs does not hold its locks for ever; nil for as long as it does.
  package var idleTransactionTimeout: Duration? = .seconds(120)
  /// How long after ``statementTimeout`` an answer may still arrive.
  package var networkPatience = Duration.seconds(15)
  /// Shared by the connections of a store that is open; nil where nothing ends a wait before its time.
  var abandonment: Abandonment?

  /// libpq's settings by keyword, without those that libpq takes from elsewhere.
  private let keywords: [String: String]
  /// The keywords whose values libpq itself marks as secret.
  private let secretKeywords: Set<String>

  /// - Parameter credential: The systemd credential that holds the password; nil for the usual one, if there is any.
  /// - Throws: 134080 when the text is neither a URL nor settings, or the credential cannot be read.
  package init(
    _ text: String, credential: String? = nil,
    environment: [String: String] = ProcessInfo.processInfo.environment
  ) throws {
    var (keywords, secrets) = try Self.parse(text)
    hasSecretInText = secrets.contains { keywords[$0]?.isEmpty == false }
    if keywords["password"] == nil,
      let password = try Self.password(from: credential, environment)
    {
      keywords["password"] = password
      secrets.insert("password")
    }
    self.keywords = keywords
    secretKeywords = secrets
    self.environment = Set(environment.filter { !$0.value.isEmpty }.keys)
  }

  /// The names of the environment's variables, some of which take the place of settings.
  private let environment: Set<String>

  private static func parse(_ text: String) throws -> ([String: String], Set<String>) {
    let libpq = try LibPQ.functions()
    var problem: UnsafeMutablePointer<CChar>?
    guard !text.utf8.contains(0), let list = libpq.parseConninfo(text, &problem) else {
      // libpq's own words repeat pieces of the text, in which a password may be.
      if let problem { libpq.freeMemory(problem) }
      throw CoreDataError(
        .persistentStoreOpen,
        "The place of the PostgreSQL store is not understood. Write it as "
          + "postgresql://USER@HOST/DATABASE, with libpq's settings after a question mark, and special "
          + "characters as %XX; or as settings such as: service=inventory sslmode=verify-full")
    }
    defer { libpq.freeConninfo(list) }
    var keywords: [String: String] = [:]
    var secrets: Set<String> = []
    var next = list
    while let keyword = next.pointee.keyword.map({ String(cString: $0) }) {
      if let display = next.pointee.display, String(cString: display) == "*" {
        secrets.insert(keyword)
      }
      if let value = next.pointee.value { keywords[keyword] = String(cString: value) }
      next += 1
    }
    return (keywords, secrets)
  }

  /// The password in a systemd credential; nil where none is named, and there is none of the usual name.
  private static func password(
    from named: String?, _ environment: [String: String]
  ) throws -> String? {
    let credential = named ?? passwordCredential
    func missing() throws -> String? {
      if named == nil { return nil }
      throw CoreDataError(
        .persistentStoreOpen,
        "There is no systemd credential \"\(credential)\", which is to hold the password; give the "
          + "unit LoadCredential=\(credential):FILE, and restart it.")
    }
    guard !credential.isEmpty, !credential.contains("/"), credential != "..", credential != "."
    else {
      throw CoreDataError(
        .persistentStoreOpen,
        "\"\(credential)\" is no name of a systemd credential; write the name that stands before the "
          + "colon in LoadCredential=.")
    }
    guard let folder = environment["CREDENTIALS_DIRECTORY"], !folder.isEmpty else {
      return try missing()
    }
    let path = "\(folder)/\(credential)"
    guard FileManager.default.fileExists(atPath: path) else { return try missing() }
    guard let data = FileManager.default.contents(atPath: path),
      let text = String(data: data, encoding: .utf8), !text.utf8.contains(0)
    else {
      throw CoreDataError(
        .persistentStoreOpen,
        "The password in the credential \(path) cannot be read; it has to be one line of UTF-8 text.",
        userInfo: [NSFilePathErrorKey: path])
    }
    // Editors end the last line.
    return text.hasSuffix("\r\n") || text.hasSuffix("\n") ? String(text.dropLast()) : text
  }

  /// How the kernel finds out that the other side is gone: after how many seconds of silence it asks, how often and how
  /// many times; and after how many milliseconds it takes what is not received for lost.
  static let keepalivesIdle = 30
  static let keepalivesInterval = 10
  static let keepalivesCount = 3
  static let userTimeout = 60_000

  /// The keywords and values that libpq connects with.
  var parameters: [(keyword: String, value: String)] {
    var all = keywords
    all["client_encoding"] = "UTF8"
    if all["fallback_application_name"] == nil { all["fallback_application_name"] = "cairn" }
    let seconds = max(2, Int(connectTimeout.wholeSecondsRoundedUp))
    // Zero, libpq's default, waits for ever.
    if let given = all["connect_timeout"] {
      if (Int(given) ?? 0) <= 0 { all["connect_timeout"] = String(seconds) }
    } else if !environment.contains("PGCONNECT_TIMEOUT") {
      all["connect_timeout"] = String(seconds)
    }
    // The kernel's own defaults notice a network that is gone after two hours.
    for (keyword, value) in [
      ("keepalives_idle", Self.keepalivesIdle), ("keepalives_interval", Self.keepalivesInterval),
      ("keepalives_count", Self.keepalivesCount), ("tcp_user_timeout", Self.userTimeout),
    ] where all[keyword] == nil { all[keyword] = String(value) }
    return all.sorted { $0.key < $1.key }.map { ($0.key, $0.value) }
  }

  /// How long to wait for the answer to one statement; nil for as long as the server works.
  var answerTimeout: Duration? { statementTimeout.map { $0 + networkPatience } }

  /// Whether the text itself has a password, which is shown with the text.
  package let hasSecretInText: Bool

  /// A text with every secret of these settings taken out.
  package func redacted(_ text: String) -> String {
    var text = text
    for keyword in secretKeywords {
      guard let secret = keywords[keyword], !secret.isEmpty else { continue }
      text = text.replacingOccurrences(of: secret, with: "***")
    }
    return text
  }

  /// The database and its host without secrets, for messages.
  package var description: String {
    if let service = keywords["service"] { return "the PostgreSQL service \(service)" }
    let database = keywords["dbname"] ?? keywords["user"] ?? "the user's"
    let host = keywords["host"] ?? keywords["hostaddr"] ?? "this machine"
    return redacted("the PostgreSQL database \(database) on \(host)")
  }

  package var customMirror: Mirror { Mirror(self, children: [], displayStyle: .struct) }
}

extension Duration {
  /// Whole milliseconds as PostgreSQL's settings have them: at least one, since zero means no limit there.
  var milliseconds: Int64 { Int64(max(1, (inSeconds * 1000).rounded(.up))) }
  fileprivate var wholeSecondsRoundedUp: Int64 { Int64(inSeconds.rounded(.up)) }
}
