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
      checkGoingOn: { [weak self] in try self?.checkGoingOn() },
      batchSize: { [weak self] in self?.batchSize }, filter: filter)
  }

  /// A pass asks on the queue, before each step and between the commits of a long one, so that nothing
  /// is begun behind what is performed after `pause()`, and an end waits for one commit at most.
  ///
  /// - Throws: `CancellationError` when the link rests or was removed.
  func checkGoingOn() throws {
    let life = life
    if life.isPaused || life.isRemoved { throw CancellationError() }
  }
}
