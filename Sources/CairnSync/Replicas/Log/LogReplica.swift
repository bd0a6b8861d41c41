/// The kind of replicas that are logs, on a medium of whatever sort.
struct LogReplicaKind: ReplicaKind {
  let type: String
  /// Opens the medium, or makes it.
  let open: @Sendable (ReplicaConfiguration) throws -> any ChangeLog

  func connect(_ connection: ReplicaConnection) async throws -> any Replica {
    let configuration = connection.configuration
    let log = try open(configuration)
    let identifier = try log.identifier().description
    if let expected = connection.expectedIdentifier, expected != identifier {
      throw SyncError(
        .anotherStore,
        "\(configuration.url.storePlace) is another log now (\(identifier)) than the replica was (\(expected)); "
          + "put it back, or remove the replica and add it again to join the two", recovery: .person
      )
    }
    return LogReplica(log: log, identifier: identifier, place: configuration.url.storePlace)
  }
}

/// A log that is open: change sets are appended to it, and those of its other writers are read.
struct LogReplica: Replica {
  let log: any ChangeLog
  let identifier: String?
  let place: String
  var opened: OpenReplica? { nil }
  // A log says nothing when another member appends: the link reads it again at its slow poll, as that of any
  // replica without hints. `ReplicaConnection.hint` is for a medium that can tell.
  var tellsOfChanges: Bool { false }

  func pass(_ setting: PassSetting) -> any ReplicaPass {
    ChangeSetPass(
      setting, with: LogSide(log: log, identifier: identifier, place: place, setting))
  }

  func close() throws {}
}
