import CairnStore
import Foundation

// What a failure is as Core Data's error: what, where, and what to do.

extension PostgreSQLFailure {
  /// The key in an error's user info with the server's SQLSTATE.
  package static let sqlStateKey = "CairnPostgreSQLState"

  /// Core Data's error.
  ///
  /// - Parameter place: What it happened on, such as "the PostgreSQL database inventory on db1".
  /// - Parameter work: What was tried, such as "open" or "save to".
  func error(_ work: String, _ place: String) -> CoreDataError {
    let (code, advice) = meaning
    var info: [String: Any] = [:]
    if let state { info[Self.sqlStateKey] = state.code }
    let end = description.last.map(".?!".contains) == true ? "" : "."
    return CoreDataError(
      code, "Cannot \(work) \(place): \(description)\(end) \(advice)", userInfo: info)
  }

  private var meaning: (code: CoreDataError.Code, advice: String) {
    switch origin {
    case .connecting: return connectingMeaning
    case .lost: return lostMeaning
    case .client: return (.persistentStoreOperation, "Report it with the lines before this one.")
    case .server: return serverMeaning
    }
  }

  private var lostMeaning: (CoreDataError.Code, String) {
    switch state {
    case SQLState.startingUp: return Self.starting
    case SQLState.databaseDropped:
      return (.persistentStoreOpen, "The database was dropped; restore it from a backup.")
    default:
      return (
        .persistentStoreOperation,
        "The connection to the server ended; what was not committed is rolled back. Try again, and see "
          + "the server's log if it stays so."
      )
    }
  }

  private static let starting = (
    CoreDataError.Code.persistentStoreOpen,
    "The server is starting up, recovering or shutting down; try again in a while."
  )

  private var serverMeaning: (CoreDataError.Code, String) {
    switch state {
    case SQLState.invalidPassword, SQLState.invalidAuthorization, SQLState.unknownDatabase,
      SQLState.tooManyConnections:
      return connectingMeaning
    case SQLState.noRight:
      return (
        .persistentStoreSave,
        "The role lacks a right: the owner of what is named can GRANT it, or make a schema that is the role's (CREATE "
          + "SCHEMA … AUTHORIZATION …). Where row security hides rows, the role needs BYPASSRLS: a store has all of them."
      )
    case SQLState.unknownStatement, SQLState.duplicateStatement:
      return (
        .persistentStoreOperation, "Another client was given the session. \(PoolerCheck.advice)"
      )
    case SQLState.readOnlyTransaction:
      return (
        .persistentStoreSave,
        "The server is a standby or read-only. Name the primary, or all hosts with "
          + "target_session_attrs=read-write."
      )
    case SQLState.diskFull:
      return (
        .fileWriteOutOfSpace,
        "The server's disk is full; nothing was written. Make room there and try again."
      )
    case SQLState.outOfMemory:
      return (.persistentStoreOperation, "The server lacks memory; nothing was written. Try again.")
    case SQLState.serializationFailure, SQLState.deadlock:
      return (
        .persistentStoreTimeout,
        "Others kept changing the same rows; nothing was written. Try again."
      )
    case SQLState.lockTimeout:
      return (
        .persistentStoreTimeout,
        "Another session held a lock for longer than the timeout; nothing was written. Try again, or look "
          + "for it in pg_stat_activity, and for a prepared transaction in pg_prepared_xacts."
      )
    case SQLState.cancelled:
      return (
        .persistentStoreTimeout,
        "It took longer than the time that it had, or an administrator cancelled it; nothing was written."
      )
    case SQLState.uniqueViolation:
      return (.managedObjectConstraintMerge, "Two rows may not share these values.")
    case SQLState.foreignKeyViolation:
      return (
        .managedObjectReferentialIntegrity,
        "A row would lead to one that is not there, which another program may just have deleted; nothing was "
          + "written. Refresh the objects, mend the relationship and save again. Where the table that is named is "
          + "another program's, its rows lead to what would go: change those first."
      )
    case SQLState.notNullViolation, SQLState.checkViolation, SQLState.exclusionViolation,
      SQLState.viewViolation, SQLState.raised:
      return (
        .managedObjectValidation,
        "The database has a rule of its own that refuses it: a constraint or a trigger that another program made."
      )
    case SQLState.dependentObjects:
      return (
        .migration,
        "What another program made depends on a table that is made anew, and which is called cairn_old_… meanwhile. "
          + "Nothing was changed: drop the views, foreign keys or functions that are named, try again, and make them "
          + "anew."
      )
    case SQLState.numberOutOfRange, SQLState.dateOutOfRange, SQLState.textTooLong,
      SQLState.invalidBytes:
      return (.managedObjectValidation, "The value does not fit the column.")
    case SQLState.limitExceeded:
      return (
        .managedObjectValidation,
        "A value is longer than the server allows there: values of indexed and of unique attributes have "
          + "about 2,700 bytes at most."
      )
    case _ where isOfSchema:
      return (
        .persistentStoreIncompatibleSchema,
        "The schema is not as the store left it: another program changed or removed what is named. "
          + "Put that back, or restore the schema from a backup."
      )
    case SQLState.damagedData, SQLState.damagedIndex:
      return (
        .fileReadCorruptFile, "The server's data are damaged; restore a backup of the database."
      )
    default: return (.persistentStoreOperation, "The server's log says more.")
    }
  }

  /// libpq hands out no SQLSTATE for a connection that did not come about, so its words tell, which a
  /// server may have in another language; then the advice is the general one.
  private var connectingMeaning: (CoreDataError.Code, String) {
    func says(_ words: String...) -> Bool { words.contains { message.contains($0) } }
    let advice: String
    if state == .invalidPassword || says("password authentication failed") {
      advice =
        "Correct the password in the systemd credential \(ConnectionParameters.passwordCredential), in "
        + ".pgpass, or at the server."
    } else if says("no password supplied") {
      advice =
        "Put the password into a systemd credential (LoadCredential="
        + "\(ConnectionParameters.passwordCredential):/path) or into .pgpass."
    } else if state == .unknownDatabase || says("database \"") && says("does not exist") {
      advice = "Create the database (createdb) or correct its name."
    } else if says("role \"") && says("does not exist") {
      advice = "Create the role (createuser) or correct the user's name."
    } else if says("no pg_hba.conf entry", "pg_hba.conf rejects") {
      advice =
        "The server has no rule that lets this user in from here: add a line to its pg_hba.conf."
    } else if says("Peer authentication failed", "peer authentication") {
      advice =
        "The server wants the operating system's user of that name; run as that user, or map it."
    } else if says("does not match host name") {
      advice =
        "The server's TLS certificate is another host's: connect by the name that is in it, or give the "
        + "server one of its own. Do not lower sslmode."
    } else if says("certificate verify failed", "root certificate") {
      advice = "Name the authority that signed the server's certificate in sslrootcert."
    } else if says("server does not support SSL") {
      advice = "Turn TLS on at the server (ssl = on)."
    } else if says(
      "starting up", "shutting down", "in recovery mode", "not yet accepting connections")
    {
      return Self.starting
    } else if state == .tooManyConnections || says("too many", "remaining connection slots") {
      advice = "All connections of the server are taken; close some, or raise max_connections."
    } else if says(
      "session is read-only", "server is in hot standby mode", "server is not in hot standby mode",
      "session is not read-only")
    {
      advice = "No host is what target_session_attrs asks for; a fail-over may be under way."
    } else if says("definition of service", "service file") {
      advice = "Add the service to pg_service.conf, or name its file in PGSERVICEFILE."
    } else if says("could not translate host name") {
      advice = "Correct the host's name, or look after name resolution."
    } else if says("Connection refused", "No such file or directory") {
      advice = "No server listens there: start it, or correct host and port."
    } else if says("timeout expired", "timed out", "No route to host", "unreachable") {
      advice = "The host gives no answer: check the network, firewalls and the host's name."
    } else if says("Permission denied") {
      advice = "This user may not use the server's socket; check the modes of its folder."
    } else {
      advice = "Check host, port, user and database, and see the server's log."
    }
    return (.persistentStoreOpen, advice)
  }
}
