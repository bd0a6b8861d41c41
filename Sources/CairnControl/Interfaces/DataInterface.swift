// The description of io.cairn.Data.

extension InterfaceDescription {
  /// Records of the local store.
  public static let data = InterfaceDescription(
    text: """
      # Records. Values on the wire: integers beyond 2^53 and decimals as strings, dates as ISO 8601
      # with fraction and Z, binary as base64, UUIDs as text, references as record IDs, and the
      # numbers JSON lacks as "NaN", "Infinity" and "-Infinity".
      interface io.cairn.Data

      type Attribute (
        name: string,
        type: string,
        isOptional: bool,
        isTransient: bool,
        defaultValue: ?object
      )

      type Relationship (
        name: string,
        destination: string,
        inverse: ?string,
        isToMany: bool,
        isOrdered: bool,
        isOptional: bool,
        deleteRule: string
      )

      type Entity (
        name: string,
        isAbstract: bool,
        superentity: ?string,
        attributes: []Attribute,
        relationships: []Relationship,
        uniqueness: [][]string,
        versionHash: ?string
      )

      type Model (name: string, versions: []string, entities: []Entity)

      # A label is a name for references within the same call: "#label" as a relationship's value.
      type Insert (entity: string, values: [string]object, label: ?string)

      type Update (entity: string, id: string, values: [string]object)

      type Delete (entity: string, id: string)

      type ValidationProblem (
        entity: string,
        record: ?string,
        property: ?string,
        code: string,
        reason: string
      )

      # The shape of the data. Role: status.
      method GetModel() -> (model: Model)

      # Read records. Needs more: rows come in batches, the names of their members with the first.
      # The predicate is in Core Data's format language; sort keys have a "-" in front for
      # descending order. Role: status.
      method Fetch(
        entity: string,
        predicate: ?string,
        sort: ?[]string,
        properties: ?[]string,
        limit: ?int,
        offset: ?int,
        store: ?string
      ) -> (properties: ?[]string, rows: [][string]object)

      # Save one atomic set of changes. Answers the record IDs of the inserts. Role: control.
      method Save(
        inserts: ?[]Insert,
        updates: ?[]Update,
        deletes: ?[]Delete,
        author: ?string
      ) -> (inserted: []string, updated: int, deleted: int)

      # Take one batch of rows, as one transaction. A longer import is a series of calls on one
      # connection. lines holds the line of each row in its file, for messages. Rows whose key
      # properties are found update that record. A relationship's value may be an object of
      # attribute values that names the destination. Role: control.
      method Import(
        entity: string,
        rows: [][string]object,
        lines: []int,
        key: ?[]string,
        createMissing: ?bool,
        author: ?string
      ) -> (inserted: int, updated: int, unchanged: int, created: int)

      # position counts characters of text, from 0.
      error InvalidPredicate (text: string, position: int, reason: string)

      error UnknownEntity (entity: string)

      error UnknownProperty (entity: string, property: string)

      error InvalidValue (entity: string, property: string, reason: string)

      error RecordNotFound (entity: string, id: string)

      error ValidationFailed (problems: []ValidationProblem)

      # Others changed the same records meanwhile. Nothing was saved.
      error SaveConflict (records: []string)

      # The row on that line cannot be taken. Nothing of its batch was saved.
      error ImportFailed (line: int, reason: string)

      error LimitExceeded (limit: int, reason: string)
      """)
}
