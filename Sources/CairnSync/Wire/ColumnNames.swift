/// The names of an entity's columns in their order, which the values of its rows and the registers of its
/// records share.
///
/// Names are looked up once for all rows; between stores they are compared.
public final class ColumnNames: Sendable {
  public let names: [String]
  private let places: [String: Int]
  /// What a migration fills in, of the columns that have a default.
  private let defaults: [Int: WireValue]

  /// Those of an entity of which nothing is known.
  static let none = ColumnNames([])

  public convenience init(_ names: [String]) { self.init(names, defaults: [:]) }

  init(_ names: [String], defaults: [Int: WireValue]) {
    self.names = names
    self.defaults = defaults
    places = Dictionary(
      names.enumerated().map { ($1, $0) }, uniquingKeysWith: { first, _ in first })
  }

  func place(of name: String) -> Int? { places[name] }

  /// Whether a row that shows this value in a column may have been given it by no writer.
  func isUnwritten(_ value: WireValue, at place: Int) -> Bool {
    value == .null || defaults[place] == value
  }

  func isSame(as other: ColumnNames) -> Bool { self === other || names == other.names }
}

/// The values of one row by column, references by record ID.
struct RowValues: Sendable {
  let columns: ColumnNames
  /// By column; nil where the row tells nothing.
  var values: [WireValue?]

  init(_ columns: ColumnNames, _ values: [WireValue?]) {
    self.columns = columns
    self.values = values
  }

  subscript(name: String) -> WireValue? {
    get { columns.place(of: name).flatMap { values[$0] } }
    set { if let place = columns.place(of: name) { values[place] = newValue } }
  }

  /// The value of a column of `columns`.
  func value(_ place: Int, in columns: ColumnNames) -> WireValue? {
    self.columns === columns ? values[place] : self[columns.names[place]]
  }

  var byName: [String: WireValue] {
    var found: [String: WireValue] = [:]
    for (name, value) in zip(columns.names, values) { found[name] = value }
    return found
  }
}

extension RowValues: Hashable {
  static func == (a: RowValues, b: RowValues) -> Bool {
    a.columns.isSame(as: b.columns) ? a.values == b.values : a.byName == b.byName
  }

  func hash(into hasher: inout Hasher) { hasher.combine(byName) }
}
