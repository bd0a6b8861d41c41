// The fields that entries of the log have beside their message.

extension EventEntry {
  /// A field beside the message.
  enum Field: String, Sendable, Hashable, CaseIterable {
    case address, bytes, clientPid, clientUid, conflicts, count, errorCode, errorType, keys, method,
      model, owner, path, pid
    case pulled
    case passes, pushed, reader, records, replica, requestId, seconds, socket, state, store,
      transactions
    case version

    /// Its name in the journal.
    var journalName: String { SystemdJournalEntry.metadataFieldName(rawValue).uppercased() }

    /// What it holds.
    var meaning: String {
      switch self {
      case .address: "the address or socket file that was wanted"
      case .bytes: "bytes given back to the disk"
      case .clientPid: "the process that called"
      case .clientUid: "the user that called"
      case .conflicts: "concurrent values that lost"
      case .count: "how many there are now"
      case .errorCode: "what is wrong, as a word: `disk-full`, `store-damaged`, …"
      case .errorType: "the type of an error that is a fault of the program"
      case .keys: "the keys of the configuration that have changed"
      case .method: "the method that was called"
      case .model: "the version of the model"
      case .owner: "the process that has the store, and its unit"
      case .path: "the file that it is about"
      case .pid: "the daemon's process"
      case .pulled: "changes taken from the replica"
      case .passes: "passes that moved something"
      case .pushed: "changes brought to the replica"
      case .reader: "the name or UUID of the store that was silent"
      case .records: "records"
      case .replica: "the name of the replica"
      case .requestId: "a number that the caller was shown"
      case .seconds: "the time that it covers"
      case .socket: "the name or the file of the socket"
      case .state: "the state, as in `cairnctl status`"
      case .store: "`local`, or the name of the replica"
      case .transactions: "transactions of history"
      case .version: "the version of the program"
      }
    }
  }
}
