// The description of io.cairn.Daemon.

extension InterfaceDescription {
  /// The daemon as a process.
  public static let daemon = InterfaceDescription(
    text: """
      # The daemon as a process: how it does, and what can go wrong with any call.
      interface io.cairn.Daemon

      # Something that is wrong. The code stays the same across versions.
      type Problem (code: string, message: string)

      type Progress (done: int, total: ?int)

      type StoreStatus (
        name: string,
        type: string,
        location: string,
        state: (opening, migrating, open, unavailable),
        lastTransaction: ?int,
        records: ?int,
        bytes: ?int,
        problem: ?Problem
      )

      # Dates are ISO 8601 in UTC with a fraction and a Z; lagSeconds is the age of the oldest
      # transaction that one side lacks.
      type ReplicaStatus (
        name: string,
        type: string,
        location: string,
        direction: (both, push, pull),
        required: bool,
        state: (opening, migrating, unavailable, firstSync, behind, inSync, paused, stopped),
        lagTransactions: ?int,
        lagSeconds: ?float,
        lastPass: ?string,
        passes: int,
        progress: ?Progress,
        quarantined: int,
        nextAttempt: ?string,
        problem: ?Problem
      )

      type Status (
        version: string,
        pid: int,
        startedAt: string,
        state: (starting, serving, degraded, draining, stopped),
        problems: []Problem,
        model: ?string,
        local: ?StoreStatus,
        replicas: []ReplicaStatus
      )

      # Everything on one screen. Role: status.
      method GetStatus() -> (status: Status)

      # The message was longer than the limit in bytes. The connection ends.
      error MessageTooLarge (limit: int)

      # The message was not JSON as it is taken here. The connection ends.
      error MessageMalformed (offset: int, reason: string)

      # Too many connections or calls. The same call may succeed later.
      error Busy (reason: string)

      # The daemon is starting, degraded or stopping and cannot do this now.
      error NotReady (state: string, reason: string)

      # Each problem names file, line and key.
      error ConfigurationInvalid (problems: []string)

      # A fault of the daemon. The reference finds it in the log.
      error InternalFailure (reference: string)
      """)
}
