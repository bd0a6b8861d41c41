// The description of io.cairn.Sync.

extension InterfaceDescription {
  /// The links between the local store and its replicas.
  public static let sync = InterfaceDescription(
    text: """
      # The links between the local store and its replicas. Where a name may be left out, all
      # replicas are meant.
      interface io.cairn.Sync

      # Start a pass now, without waiting for it. Role: control.
      method SyncNow(name: ?string) -> (started: []string)

      # Answer when the replicas have everything that was committed locally before the call.
      # The timeout is in seconds, 60 when left out, at most a day. Role: status.
      method Wait(name: ?string, timeout: ?float) -> (reached: []string, waited: float)

      # Let links rest after the pass that runs; remembered across restarts. Role: control.
      method Pause(name: ?string) -> (paused: []string)

      # Let paused links run again and start a pass. Role: control.
      method Resume(name: ?string) -> (resumed: []string)

      # The replicas that were still behind when the time was over.
      error WaitTimedOut (behind: []string)
      """)
}
