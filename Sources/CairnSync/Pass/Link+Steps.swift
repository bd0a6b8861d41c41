extension Link {
  /// The steps of a pass, for work beside passes; nil until the replica is open.
  var steps: SyncPass? {
    openReplica.map {
      SyncPass(
        local: local, replica: $0.access, context: context, replicaContext: $0.context)
    }
  }
}
