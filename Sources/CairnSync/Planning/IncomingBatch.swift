/// What arrives at a destination at once.
struct IncomingBatch: Sendable {
  /// The store it comes from.
  let source: StoreID
  var records: [RecordState] = []
  var links: [LinkChange] = []
  /// Those of the records that the source does not have as they stand here.
  var completed: Set<RecordID> = []
  /// Whether the source has sent this now; false for what waited here, or is looked at once more.
  var isSent = true
  /// Records that an attempt was refused for, with the reason: they go into quarantine.
  var refused: [RecordID: String] = [:]
  /// Records that an attempt was refused for as they are here, with the reason: their links go into quarantine.
  var unchangeable: [RecordID: String] = [:]
  /// Whether more of what the source has done is still to come: then a record that did not come may be another
  /// there by now.
  var isPart = false
  /// Records of which the store may be able to show more now.
  var reconsidered: Set<RecordID> = []
  /// Whether it can because its model is a newer one now: what it shows then has not been gone.
  var isModelChange = false
  /// Whether what a delete takes goes into the journal although the deleter had seen it: when the record was
  /// deleted is not known, and a person may want it back.
  var journalsDeletes = false
}

/// The destination as its rules for all batches: the model, the policies and what time it is.
struct ImportSetting: Sendable {
  let schema: SyncSchema
  /// For records of entities that the model does not have.
  let defaultPolicy: DeleteConflictPolicy
  /// The entities that objects can be of in this store.
  let holdable: Set<String>
  let time: CredibleTime
  /// Milliseconds since 1970.
  let now: UInt64
  /// The destination in its stamps; nil for one that makes none.
  var store: StoreID?

  func policy(of state: RecordState) -> DeleteConflictPolicy {
    schema.entities[state.entity]?.policy ?? defaultPolicy
  }

  func isAlive(_ state: RecordState) -> Bool { state.isAlive(under: policy(of: state)) }
}
