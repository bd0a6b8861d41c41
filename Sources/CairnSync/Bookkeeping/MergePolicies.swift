import Foundation

/// What wins between deletes and writes, as one daemon is configured or as a store was merged.
///
/// A record that one daemon counts as deleted and another as alive would be there in some stores and not in others for
/// ever: all that merge a store go by the same.
struct MergePolicies: Hashable, Sendable {
  var standard: DeleteConflictPolicy
  /// By entity name; an entity's policy holds for its subentities, too.
  var byEntity: [String: DeleteConflictPolicy]

  init(_ configuration: SyncConfiguration) {
    standard = configuration.deleteConflicts
    byEntity = configuration.deleteConflictsByEntity
  }

  /// Whether both are the same for all entities of a model; what a newer model has besides is its daemons' business.
  func agrees(with other: MergePolicies, in schema: SyncSchema) -> Bool {
    if self == other { return true }
    return standard == other.standard
      && schema.entities.values.allSatisfy { policy(of: $0) == other.policy(of: $0) }
  }

  private func policy(of plan: SyncSchema.EntityPlan) -> DeleteConflictPolicy {
    let line = sequence(first: plan.entity, next: \.superentity)
    return line.lazy.compactMap { $0.name.flatMap { byEntity[$0] } }.first ?? standard
  }

  /// For people.
  var text: String {
    let entities = byEntity.sorted { $0.key < $1.key }.map { "\($0.key): \($0.value.rawValue)" }
    return (["default: \(standard.rawValue)"] + entities).joined(separator: ", ")
  }
}

/// By what policies a store was merged last, and how often they have changed.
struct PolicyRecord: Hashable, Sendable {
  var number: UInt64
  var policies: MergePolicies
  /// Those before the last change; nil for the first.
  var previous: MergePolicies?

  // Bytes: number 8 · policies · 0, or 1 and the previous ones; of policies: the standard one as a string, their
  // number, and of each the names of entity and policy
  var encoded: Data {
    var writer = ByteWriter()
    writer.fixed(number)
    policies.write(to: &writer)
    writer.byte(previous == nil ? 0 : 1)
    previous?.write(to: &writer)
    return writer.data
  }

  init(number: UInt64, policies: MergePolicies, previous: MergePolicies? = nil) {
    (self.number, self.policies, self.previous) = (number, policies, previous)
  }

  init(decoding data: Data) throws {
    var reader = ByteReader(data)
    number = try reader.fixed()
    policies = try MergePolicies(from: &reader)
    previous = try reader.byte() == 1 ? MergePolicies(from: &reader) : nil
  }
}

extension MergePolicies {
  fileprivate func write(to writer: inout ByteWriter) {
    writer.string(standard.rawValue)
    writer.count(byEntity.count)
    for (entity, policy) in byEntity.sorted(by: { $0.key < $1.key }) {
      writer.string(entity)
      writer.string(policy.rawValue)
    }
  }

  fileprivate init(from reader: inout ByteReader) throws {
    func policy(_ name: String) throws -> DeleteConflictPolicy {
      guard let policy = DeleteConflictPolicy(rawValue: name) else { throw ByteReader.damaged }
      return policy
    }
    standard = try policy(reader.string())
    byEntity = [:]
    for _ in 0..<(try reader.count()) {
      let entity = try reader.string()
      byEntity[entity] = try policy(reader.string())
    }
  }
}

extension StoreAccess {
  /// By what policies the store was merged last; nil for one that was not, or only by versions that kept no record.
  func policyRecord() throws -> PolicyRecord? {
    try ledger().policies.map(PolicyRecord.init(decoding:))
  }

  /// Notes that this daemon merges the store by other policies than before.
  ///
  /// - Returns: The record as it is now.
  fileprivate func takePolicies(_ own: MergePolicies) throws -> PolicyRecord {
    let known = try policyRecord()
    if let known, known.policies.agrees(with: own, in: schema) { return known }
    let record = PolicyRecord(
      number: (known?.number ?? 0) + 1, policies: own, previous: known?.policies)
    try keep(record.encoded, at: SyncKey.policies)
    return record
  }

  /// Takes care that all who merge the replica go by the same policies as this daemon.
  ///
  /// A change of the configuration goes to the replica with the first pass after it; daemons that go by the former
  /// ones find that and stop there, until they have the same.
  ///
  /// - Parameter mayWrite: Whether the link brings anything to the replica.
  /// - Throws: ``SyncError`` `policyDiffers`.
  func agreeOnPolicies(with replica: StoreAccess, mayWrite: Bool) throws {
    let own = MergePolicies(configuration)
    let mine = try takePolicies(own)
    guard let theirs = try replica.policyRecord() else {
      if mayWrite { try replica.keep(mine.encoded, at: SyncKey.policies) }
      return
    }
    if theirs.policies.agrees(with: own, in: schema) {
      // What is decided later is counted from there.
      if theirs.number > mine.number { try keep(theirs.encoded, at: SyncKey.policies) }
      return
    }
    let isChangedHere =
      mayWrite && mine.number > theirs.number
      && mine.previous.map { $0.agrees(with: theirs.policies, in: schema) } ?? false
    guard isChangedHere else {
      throw SyncError(
        .policyDiffers,
        "others merge \(replica.place) by sync.conflict {\(theirs.policies.text)}, and this daemon is to do so by "
          + "{\(own.text)}; give all daemons of a replica the same", recovery: .wait)
    }
    try replica.keep(mine.encoded, at: SyncKey.policies)
  }
}
