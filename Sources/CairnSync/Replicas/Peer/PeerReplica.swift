/// The kind of replicas that are daemons, reached by whatever way.
struct PeerReplicaKind: ReplicaKind {
  let type: String
  /// Opens the way to the daemon.
  let open: @Sendable (ReplicaConfiguration) throws -> any PeerChannel

  func connect(_ connection: ReplicaConnection) async throws -> any Replica {
    let configuration = connection.configuration
    return PeerReplica(
      channel: try open(configuration), place: configuration.url.storePlace)
  }
}

/// A daemon that is reached: it is asked for change sets, and applies for itself those that it is given.
struct PeerReplica: Replica {
  let channel: any PeerChannel
  let place: String
  // Its store says in each pass who it is.
  var identifier: String? { nil }
  var opened: OpenReplica? { nil }
  var tellsOfChanges: Bool { false }

  func pass(_ setting: PassSetting) -> any ReplicaPass {
    ChangeSetPass(setting, with: PeerSide(channel, place: place, setting))
  }

  func close() throws {}
}
