import CairnModel
import CairnSQL
import CairnStore
import Foundation

/// The statements of a migration plan, which are SQLite's, in PostgreSQL's words.
///
/// They speak of tables and columns by the names of SQLite stores. Temporary views have those columns, under short names of
/// their own, so that each statement is the same rule for both kinds of store.
struct MigrationWords {
  /// Short names by SQLite's, of tables and columns alike.
  private var names: [String: String] = [:]

  private mutating func name(_ sqlName: String) -> String {
    if let known = names[sqlName] { return known }
    let name = "cairn_m\(names.count)"
    names[sqlName] = name
    return name
  }

  /// Makes a view.
  ///
  /// - Parameters:
  ///   - sqlName: What the plan calls the table.
  ///   - place: The table in statements.
  mutating func creation(
    of sqlName: String, over place: String, _ table: PostgreSQLTable
  ) -> String {
    let columns = table.columns.compactMap { column -> String? in
      column.sqlName.map { "\(SQLText.name(column.name)) AS \(name($0))" }
    }
    return
      "CREATE TEMPORARY VIEW \(name(sqlName)) AS SELECT \(columns.joined(separator: ", ")) FROM \(place)"
  }

  /// The views' names.
  func views(of tables: [String]) -> [String] { tables.compactMap { names[$0] } }

  func statement(_ fragment: SQLFragment) throws -> Statement {
    var parameters = ParameterList()
    for value in fragment.bindings { try Self.append(value, to: &parameters) }
    return Statement(translation(of: fragment.sql), parameters, isKept: false)
  }

  func translation(of sql: String) -> String {
    var result = ""
    var word = ""
    var parameter = 0
    func end() {
      switch word {
      case "IFNULL": result += "coalesce"
      // No data is in files here.
      case SQLFunctionName.tag, SQLFunctionName.untag: break
      default: result += names[word] ?? word
      }
      word = ""
    }
    for character in sql {
      if character.isLetter || character.isNumber || character == "_" {
        word.append(character)
        continue
      }
      end()
      if character == "?" {
        parameter += 1
        result += "$\(parameter)"
      } else {
        result.append(character)
      }
    }
    end()
    result = Self.groups(in: result)
    let ignoring = "INSERT OR IGNORE INTO"
    guard result.hasPrefix(ignoring) else { return result }
    return "INSERT INTO" + result.dropFirst(ignoring.count) + " ON CONFLICT DO NOTHING"
  }

  /// SQLite gives of a group the position in the row with the greatest owner; the server wants to be told which.
  private static func groups(in sql: String) -> String {
    sql.replacing(/MAX\(([^()]+)\) AS o, ([^ ]+) AS p FROM/) { match in
      "MAX(\(match.output.1)) AS o, (array_agg(\(match.output.2) ORDER BY \(match.output.1) DESC))[1] AS p FROM"
    }
  }

  private static func append(_ value: AttributeValue, to parameters: inout ParameterList) throws {
    let form: ValueForm
    switch value {
    case .null, .string, .object: form = .text
    case .boolean: form = .boolean
    case .integer: form = .integer
    case .float: form = .real
    case .double: form = .double
    case .decimal: form = .numeric
    case .date(let date):
      // In one column: the other one is computed from it.
      guard let stored = StoredDate(date) else { return parameters.appendNull(.timestamp) }
      parameters.begin(.timestamp)
      parameters.writer.append(stored.microseconds)
      parameters.end()
      return
    case .data: form = .bytes
    case .uuid: form = .uuid
    case .url: form = .url
    }
    try form.append(value, to: &parameters)
  }
}
