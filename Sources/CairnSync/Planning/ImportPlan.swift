/// All that one batch does to one destination, decided: what becomes of rows, links and orders, and
/// what is written down beside them.
///
/// A value; the importer, which applies it, decides nothing.
struct ImportPlan: Sendable {
  /// What becomes of one row.
  struct RowAction: Hashable, Sendable {
    enum Kind: Hashable, Sendable { case insert, update, delete }
    let id: RecordID
    let entity: String
    let kind: Kind
    /// The new values by the number of their column in the entity's plan, references by record ID.
    var values: [ColumnValue] = []
  }

  /// New rows of one entity that one write has filled, which show all there is of their records.
  struct NewRows: Hashable, Sendable {
    let entity: String
    let write: PropertyWrite
    /// In the order of their records.
    var rows: [NewRow]
  }

  struct NewRow: Hashable, Sendable {
    let id: RecordID
    /// By the number of the column, references by record ID.
    let values: [WireValue?]
  }

  struct ColumnValue: Hashable, Sendable {
    let column: Int
    let value: WireValue
    /// Whether the row holds what is no value of the column's: this one is written also where reading shows the same.
    var replacesStray = false
  }

  /// The members that one owner gets and loses in a relationship that travels as links.
  struct LinkAction: Hashable, Sendable {
    let relationship: String
    let owner: RecordID
    var added: [RecordID] = []
    var removed: [RecordID] = []
  }

  /// The members of an ordered relationship in their order.
  struct OrderAction: Hashable, Sendable {
    let owner: RecordID
    /// The owner's relationship by name.
    let relationship: String
    let members: [RecordID]
  }

  /// What the bookkeeping of one record becomes.
  struct RecordWrite: Hashable, Sendable {
    let id: RecordID
    /// Without the key of an object that the plan inserts.
    var entry: RecordEntry
    /// Whether others have to learn of it; otherwise it concerns this store alone.
    let isNews: Bool
    /// The store whose state of the record this one equals.
    var origin: StoreID?
  }

  struct LinkWrite: Hashable, Sendable {
    let key: LinkKey
    let state: LinkState
    var origin: StoreID?
  }

  /// A reference and the record that it waits for.
  struct Parking: Hashable, Sendable {
    let target: RecordID
    let reference: WaitingReference
  }

  var rows: [RowAction] = []
  /// Records that are inserted as they came, in place of actions and entries of their own; see ``expanded``.
  var newRows: [NewRows] = []
  /// The store whose state of these records the destination then equals.
  var newRowsOrigin: StoreID?
  var links: [LinkAction] = []
  var orders: [OrderAction] = []
  var records: [RecordWrite] = []
  var linkStates: [LinkWrite] = []
  /// What is forgotten because its states went over to the links of a survivor.
  var movedLinks: [LinkKey] = []
  var parked: [Parking] = []
  var unparked: [Parking] = []
  /// What goes into quarantine.
  var held: [(key: HeldKey, entry: QuarantineEntry)] = []
  /// What leaves quarantine.
  var released: [HeldKey] = []
  var conflicts: [Conflict] = []
  /// How many of them are between two values of one write.
  var contradictions = 0
  /// The greatest reading that the destination learns of and believes.
  var reading = ClockReading(bits: 0)
  /// The records whose rows the plan was made on.
  var read: [RecordID] = []
  /// For each record that the batch did not bring, one that it did and that is to blame for what
  /// becomes of it.
  var culprits: [RecordID: RecordID] = [:]

  /// How often planning has looked at a record because of another one.
  var looks = 0

  /// Whether other stores have to learn of anything.
  var hasNews: Bool {
    !newRows.isEmpty || records.contains(where: \.isNews) || !linkStates.isEmpty
  }

  /// How many records others have to learn of.
  var newsCount: Int {
    records.count(where: \.isNews) + newRows.reduce(0) { $0 + $1.rows.count }
  }
}
