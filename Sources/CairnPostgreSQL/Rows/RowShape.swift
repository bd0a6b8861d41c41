import CairnModel
import CairnSQL

/// Which columns a SELECT of objects names, and how the slots of each entity are read from them and written to them.
///
/// The first three columns are the number of the entity, the key and the version.
final class RowShape: Sendable {
  /// The columns of one slot.
  enum Place: Sendable {
    case transient
    /// In as many columns as the form has, from this one on.
    case value(ValueForm, column: Int)
    /// With the destination's entity, or the column that has its number.
    case toOne(column: Int, companion: Int?, destination: Int)
  }

  /// As statements name them, without a table.
  let columns: [String]
  let types: [PostgreSQLType]
  /// As statements name it.
  let table: String
  /// The slots of each entity that the rows may be of, by its number less the first one's; nil for others in between.
  private let places: [[Place]?]
  private let firstNumber: Int
  /// The statements that read the rows of keys, and of one, which is the first parameter.
  let selectionOfKeys: String
  let selectionOfKey: String
  /// The numbers of the entities; nil when the table has no others.
  let numbers: [Int64]?

  /// - Parameter members: The entities, all in one table.
  init(_ schema: PostgreSQLSchema, table sqlTable: String, members: [SQLEntity], isWhole: Bool) {
    var columns = ["Z_ENT", "Z_PK", "Z_OPT"].map { schema.column($0, ofTable: sqlTable) }
    var types: [PostgreSQLType] = [.integer, .bigint, .bigint]
    let table = schema.table(sqlName: sqlTable)
    var known: [String: Int] = [:]
    func index(of sqlName: String) -> Int {
      if let index = known[sqlName] { return index }
      let index = columns.count
      known[sqlName] = index
      guard let column = table?.column(sqlName: sqlName) else { return index }
      columns.append(SQLText.name(column.name))
      types.append(column.type)
      if let exact = table?.exactColumn(of: column) {
        columns.append(SQLText.name(exact.name))
        types.append(exact.type)
      }
      return index
    }
    var places: [Int: [Place]] = [:]
    for member in members {
      places[member.number] = member.slots.map { slot in
        switch slot {
        case .transient: return .transient
        case .attribute(let column, let type, _):
          guard let form = ValueForm(type) else { return .transient }
          return .value(form, column: index(of: column))
        case .toOne(let column, let companion, let destination):
          return .toOne(
            column: index(of: column), companion: companion.map(index), destination: destination)
        }
      }
    }
    let first = places.keys.min() ?? 0
    firstNumber = first
    self.places = (first...(places.keys.max() ?? first)).map { places[$0] }
    self.columns = columns
    self.types = types
    self.table = schema.place(ofTable: sqlTable)
    let selection =
      "SELECT \(columns.map { "t.\($0)" }.joined(separator: ", ")) FROM \(self.table) t "
      + "WHERE t.\(SQLText.name(PostgreSQLSchemaBuilder.identifier)) = "
    selectionOfKeys = selection + "ANY ($1)"
    selectionOfKey = selection + "$1"
    numbers = isWhole ? nil : members.map { Int64($0.number) }
  }

  /// The slots of an entity by its number; nil for one that the rows are not of.
  @inline(__always)
  func places(of number: Int) -> [Place]? {
    let index = number &- firstNumber
    return index >= 0 && index < places.count ? places[index] : nil
  }

  /// The columns in a SELECT from the table under an alias.
  func list(_ alias: String) -> String {
    columns.map { "\(alias).\($0)" }.joined(separator: ", ")
  }
}

/// The shapes of a store's rows.
struct RowShapes: Sendable {
  /// By entity number minus one: the entity alone, and with its subentities.
  private let shapes: [(alone: RowShape, all: RowShape)]

  init(_ schema: PostgreSQLSchema) {
    let entities = schema.sql.entities
    shapes = entities.map { entity in
      func shape(_ members: [SQLEntity], _ includesSubentities: Bool) -> RowShape {
        RowShape(
          schema, table: entity.table, members: members,
          isWhole: entity.coversTable(includingSubentities: includesSubentities))
      }
      let alone = shape([entity], false)
      if entity.subtree.count == 1 { return (alone, alone) }
      return (alone, shape(entity.subtree.map { entities[$0 - 1] }, true))
    }
  }

  func shape(of entity: SQLEntity, includesSubentities: Bool) -> RowShape {
    let pair = shapes[entity.number - 1]
    return includesSubentities ? pair.all : pair.alone
  }
}
