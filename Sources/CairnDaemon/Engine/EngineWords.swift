// Between the daemon's words and those of sync.

import Cairn
import CairnControl
import CairnRecords
import CairnStore
import CairnSync
import Foundation

extension ReplicaSection.Store {
  var kind: ReplicaSection.Kind {
    switch self {
    case .sqlite: .sqlite
    case .postgreSQL: .postgresql
    }
  }

  var url: URL {
    switch self {
    // Told that it is no folder, it does not look at the file, which may be on a mount that hangs.
    case .sqlite(let path): URL(fileURLWithPath: path, isDirectory: false)
    case .postgreSQL(let section): section.url
    }
  }

  /// The place, without how to get in there: two stores are not at one.
  var place: Self {
    switch self {
    case .sqlite: self
    case .postgreSQL(let section):
      (try? PostgreSQLSection(connection: section.connection, schema: section.schema)).map {
        .postgreSQL($0)
      } ?? self
    }
  }
}

extension ReplicaSection {
  /// The place for people: the path of the file, or how to reach the database.
  var location: String {
    switch store {
    case .sqlite(let path): path
    case .postgreSQL(let section): section.location
    }
  }

  /// The replica's file; nil for a database.
  var file: String? {
    if case .sqlite(let path) = store { path } else { nil }
  }

  /// Where it is for what looks at its version; with the name of the credential.
  var storeLocation: StoreLocation {
    let configuration = replicaConfiguration
    return StoreLocation(
      url: configuration.url, type: configuration.type,
      options: configuration.options.compactMapValues { option in
        if case .text(let text) = option { text } else { nil }
      })
  }

  var replicaConfiguration: ReplicaConfiguration {
    let (type, options): (String, [String: ReplicaConfiguration.OptionValue]) =
      switch store {
      case .sqlite: (PersistentStore.StoreType.sqlite.rawValue, [:])
      case .postgreSQL(let section):
        (PersistentStore.StoreType.postgreSQL.rawValue, section.options)
      }
    return ReplicaConfiguration(
      name: name, type: type, url: store.url, options: options,
      direction: SyncDirection(rawValue: direction.rawValue) ?? .both, entities: entities,
      migrates: migrates)
  }

  /// A replica that a caller asks for.
  ///
  /// - Throws: ``CairnControl/ControlError/storeInvalid(name:field:reason:)``.
  init(_ parameters: AddStore.Parameters, local: LocalSection) throws {
    func invalid(_ field: String, _ reason: String) -> ControlError {
      .storeInvalid(name: parameters.name, field: field, reason: reason)
    }
    guard Self.isValid(name: parameters.name) else {
      throw invalid(
        "name",
        "up to 64 letters, digits, \".\", \"_\" and \"-\" are possible; local and all are taken")
    }
    guard let kind = Kind(rawValue: parameters.type.lowercased()) else {
      let words = Kind.allCases.map(\.rawValue).joined(separator: " and ")
      throw invalid("type", "there is no store type \(parameters.type); \(words) are possible")
    }
    self.init(
      name: parameters.name,
      store: kind == .sqlite
        ? try Self.file(parameters, local: local, invalid)
        : try Self.database(parameters, invalid),
      direction: parameters.direction.flatMap { Direction(rawValue: $0.rawValue) } ?? .both,
      entities: parameters.entities.map(Set.init), migrates: parameters.migrate ?? true,
      isRequired: parameters.required ?? false)
  }

  private typealias Refusal = (_ field: String, _ reason: String) -> ControlError

  private static func database(
    _ parameters: AddStore.Parameters, _ invalid: Refusal
  ) throws -> Store {
    if let credential = parameters.credential, !PostgreSQLSection.isCredential(credential) {
      throw invalid("credential", "\"\(credential)\" is no name of a systemd credential")
    }
    do {
      return .postgreSQL(
        try PostgreSQLSection(
          connection: parameters.location, schema: parameters.schema,
          credential: parameters.credential))
    } catch let error as CoreDataError {
      throw invalid("location", error.message)
    }
  }

  private static func file(
    _ parameters: AddStore.Parameters, local: LocalSection, _ invalid: Refusal
  ) throws -> Store {
    for (field, value) in [("schema", parameters.schema), ("credential", parameters.credential)]
    where value != nil {
      throw invalid(field, "a file has none; it is for type postgresql")
    }
    let location = parameters.location
    guard location.hasPrefix("/"), !location.hasSuffix("/") else {
      throw invalid("location", "an absolute path of a file is wanted")
    }
    guard !location.split(separator: "/").contains("..") else {
      throw invalid("location", "the path holds \"..\"; write out where it leads")
    }
    let isPlain = location.unicodeScalars.allSatisfy { $0.properties.generalCategory != .control }
    guard isPlain else { throw invalid("location", "the path holds a control character") }
    if let problem = StorePath.problem(location) { throw invalid("location", problem) }
    let path = URL(fileURLWithPath: location, isDirectory: false).standardizedFileURL.path
    guard
      path
        != URL(fileURLWithPath: local.path, isDirectory: false)
        .standardizedFileURL.path
    else {
      throw invalid("location", "this is the local store")
    }
    return .sqlite(path: path)
  }
}

extension DaemonConfiguration {
  var syncConfiguration: SyncConfiguration {
    func policy(_ conflict: SyncSection.Conflict) -> DeleteConflictPolicy {
      switch conflict {
      case .lastWriter: .lastWriter
      case .deleteWins: .deleteWins
      case .writeWins: .writeWins
      }
    }
    var result = SyncConfiguration()
    result.deleteConflicts = policy(sync.defaultConflict)
    result.deleteConflictsByEntity = sync.entityConflicts.mapValues(policy)
    result.allowedClockSkew = UInt64(max(0, sync.maxClockSkew.components.seconds)) * 1000
    result.retention = sync.retention
    // One machine may have several daemons.
    result.name = "\(ProcessInfo.processInfo.hostName):\(local.path)"
    result.pollInterval = sync.pollInterval
    result.deletionLimit = DeletionLimit(
      count: sync.mostDeletions == 0 ? nil : sync.mostDeletions,
      share: sync.deletionShare >= 100 ? nil : Double(sync.deletionShare) / 100,
      smallest: sync.smallestEntity)
    result.backoff = Backoff(first: .milliseconds(500), longest: sync.maxRetryDelay)
    return result
  }
}

extension ControlError {
  /// A sync error as an answer to a caller.
  ///
  /// - Parameter replica: The one that the work was about, for errors that name none.
  init(_ error: SyncError, replica: String) {
    let replica = error.replicas.isEmpty ? replica : error.replicas.joined(separator: ", ")
    switch error.code {
    case .noSuchReplica: self = .storeNotFound(name: replica)
    case .incompatibleModel: self = .modelIncompatible(name: replica, reason: error.message)
    case .timedOut: self = .waitTimedOut(behind: [replica], reason: error.message)
    case .cancelled: self = .notReady(state: "draining", reason: error.message)
    case .unsupportedStore, .sameStore, .duplicateReplica, .storeUnavailable, .fileMoved,
      .anotherStore, .modelChanged, .notAStore,
      .storeLocked, .storeReadOnly, .diskFull, .diskFailed, .storeDamaged, .damagedBookkeeping,
      .contention, .clockSkew, .recordsHeld, .notSyncing, .paused,
      .awaitingApproval, .invalidConfiguration, .failed:
      self = .storeUnavailable(
        name: replica, code: error.code.rawValue, reason: error.message)
    case .noSuchRecord, .noSuchProperty, .noSuchConflict, .notQuarantined, .notAwaited,
      .notAllowed, .invalidRecord, .valueTaken, .planChanged, .nothingToApprove, .leftOut:
      self = .notPossible(code: error.code.rawValue, reason: error.message)
    }
  }
}

extension ControlError {
  /// What a verb threw, as an answer to its caller; nil for an undeclared error.
  ///
  /// - Parameter store: The store that the verb works on, for errors that do not know it.
  init?(describing error: any Error, store: String) {
    switch error {
    case let error as ControlError: self = error
    case let error as SyncError: self = ControlError(error, replica: store)
    case let error as CoreDataError:
      self =
        ControlError(error, store: store)
        ?? .storeUnavailable(
          name: store, code: error.storeTrouble.rawValue, reason: error.message)
    case let error as ReadOnlyStoreError:
      self = .storeUnavailable(
        name: store, code: SyncError.Code.storeUnavailable.rawValue,
        reason: "\(error.message); \(error.hint)")
    default: return nil
    }
  }
}

extension RepairReport.Action {
  /// The action as a caller sees it.
  func onWire(store: String) -> RepairStores.Action {
    let wire: RepairStores.Action.Kind =
      switch kind {
      case .takenUp: .takenUp
      case .restored: .restored
      case .written: .written
      case .members: .members
      case .deleted: .deleted
      case .merged: .merged
      }
    let source = preferred.map { $0 == .local ? StoreReference.localName : store }
    return RepairStores.Action(
      kind: wire, takenFrom: source, difference: difference.onWire(store: store))
  }
}

extension PurgeReport {
  /// The report as a caller sees it.
  var onWire: PurgeHistory.StoreReport {
    PurgeHistory.StoreReport(
      store: store, transactions: transactions, records: records, links: links, marks: marks,
      conflicts: conflicts, leftovers: leftovers, postponed: postponed,
      freedBytes: Int(freedBytes), waitsForReaders: waitsForReaders ? true : nil,
      readers: readers.map { reader in
        PurgeHistory.Reader(
          name: reader.name.isEmpty ? reader.id.description : reader.name,
          lastSeen: reader.heard == 0 ? nil : WireDate(milliseconds: reader.heard),
          behind: Int(clamping: reader.behind), isExpired: reader.isExpired,
          holdsBack: reader.holdsBack)
      }, problem: problem.map { StatusProblem(code: $0.code.rawValue, message: $0.message) })
  }
}

extension StoreDifference {
  /// The difference as a caller sees it.
  func onWire(store: String) -> VerifyStores.Difference {
    let wire: VerifyStores.Difference.Kind
    let detail: String
    switch kind {
    case .onlyLocal: (wire, detail) = (.missing, "only the local store has the record")
    case .onlyReplica: (wire, detail) = (.extra, "only the replica has the record")
    case .value: (wire, detail) = (.value, "the values differ")
    case .stamp: (wire, detail) = (.value, "the same value was written by different writes")
    case .members: (wire, detail) = (.value, "the members differ")
    case .entity: (wire, detail) = (.entity, "the rows are of different entities")
    case .unknownLocal:
      (wire, detail) = (
        .missing, "sync does not know the row \(row ?? "") of the local store, so it stays there"
      )
    case .vanished:
      (wire, detail) = (
        .damage, "the row \(row ?? "") of the local store is gone, and no history tells of it"
      )
    case .orphaned:
      (wire, detail) = (
        .damage, "the row \(row ?? "") of the local store belongs to one that is gone"
      )
    case .unsaved:
      (wire, detail) = (.damage, "the row \(row ?? "") of the local store was never saved")
    case .changed:
      (wire, detail) = (.damage, "the row \(row ?? "") of the local store is not as it was saved")
    case .damagedLocal:
      (wire, detail) = (
        .damage,
        "the row \(row ?? "") of the local store holds a value of another type or names a file that is not there; it "
          + "does not travel"
      )
    case .damagedReplica:
      (wire, detail) = (
        .damage,
        "the row \(row ?? "") of the replica holds a value of another type or names a file that is not there; it does "
          + "not travel"
      )
    case .unknownReplica:
      (wire, detail) = (
        .extra, "sync does not know the row \(row ?? "") of the replica, so it stays there"
      )
    }
    return VerifyStores.Difference(
      store: store, kind: wire, entity: entity, record: record?.description, property: property,
      detail: detail)
  }
}
