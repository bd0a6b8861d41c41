/// One change that an operator has sync make, in terms of records.
enum OperatorEdit: Hashable, Sendable {
  /// Gives an attribute or a to-one relationship a value.
  case set(RecordID, property: String, WireValue)
  /// Adds or removes a link.
  case link(LinkKey, isMember: Bool)
  /// Gives a member of an ordered relationship its place among the others.
  case place(owner: RecordID, relationship: String, member: RecordID, PositionKey)
  case delete(RecordID)
  /// Brings a deleted record back, with what is known of it.
  case revive(RecordID, entity: String, values: [String: WireValue])
}

/// What an operator's save is to do, decided from what the store holds.
struct OperatorDecision: Sendable {
  var edits: [OperatorEdit] = []
  /// What the journal remembers of the values that go.
  var journal: [Conflict] = []
}
