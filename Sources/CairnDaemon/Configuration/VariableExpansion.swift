// Fills ${NAME} in configuration values from the environment.
import CairnControl

/// Expands `${NAME}` from a fixed list of variables that systemd sets, with defaults outside of it.
struct VariableExpansion: Sendable {
  /// A `${…}` that cannot be filled.
  struct Failure: Error, Sendable {
    let problem: String
    let remedy: String
  }

  /// What stands in for a variable that is not set, and all that may be used.
  static let defaults: [String: String] = [
    "STATE_DIRECTORY": "/var/lib/cairn",
    "RUNTIME_DIRECTORY": "/run/cairnd",
    "CACHE_DIRECTORY": "/var/cache/cairn",
    "LOGS_DIRECTORY": "/var/log/cairn",
    "CONFIGURATION_DIRECTORY": "/etc/cairn",
  ]
  /// Where systemd puts the files of `LoadCredential=`; there is no such place without it.
  private static let credentials = "CREDENTIALS_DIRECTORY"

  let environment: [String: String]

  /// The text with every variable filled in; `$$` stands for a dollar sign.
  func expand(_ text: String) throws(Failure) -> String {
    var result = ""
    var rest = Substring(text)
    while let dollar = rest.firstIndex(of: "$") {
      result += rest[..<dollar]
      rest = rest[rest.index(after: dollar)...]
      if rest.first == "$" {
        result.append("$")
        rest = rest.dropFirst()
      } else if rest.first == "{" {
        guard let end = rest.firstIndex(of: "}") else {
          throw Failure(
            problem: "a \"${\" has no \"}\"", remedy: "close it, or write $$ for a dollar")
        }
        result += try value(of: String(rest[rest.index(after: rest.startIndex)..<end]))
        rest = rest[rest.index(after: end)...]
      } else {
        throw Failure(
          problem: "a \"$\" without a variable", remedy: "write ${NAME}, or $$ for a dollar sign")
      }
    }
    return result + rest
  }

  private func value(of name: String) throws(Failure) -> String {
    if name == Self.credentials {
      if let given = environment[name], !given.isEmpty { return given }
      throw Failure(
        problem: "this process has no credentials for ${\(name)}",
        remedy: "give the unit a LoadCredential=ID:FILE, and restart")
    }
    guard let fallback = Self.defaults[name] else {
      let known = (Self.defaults.keys + [Self.credentials]).sorted()
      let guess = NearestName.find(name, among: known).map { "did you mean ${\($0)}?" }
      throw Failure(
        problem: "there is no variable ${\(name)}",
        remedy: guess ?? "known are \(known.joined(separator: ", "))")
    }
    return Self.folder(name, in: environment) ?? fallback
  }

  /// The folder that systemd gives in a variable; nil outside of a unit.
  static func folder(_ name: String, in environment: [String: String]) -> String? {
    // A colon list when a unit has several; the first is ours.
    environment[name]?.split(separator: ":").first.map(String.init)
  }
}
