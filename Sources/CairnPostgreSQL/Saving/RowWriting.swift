import CairnModel
import CairnSQL
import CairnStore

/// Writes the slots of an entity's rows into columns.
struct RowWriting {
  /// As statements name them.
  let columns: [String]
  let types: [PostgreSQLType]
  private let places: [(slot: Int, place: RowShape.Place, folding: Folding?)]
  /// The slots whose values may be NaN, which is kept as NULL.
  private let numberSlots: [Int]

  /// What a derived attribute is that folds another one's text.
  private struct Folding {
    let source: Int
    let fold: @Sendable (String) -> String

    init?(_ slot: Int, of entity: SQLEntity, in schema: SQLSchema) {
      guard
        let attribute = entity.layout.slots[slot].attribute as? DerivedAttributeDescription,
        case .folded(let function, let column)? = SQLDerivation(
          attribute, of: entity, schema: schema),
        let fold = SQLFolding.fold(function),
        let source = entity.slots.firstIndex(where: { $0.column == column })
      else { return nil }
      self.source = source
      self.fold = fold
    }

    func value(in row: RowSnapshot) -> AttributeValue {
      guard case .string(let text) = row[source] else { return .null }
      return .string(fold(text))
    }
  }

  /// Derived attributes are the server's to compute, but for those that fold text: they go with what they fold.
  ///
  /// - Parameter slots: nil for all.
  init(content: StoreContent, entity: SQLEntity, slots: [Int]? = nil) {
    let shape = content.shapes.shape(of: entity, includesSubentities: false)
    let all = shape.places(of: entity.number) ?? []
    var (columns, types): ([String], [PostgreSQLType]) = ([], [])
    var places: [(Int, RowShape.Place, Folding?)] = []
    var foldings: [Int: Folding] = [:]
    for slot in entity.derivedSlots {
      foldings[slot] = Folding(slot, of: entity, in: content.schema.sql)
    }
    let given = Set(slots ?? Array(all.indices)).subtracting(entity.derivedSlots)
    let derived = foldings.filter { given.contains($0.value.source) }.keys
    for slot in given.union(derived).sorted() where all.indices.contains(slot) {
      let used: [Int]
      switch all[slot] {
      case .transient: continue
      case .value(let form, let column): used = form.types.indices.map { column + $0 }
      case .toOne(let column, let companion, _): used = [column] + (companion.map { [$0] } ?? [])
      }
      columns += used.map { shape.columns[$0] }
      types += used.map { shape.types[$0] }
      places.append((slot, all[slot], foldings[slot]))
    }
    self.columns = columns
    self.types = types
    self.places = places
    numberSlots = places.compactMap { slot, place, _ in
      guard case .value(let form, _) = place else { return nil }
      switch form {
      case .real, .double, .numeric, .date: return slot
      case .integer, .boolean, .text, .url, .uuid, .bytes, .key: return nil
      }
    }
  }

  /// Adds the values of a row, one a column.
  func append(_ row: RowSnapshot, to sink: inout some ValueSink) throws {
    for (slot, place, folding) in places {
      let value = folding?.value(in: row) ?? row[slot]
      switch place {
      case .transient: continue
      case .value(let form, _): try form.append(value, to: &sink)
      case .toOne(_, let companion, _):
        try ValueForm.key.append(value, to: &sink)
        if companion == nil { continue }
        guard case .object(let id) = value else {
          sink.appendNull(.integer)
          continue
        }
        sink.begin(.integer)
        sink.writer.append(Int32(clamping: id.entity.layout.number))
        sink.end()
      }
    }
  }

  /// The row as it will be read back.
  func stored(_ row: RowSnapshot, version: Int64) -> RowSnapshot {
    let isWhole = places.count == row.count && !numberSlots.contains { row[$0].isNaN }
    if isWhole, row.version == version { return row }
    if isWhole {
      return .make(objectID: row.objectID, version: version, count: row.count) {
        $0.initialize(from: row.slots, count: row.count)
      }
    }
    var values = [AttributeValue](repeating: .null, count: row.count)
    for (slot, _, _) in places where !row[slot].isNaN { values[slot] = row[slot] }
    return .make(objectID: row.objectID, version: version, values: values)
  }
}

/// Spreads the values of rows over arrays, one a column.
struct ColumnArrays: ValueSink {
  private var arrays: [ArrayValue]
  private var next = 0

  init(_ types: [PostgreSQLType]) { arrays = types.map { ArrayValue(of: $0) } }

  var byteCount: Int { arrays.reduce(0) { $0 + $1.byteCount } }

  var writer: BinaryWriter {
    get { arrays[next].writer }
    _modify { yield &arrays[next].writer }
  }

  mutating func begin(_ type: PostgreSQLType) { arrays[next].begin(type) }

  mutating func end() {
    arrays[next].end()
    advance()
  }

  mutating func appendNull(_ type: PostgreSQLType) {
    arrays[next].appendNull(type)
    advance()
  }

  /// Begins anew, in the same memory.
  mutating func removeAll() {
    for index in arrays.indices { arrays[index].removeAll() }
    next = 0
  }

  private mutating func advance() { next = next + 1 == arrays.count ? 0 : next + 1 }

  func append(to parameters: inout ParameterList) {
    for array in arrays { parameters.append(array) }
  }
}
