extension Link {
  /// The steps of a pass, for work beside passes; nil until the replica is open.
  var steps: SyncPass? {
    openReplica.map {
      SyncPass(
        local: local, replica: $0.access, context: context, replicaContext: $0.context,
        filter: filter)
    }
  }

  /// A pass as the link is configured: in its direction, and asking before it deletes much.
  func newPass(on replica: OpenReplica) -> SyncPass {
    SyncPass(
      local: local, replica: replica.access, context: context, replicaContext: replica.context,
      direction: configuration.direction,
      deletions: DeletionGuard(
        replica: configuration.name, limit: local.configuration.deletionLimit),
      filter: filter)
  }
}
