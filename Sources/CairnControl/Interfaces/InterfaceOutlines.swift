// What the interfaces have besides their methods: what they are about, and the errors.

/// An interface without its methods, which each bring their own declarations.
public struct InterfaceOutline: Sendable, Hashable {
  /// The name, `io.cairn.Daemon`.
  public let name: String
  /// What it is about, as comment lines.
  let about: String
  /// The errors in Varlink's language.
  let errors: [String]

  /// Every interface of the daemon.
  public static let all: [InterfaceOutline] = [.varlinkService, .daemon, .store, .sync, .data]

  /// Introspection, the same in every Varlink service, word for word as the protocol fixes it.
  static let varlinkService = InterfaceOutline(
    name: "org.varlink.service",
    about: """
      # The Varlink Service Interface is provided by every varlink service. It
      # describes the service and the interfaces it implements.
      """,
    errors: [
      """
      # The requested interface was not found.
      error InterfaceNotFound (interface: string)
      """,
      """
      # The requested method was not found
      error MethodNotFound (method: string)
      """,
      """
      # The interface defines the requested method, but the service does not
      # implement it.
      error MethodNotImplemented (method: string)
      """,
      """
      # One of the passed parameters is invalid.
      error InvalidParameter (parameter: string)
      """,
      """
      # Client is denied access
      error PermissionDenied ()
      """,
      """
      # Method is expected to be called with 'more' set to true, but wasn't
      error ExpectedMore ()
      """,
    ])

  /// The daemon as a process.
  static let daemon = InterfaceOutline(
    name: "io.cairn.Daemon",
    about: "# The daemon as a process: how it does, and what can go wrong with any call.",
    errors: [
      """
      # The message was longer than the limit in bytes. The connection ends.
      error MessageTooLarge (limit: int)
      """,
      """
      # The message was not JSON as it is taken here. The connection ends.
      error MessageMalformed (offset: int, reason: string)
      """,
      """
      # Too many connections or calls. The same call may succeed later.
      error Busy (reason: string)
      """,
      """
      # The daemon is starting, degraded or stopping and cannot do this now.
      error NotReady (state: string, reason: string)
      """,
      """
      # Each problem names file, line and key.
      error ConfigurationInvalid (problems: []string)
      """,
      """
      # What has changed in the configuration and cannot while the daemon runs; nothing was changed.
      error RestartNeeded (keys: []string)
      """,
      """
      # A fault of the daemon. The reference finds it in the log.
      error InternalFailure (reference: string)
      """,
    ])

  /// The stores of the group.
  static let store = InterfaceOutline(
    name: "io.cairn.Store",
    about: "# The stores of the group: one local store and its replicas.",
    errors: [
      """
      # nearest is the name that may have been meant, here and in other errors.
      error StoreNotFound (name: string, nearest: ?string)
      """,
      """
      # The name is taken by a store with other settings.
      error StoreExists (name: string, reason: string)
      """,
      """
      # The store cannot be used now. The code stays the same across versions.
      error StoreUnavailable (name: string, code: string, reason: string)
      """,
      """
      # The settings are wrong; field says which one.
      error StoreInvalid (name: string, field: string, reason: string)
      """,
      "error ModelIncompatible (name: string, reason: string)",
      """
      # The store does not keep the history that the token stands for: it was purged, or is another
      # store's, or the store went back in time. oldest is the token from which on there is history.
      error HistoryNotThere (name: string, reason: string, oldest: string)
      """,
    ])

  /// The links between the local store and its replicas.
  static let sync = InterfaceOutline(
    name: "io.cairn.Sync",
    about: """
      # The links between the local store and its replicas. Where a name may be left out, all
      # replicas are meant.
      """,
    errors: [
      """
      # The replicas that were still behind when the time was over.
      error WaitTimedOut (behind: []string, reason: ?string)
      """,
      """
      # Nothing in the list has that ID.
      error EntryNotFound (kind: (conflict, quarantine), id: string, reason: string)
      """,
      """
      # It cannot be done as things are. The code stays the same across versions.
      error NotPossible (code: string, reason: string)
      """,
    ])

  /// Records of the local store.
  static let data = InterfaceOutline(
    name: "io.cairn.Data",
    about: """
      # Records. Values on the wire: integers beyond 2^53 and decimals as strings, dates as ISO 8601
      # with fraction and Z, binary as base64, UUIDs as text, references as record IDs, and the
      # numbers JSON lacks as "NaN", "Infinity" and "-Infinity".
      """,
    errors: [
      """
      # position counts characters of text, from 0.
      error InvalidPredicate (text: string, position: int, reason: string)
      """,
      "error UnknownEntity (entity: string, nearest: ?string)",
      "error UnknownProperty (entity: string, property: string, nearest: ?string)",
      "error InvalidValue (entity: string, property: string, reason: string)",
      "error RecordNotFound (entity: string, id: string)",
      """
      type ValidationProblem (
        entity: string,
        record: ?string,
        property: ?string,
        code: string,
        reason: string
      )

      error ValidationFailed (problems: []ValidationProblem)
      """,
      """
      # Others changed the same records meanwhile. Nothing was saved.
      error SaveConflict (records: []string)
      """,
      """
      # The row on that line cannot be taken. Nothing of its batch was saved.
      error ImportFailed (line: int, reason: string)
      """,
      """
      # Finding rows took longer than limit seconds, or an answer would have more than limit bytes.
      error LimitExceeded (limit: int, reason: string)
      """,
    ])
}
