// What an error means to a person, and what to do about it.

extension ControlError: CustomStringConvertible {
  /// One sentence: what went wrong and where.
  public var description: String {
    switch self {
    case .interfaceNotFound(let name): "the daemon does not know the interface \(name)"
    case .methodNotFound(let name), .methodNotImplemented(let name):
      "the daemon does not know the method \(name)"
    case .invalidParameter(let name): "the parameter \"\(name)\" is wrong, missing or unknown"
    case .permissionDenied: "permission denied"
    case .expectedMore: "this method answers with a stream, and the call did not ask for one"
    case .messageTooLarge(let limit): "the message is longer than \(limit) bytes"
    case .messageMalformed(let offset, let reason):
      "the message is not valid JSON: \(reason) at byte \(offset)"
    case .busy(let reason): "the daemon is busy: \(reason)"
    case .notReady(let state, let reason): "the daemon is \(state): \(reason)"
    case .configurationInvalid(let problems):
      "the configuration is not valid:\n" + problems.map { "  \($0)" }.joined(separator: "\n")
    case .restartNeeded(let keys):
      "nothing was reloaded: \(keys.joined(separator: ", ")) cannot change while the daemon runs"
    case .internalFailure(let reference):
      "the daemon failed in a way it did not expect (\(reference))"
    case .storeNotFound(let name, let nearest):
      "there is no store called \"\(name)\"" + Self.guess(nearest)
    case .storeExists(let name, let reason):
      "a store called \"\(name)\" exists already: \(reason)"
    case .storeUnavailable(let name, let code, let reason):
      "the store \"\(name)\" cannot be used: \(reason) (\(code))"
    case .storeInvalid(let name, let field, let reason):
      "the store \"\(name)\" cannot be added: \(field): \(reason)"
    case .modelIncompatible(let name, let reason):
      "the store \"\(name)\" does not fit the model: \(reason)"
    case .historyNotThere(let name, let reason, _):
      "the history of \"\(name)\" does not reach back to this token: \(reason)"
    case .waitTimedOut(let behind, let reason):
      "not yet in step: "
        + (reason ?? (behind.isEmpty ? "unknown" : behind.joined(separator: ", ")))
    case .entryNotFound(_, _, let reason): reason
    case .notPossible(_, let reason): reason
    case .invalidPredicate(let text, let position, let reason):
      "the predicate is wrong: \(reason)\n  \(text)\n"
        + "  \(String(repeating: " ", count: min(max(0, position), text.count)))^"
    case .unknownEntity(let entity, let nearest):
      "the model has no entity called \"\(entity)\"" + Self.guess(nearest)
    case .unknownProperty(let entity, let property, let nearest):
      "the entity \"\(entity)\" has no property called \"\(property)\"" + Self.guess(nearest)
    case .invalidValue(let entity, let property, let reason):
      (property.isEmpty ? "\(entity): " : "\(entity).\(property) cannot have that value: ") + reason
    case .recordNotFound(let entity, let id): "there is no \(entity) with the ID \(id)"
    case .validationFailed(let problems):
      "validation failed:\n" + problems.map { "  \($0.line)" }.joined(separator: "\n")
    case .saveConflict(let records):
      "others changed the same records meanwhile: \(records.joined(separator: ", "))"
    case .importFailed(let line, let reason): "line \(line): \(reason)"
    case .limitExceeded(let limit, let reason): "the limit is \(limit): \(reason)"
    case .other(let name, let fields): "\(name) \(JSONValue.object(fields).text)"
    }
  }

  private static func guess(_ nearest: String?) -> String {
    nearest.map { "; did you mean \"\($0)\"?" } ?? ""
  }

  /// The command that shows an entity; all of them where its name is not known.
  private static func modelCommand(_ entity: String) -> String {
    entity.isEmpty ? "cairnctl model show" : "cairnctl model show \(ShellWord.quoted(entity))"
  }

  /// What to do about it; nil where the sentence says it all.
  public var hint: String? {
    switch self {
    case .permissionDenied:
      "reading needs the daemon's status group, changing its admin group (control.statusGroup and "
        + "control.adminGroup in cairnd.yaml); a new group counts from the next login"
    case .interfaceNotFound, .methodNotFound, .methodNotImplemented, .other:
      "the daemon may be older or newer than this program: compare the versions in `status`"
    case .busy, .saveConflict: "try again in a moment"
    case .notReady: "`cairnctl status` shows what it is doing"
    case .restartNeeded: "take it over with a restart: systemctl restart cairnd"
    case .storeNotFound: "`cairnctl stores` lists them"
    case .storeExists: "choose another name, or remove the store first"
    case .storeUnavailable(let name, "store-damaged", _) where name != "local":
      "stop cairnd and move its file away with all that is beside it: a new one is filled from here"
    case .storeUnavailable(_, "records-held", _):
      "`cairnctl status` says what waits, and which command helps"
    case .storeUnavailable(let name, "awaiting-approval", _):
      "`cairnctl plan` shows it; `cairnctl approve \(name)` lets it pass"
    case .storeUnavailable(let name, let code, _):
      TroubleHint.text(code, of: name)
        ?? "the daemon keeps trying; `cairnctl status` shows when next"
    case .historyNotThere(let name, _, let oldest):
      "read the records anew, or the history that there is: cairnctl history "
        + (name == "local" ? "" : "\(name.contains("/") ? "--file" : "--store") \(name) ")
        + "--since \(oldest)"
    case .unknownEntity, .unknownProperty: "`cairnctl model show` lists entities and properties"
    case .internalFailure(let reference): "look for it: journalctl -u cairnd -g \(reference)"
    case .messageTooLarge: "use smaller batches"
    case .waitTimedOut: "wait longer with --timeout, or see `cairnctl status` for what is slow"
    case .notPossible("plan-changed", _):
      "look at it again, and give the revision or plan that is shown then"
    case .notPossible("nothing-to-approve", _):
      "`cairnctl status` shows what each replica waits for"
    case .notPossible("left-out", _):
      "waiting longer does not help; with `direction: both` in cairnd.yaml they travel, too"
    case .notPossible("backup-exists", _), .notPossible("backup-label", _):
      "`cairnctl backup --as NAME` takes another name; without --as the time is the name"
    case .notPossible("backup-missing", _):
      "`cairnctl config cat backup.folder` says where backups are; each is a folder in there"
    case .notPossible("backup-of-replica", _):
      "a replica needs none, since the local store fills it; for what only the backup has: cairnctl export "
        + "--file FILE > rows.jsonl, then cairnctl import rows.jsonl"
    case .notPossible("backup-elsewhere", _):
      "copy its folder into the folder of backups, then: cairnctl restore NAME"
    case .notPossible("backup-damaged", _):
      "`cairnctl inspect FILE` shows all that is wrong with it; take another backup"
    case .notPossible("restore-failed", _):
      "`cairnctl status` shows how the local store is, `df -h` whether there is room"
    case .notPossible("backup-folder", _):
      "backup.folder in cairnd.yaml names another folder; `cairnctl reload` takes it over"
    case .notPossible("backup-failed", _):
      "`df -h` and `ls -ld` show room and rights there; then: cairnctl backup"
    case .notPossible("no-replica", _): "`cairnctl stores` shows which stores are replicas"
    case .notPossible("no-file", _): "`cairnctl stores` shows which stores are files"
    case .notPossible("not-awaited", _): "`cairnctl parked` lists what references wait for"
    // The reason says what to do.
    case .notPossible: nil
    case .entryNotFound(.conflict, _, _): "`cairnctl conflicts` lists them"
    case .entryNotFound(.quarantine, _, _): "`cairnctl quarantine` lists what waits"
    case .recordNotFound(let entity, _):
      "`cairnctl fetch \(entity) --properties id` lists the IDs of what is there"
    case .limitExceeded: "ask for less: a simpler condition, or fewer properties"
    case .importFailed: "rows before this line's batch are in; correct the line and import again"
    case .invalidParameter("token"):
      "insert, update and delete print the token of what they wrote with --json, `cairnctl history` that of "
        + "each transaction"
    case .invalidParameter("id"):
      "`cairnctl quarantine`, `cairnctl held` and `cairnctl conflicts` list the IDs of what there is"
    case .invalidParameter:
      "`cairnctl help` says which values a command takes; an option that the daemon does not know is newer "
        + "than it: compare the versions in `cairnctl status`"
    case .expectedMore: "with systemd's client: varlinkctl call --more"
    case .messageMalformed: "one JSON object and a NUL byte are a call: man 7 cairn-varlink"
    case .configurationInvalid:
      "correct what is named; `cairnctl config check` looks again, `cairnctl reload` takes it over"
    case .storeInvalid: "`cairnctl store add --help` says what each type takes"
    case .modelIncompatible(let name, _):
      "`cairnctl store migrate \(ShellWord.quoted(name)) --dry-run` says what bringing it to the daemon's "
        + "model changes"
    case .invalidPredicate:
      "such as: name == \"bash\" AND size > 1000; `cairnctl model show` lists entities and properties"
    case .invalidValue(let entity, _, _):
      "`\(Self.modelCommand(entity))` says which values its properties take"
    case .validationFailed(let problems):
      "nothing was saved; `\(Self.modelCommand(problems.first?.entity ?? ""))` shows what the model demands"
    }
  }
}

extension ValidationProblem {
  /// The problem in one line.
  public var line: String {
    let place = [entity, property ?? ""].filter { !$0.isEmpty }.joined(separator: ".")
    let text = place.isEmpty ? reason : "\(place): \(reason)"
    return text + (record.map { " (\($0))" } ?? "")
  }
}
