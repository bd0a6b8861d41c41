import CairnCoordinator
import CairnModel
import CairnStore
import Foundation

/// Looks at what lies where a replica is to be, before anything opens it: only what can be one is
/// opened, so that nothing else hangs the link or is written to.
package struct ReplicaInspection: Sendable {
  /// Another store of the group, whose file is no replica again.
  struct Neighbour: Sendable {
    let name: String
    let url: URL?
    /// Nil while it is not open.
    let identifier: String?
    var isLocal = false
  }

  let coordinator: PersistentStoreCoordinator
  let configuration: ReplicaConfiguration
  let neighbours: [Neighbour]
  /// The UUID that the replica had when it was open before, also before a restart; nil for one that never was.
  let expectedIdentifier: String?
  /// How long to look for damage that only reading all of the file shows.
  var patience: Duration
  /// The versions that the local store has left by migration: they are older than the group's.
  var olderVersions = LeftVersions(in: [:])

  /// The version of a store that has all of the group's.
  struct OtherVersion: Sendable {
    let model: ManagedObjectModel
    /// Whether the group's has all of it, too, and is newer: the store is brought to that where it can be.
    let isOlder: Bool
  }

  private var url: URL { configuration.url }

  /// - Returns: The store's version, if that is another one and has all of the group's; nil otherwise, and
  ///   where there is nothing yet.
  /// - Throws: ``SyncError``, with who has to do something, or what reading the file throws.
  func run() throws -> OtherVersion? {
    guard let kind = try? coordinator.kind(ofType: configuration.type) else { return nil }
    let rivals = url.isFileURL ? namesakes() : []
    if url.isFileURL {
      guard let place = Place(of: url) else {
        if let rival = rivals.first { throw Self.isFile(of: rival, url) }
        try checkIsNotMissing()
        return nil
      }
      try check(place, rivals)
      if kind.fileChecking?.isMountPoint(url) == true {
        throw SyncError(
          .duplicateReplica, "\(url.path) \(Self.textOfMountPoint)", recovery: .person)
      }
    }
    var dictionary = configuration.options.mapValues { $0.object as Any }
    dictionary[StoreOptionKey.timeout] = NSNumber(value: configuration.timeout)
    let options = StoreOptions(dictionary)
    // First: to read the metadata leaves a log beside the file where that is damaged.
    try checkIsWhole(kind, options)
    let metadata = try kind.metadata(at: url, options: options)
    guard let identifier = metadata[StoreMetadataKey.uuid] as? String else {
      if let rival = rivals.first { throw Self.isFile(of: rival, url) }
      if !url.isFileURL { try checkIsNotMissing() }
      return nil
    }
    try checkIsOwn(identifier, rivals)
    try checkIdentity(identifier)
    return try otherVersion(kind, metadata, options)
  }

  // MARK: The file

  private func checkIsWhole(_ kind: any StoreKind, _ options: StoreOptions) throws {
    guard
      let damage = try kind.fileChecking?.damage(
        at: url, options: options, within: patience)
    else { return }
    let finding =
      damage.contains(url.path)
      ? damage : "\(url.path) is damaged: \(damage). Restore a copy of it."
    throw SyncError(
      .storeDamaged, "\(finding) Or give the path of another file: a new one is filled from here",
      recovery: .wait)
  }

  private func checkIsNotMissing() throws {
    guard expectedIdentifier != nil else { return }
    let finding =
      url.isFileURL
      ? "was removed or moved away, or its disk is not mounted; put it back"
      : "has no store any more; restore the database"
    throw SyncError(
      .storeUnavailable,
      "\(url.storePlace) \(finding), or remove the replica and add it again to have it made anew",
      recovery: .wait)
  }

  /// The other stores of the group whose paths lead to the same file, also to one that is still to be made.
  private func namesakes() -> [Neighbour] {
    guard let identity = FileIdentity(ofFileAt: url.path) else { return [] }
    return neighbours.filter { neighbour in
      guard let other = neighbour.url, other.isFileURL else { return false }
      return FileIdentity(ofFileAt: other.path) == identity
    }
  }

  private static func isFile(of rival: Neighbour, _ url: URL) -> SyncError {
    SyncError(
      rival.isLocal ? .sameStore : .duplicateReplica,
      FileIdentity.text(url.path, isFileOf: words(rival)) + "; give the path of a file of its own",
      recovery: .person)
  }

  /// Whether a file to which other paths lead, too, is the one that this replica had: of two paths that have come to
  /// be one while no engine looked, the link goes on whose store it is, and the other says what is wrong.
  ///
  /// SQLite follows links, so that what it keeps beside the file is the same by either path.
  private func checkIsOwn(_ identifier: String, _ rivals: [Neighbour]) throws {
    func isSame(_ other: String?) -> Bool {
      other?.caseInsensitiveCompare(identifier) == .orderedSame
    }
    if isSame(expectedIdentifier), !rivals.contains(where: { isSame($0.identifier) }) { return }
    if let rival = rivals.first { throw Self.isFile(of: rival, url) }
  }

  private func check(_ place: Place, _ rivals: [Neighbour]) throws {
    if let local = rivals.first(where: \.isLocal) { throw Self.isFile(of: local, url) }
    // One that was never open has no claim to a file.
    if expectedIdentifier == nil, let rival = rivals.first { throw Self.isFile(of: rival, url) }
    if place.type == .typeSymbolicLink {
      throw SyncError(
        .notAStore,
        "\(url.path) is a link that leads nowhere; mount the disk that it leads to, or give the path of a "
          + "file, which may be a new one", recovery: .wait)
    }
    guard place.type == .typeRegular else {
      throw SyncError(
        .notAStore,
        "\(url.path) is \(place.words); give the path of a file, which may be a new one",
        recovery: .person)
    }
    if let names = place.names, names > 1 {
      let other = rivals.first.flatMap { rival in rival.url.map { (rival, $0.path) } }
      throw SyncError(
        .duplicateReplica,
        other.map { Self.textOfNames(names, url.path, $1, Self.words($0)) }
          ?? Self.textOfNames(names, url.path), recovery: .person)
    }
  }

  /// SQLite keeps what it has not written yet under the name by which a file was opened: two who open it under
  /// two names destroy it.
  static func textOfNames(_ count: Int, _ path: String) -> String {
    "\(path) has \(count) names (hard links), and another program may use it under one of them; remove the "
      + "others (find -samefile), or copy the file"
  }

  /// The same where one of the others is known.
  private static func textOfNames(
    _ count: Int, _ path: String, _ other: String, _ owner: String
  ) -> String {
    "\(path) and \(other) of \(owner) are one file with \(count) names (hard links), and programs that use it "
      + "under two of them destroy it; remove all but one (the file stays), or copy the file"
  }

  /// What is wrong with a file that is a mount point, in words that follow its path.
  package static let textOfMountPoint =
    "is a mount point by itself, a second name of a file whose other files lie elsewhere: programs that use it "
    + "under both names destroy it; mount its folder instead"

  /// What lies under a name, links followed.
  private struct Place {
    let type: FileAttributeType?
    /// How many names the file has.
    let names: Int?

    /// For people, of what is no regular file.
    var words: String {
      switch type {
      case .typeDirectory: "a folder"
      default: "a device, a pipe or a socket"
      }
    }

    /// Nil when there is nothing, or nothing that can be looked at.
    init?(of url: URL) {
      let path = url.resolvingSymlinksInPath().path
      guard let facts = try? FileManager.default.attributesOfItem(atPath: path) else { return nil }
      type = facts[.type] as? FileAttributeType
      names = (facts[.referenceCount] as? NSNumber)?.intValue
    }
  }

  private static func words(_ neighbour: Neighbour) -> String {
    neighbour.isLocal ? "the local store" : "the replica \(neighbour.name)"
  }

  // MARK: The store

  private func checkIdentity(_ identifier: String) throws {
    func isSame(_ other: String) -> Bool {
      identifier.caseInsensitiveCompare(other) == .orderedSame
    }
    for neighbour in neighbours where neighbour.identifier.map(isSame) == true {
      if let expectedIdentifier, !isSame(expectedIdentifier) {
        throw SyncError(
          neighbour.isLocal ? .sameStore : .duplicateReplica,
          "\(url.storePlace) is the store of \(Self.words(neighbour)) now, or a copy of it, and not that of this "
            + "replica; put the files of both back in their places", recovery: .person)
      }
      throw SyncError(
        neighbour.isLocal ? .sameStore : .duplicateReplica,
        "\(url.storePlace) is a copy of \(Self.words(neighbour)), with the same UUID; remove it and "
          + "add an empty replica", recovery: .person)
    }
    if let expectedIdentifier, !isSame(expectedIdentifier) {
      throw SyncError(
        .anotherStore,
        "\(url.storePlace) is another store now (\(identifier)) than the replica was "
          + "(\(expectedIdentifier)); put the replica's file back, or remove the replica and add it "
          + "again to join the two", recovery: .person)
    }
  }

  private func otherVersion(
    _ kind: any StoreKind, _ metadata: [String: Any], _ options: StoreOptions
  ) throws -> OtherVersion? {
    let model = coordinator.managedObjectModel
    guard !model.isConfiguration(withName: nil, compatibleWithStoreMetadata: metadata),
      let type = kind.storeClass.inPlaceMigration,
      let stored = try storedModel(type, options), (try? stored.prepareForUse()) != nil,
      let schema = try? SyncSchema(model: model, defaultPolicy: .lastWriter, policies: [:])
    else { return nil }
    guard stored.isConfiguration(withName: nil, compatibleWithStoreMetadata: metadata) else {
      try checkIsNotBeingMigrated(kind, metadata, options)
      return nil
    }
    let difference = ModelDifference(from: stored, to: model)
    let loss = MigrationLoss(difference)
    let isLossless = difference.isInferable && loss.isEmpty
    let wasLeft = LeftVersions(in: metadata).contains(model)
    if schema.isContained(in: stored) {
      return OtherVersion(
        model: stored, isOlder: isLossless && !wasLeft && olderVersions.contains(stored))
    }
    if isLossless {
      // Programs of a version that this one has all of go on with the store; others would bring it back.
      if !wasLeft || Self.isContained(stored, in: model) { return nil }
      throw SyncError(
        .modelChanged,
        "The store at \(url.storePlace) was of this version of the model before, and another program has "
          + "brought it to another one. Run with that one, or bring it back with `cairnctl store migrate "
          + "\(configuration.name)`.", recovery: .person)
    }
    throw incompatibility(loss)
  }

  private static func isContained(
    _ stored: ManagedObjectModel, in model: ManagedObjectModel
  ) -> Bool {
    let schema = try? SyncSchema(model: stored, defaultPolicy: .lastWriter, policies: [:])
    return schema?.isContained(in: model) ?? false
  }

  private func incompatibility(_ loss: MigrationLoss) -> SyncError {
    func list(_ names: [String]) -> String {
      names.prefix(8).joined(separator: ", ") + (names.count > 8 ? " and more" : "")
    }
    let lost = loss.names + loss.orders.map { "the order of \($0)" }
    let reason =
      !lost.isEmpty
      ? "with \(list(lost)), which this one lacks. "
      : loss.uncertain.isEmpty
        ? "which cannot be brought to this one. "
        : "in which something else may have the name \(list(loss.uncertain)), as a renaming identifier says. "
    return SyncError(
      .incompatibleModel,
      "The store at \(url.storePlace) is of another model, \(reason)"
        + "Give a file of its own, or run with a version of the model that has all of both.",
      recovery: .person)
  }

  /// The model that the store keeps of itself; nil where no model can be made of it, which the opening reports: it comes
  /// out of a file that others write, and is not to be compared.
  ///
  /// - Throws: What says nothing of the model, such as that another program keeps the store locked, or that the
  ///   connection ended: the link looks again.
  private func storedModel(
    _ type: any InPlaceMigrating.Type, _ options: StoreOptions
  ) throws -> ManagedObjectModel? {
    do {
      return try type.cachedModel(at: url, options: options)
    } catch let error as CoreDataError where error.code == .migrationMissingSourceModel {
      return nil
    } catch is ModelFileError {
      return nil
    }
  }

  /// The metadata and the model are read one after the other, and another daemon may have migrated the store in between.
  private func checkIsNotBeingMigrated(
    _ kind: any StoreKind, _ metadata: [String: Any], _ options: StoreOptions
  ) throws {
    func hashes(_ metadata: [String: Any]) -> [String: Data]? {
      metadata[StoreMetadataKey.versionHashes] as? [String: Data]
    }
    if hashes(try kind.metadata(at: url, options: options)) == hashes(metadata) { return }
    throw SyncError(
      .storeLocked,
      "\(url.storePlace) has just been brought to another model by another program; it is looked at "
        + "again", recovery: .wait)
  }
}

extension PersistentStore {
  /// How many names the store's file has, where it is more than one.
  var severalFileNames: Int? {
    capabilities.place?.fileNames.flatMap { $0 > 1 ? $0 : nil }
  }
}
