// Every way a call can fail, with the fields that say why. The names are a contract.

/// One thing that is wrong with an object that was to be saved.
public struct ValidationProblem: Sendable, Hashable, Codable {
  /// The entity of the object.
  public var entity: String
  /// The object's record ID, when it has one already.
  public var record: String?
  /// The property that is wrong; nil when the object as a whole is.
  public var property: String?
  /// A stable code: `missingMandatoryProperty`, `stringTooLong` and so on.
  public var code: String
  /// What is wrong, for people.
  public var reason: String

  public init(
    entity: String, record: String? = nil, property: String? = nil, code: String, reason: String
  ) {
    self.entity = entity
    self.record = record
    self.property = property
    self.code = code
    self.reason = reason
  }
}

/// A list that an operator looks at.
public enum EntryKind: String, Sendable, Hashable, Codable, CaseIterable {
  case conflict, quarantine
}

/// A declared error of the control protocol.
public enum ControlError: Error, Sendable, Hashable {
  // org.varlink.service
  case interfaceNotFound(String)
  case methodNotFound(String)
  case methodNotImplemented(String)
  case invalidParameter(String)
  case permissionDenied
  case expectedMore

  // io.cairn.Daemon
  /// The message was longer than `limit` bytes; the connection ends.
  case messageTooLarge(limit: Int)
  /// The message was not JSON as we take it; the connection ends.
  case messageMalformed(offset: Int, reason: String)
  /// Too many connections or calls; the same call may succeed later.
  case busy(reason: String)
  /// The daemon is not far enough, or it is stopping; `status` says more.
  case notReady(state: String, reason: String)
  case configurationInvalid(problems: [String])
  /// These keys cannot change while the daemon runs; nothing was changed.
  case restartNeeded(keys: [String])
  /// A fault of the daemon itself; `reference` finds it in the log.
  case internalFailure(reference: String)

  // io.cairn.Store
  /// `nearest` is the name that may have been meant.
  case storeNotFound(name: String, nearest: String? = nil)
  /// The name is taken by a store with other settings.
  case storeExists(name: String, reason: String)
  /// The store cannot be used now; `code` is stable, `reason` is for people.
  case storeUnavailable(name: String, code: String, reason: String)
  case storeInvalid(name: String, field: String, reason: String)
  case modelIncompatible(name: String, reason: String)
  /// The history that a token stands for is not in the store; `oldest` is the token from which on there is
  /// some.
  case historyNotThere(name: String, reason: String, oldest: String)

  // io.cairn.Sync
  /// `reason` says of each how much it lacks and why, for people.
  case waitTimedOut(behind: [String], reason: String? = nil)
  /// Nothing has that ID in the list of that kind.
  case entryNotFound(kind: EntryKind, id: String, reason: String)
  /// What was asked for cannot be done as things are; `code` is stable, `reason` is for people.
  case notPossible(code: String, reason: String)

  // io.cairn.Data
  /// `position` counts characters from 0.
  case invalidPredicate(text: String, position: Int, reason: String)
  case unknownEntity(entity: String, nearest: String? = nil)
  case unknownProperty(entity: String, property: String, nearest: String? = nil)
  case invalidValue(entity: String, property: String, reason: String)
  case recordNotFound(entity: String, id: String)
  case validationFailed(problems: [ValidationProblem])
  /// Others changed the same records meanwhile; nothing was saved.
  case saveConflict(records: [String])
  /// The row on `line` (counted from 1) cannot be taken; nothing of its batch was saved.
  case importFailed(line: Int, reason: String)
  case limitExceeded(limit: Int, reason: String)

  /// An error of a newer daemon that this client does not know.
  case other(name: String, fields: [String: JSONValue])
}
