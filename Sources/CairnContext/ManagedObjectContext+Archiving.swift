import Foundation

/// A context in an archive: the kind of its queue, its name and its settings, without objects.
///
/// Nothing that leads to a trap comes out of a file: not ``shouldDeleteInaccessibleFaults``, nor a
/// context of a thread, which no archive has.
extension ManagedObjectContext: NSCoding {
  enum ArchiveKey {
    static let concurrencyType = "concurrencyType"
    static let name = "name"
    static let transactionAuthor = "transactionAuthor"
    static let mergePolicyType = "mergePolicyType"
    static let stalenessInterval = "stalenessInterval"
    static let propagatesDeletesAtEndOfEvent = "propagatesDeletesAtEndOfEvent"
    static let retainsRegisteredObjects = "retainsRegisteredObjects"
  }

  /// Writes the kind of queue, the name and the settings; for a policy of the program's own its
  /// merge type.
  public func encode(with coder: NSCoder) {
    coder.encode(Int(concurrencyType.rawValue), forKey: ArchiveKey.concurrencyType)
    coder.encode(name.map { $0 as NSString }, forKey: ArchiveKey.name)
    coder.encode(transactionAuthor.map { $0 as NSString }, forKey: ArchiveKey.transactionAuthor)
    coder.encode(Int(policy.mergeType.rawValue), forKey: ArchiveKey.mergePolicyType)
    coder.encode(stalenessInterval, forKey: ArchiveKey.stalenessInterval)
    coder.encode(
      propagatesDeletesAtEndOfEvent, forKey: ArchiveKey.propagatesDeletesAtEndOfEvent)
    coder.encode(retainsRegisteredObjects, forKey: ArchiveKey.retainsRegisteredObjects)
  }

  /// The kind of queue in an archive, nil when it holds none.
  static func concurrencyType(in coder: NSCoder) -> ManagedObjectContextConcurrencyType? {
    guard coder.containsValue(forKey: ArchiveKey.concurrencyType) else { return nil }
    let kind = UInt(exactly: coder.decodeInteger(forKey: ArchiveKey.concurrencyType)).flatMap(
      ManagedObjectContextConcurrencyType.init)
    return kind == .confinementConcurrencyType ? nil : kind
  }

  final func takeSettings(from coder: NSCoder) {
    name = coder.decodeObject(of: NSString.self, forKey: ArchiveKey.name).map(String.init)
    transactionAuthor = coder.decodeObject(of: NSString.self, forKey: ArchiveKey.transactionAuthor)
      .map(String.init)
    let type = UInt(exactly: coder.decodeInteger(forKey: ArchiveKey.mergePolicyType))
    mergePolicy = MergePolicy(
      merge: type.flatMap(MergePolicyType.init) ?? .errorMergePolicyType)
    stalenessInterval = coder.decodeDouble(forKey: ArchiveKey.stalenessInterval)
    propagatesDeletesAtEndOfEvent = coder.decodeBool(
      forKey: ArchiveKey.propagatesDeletesAtEndOfEvent)
    retainsRegisteredObjects = coder.decodeBool(forKey: ArchiveKey.retainsRegisteredObjects)
  }
}
