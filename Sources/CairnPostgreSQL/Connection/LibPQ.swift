import CLibPQ
import CairnPlatform
import CairnStore
import Foundation

/// libpq's functions, found when a program first opens a PostgreSQL store.
// Unchecked: constant addresses of functions in a library that is never unloaded. libpq's functions may be called from
// any thread as long as one thread at a time uses a connection, which `PostgreSQLConnection` is about.
struct LibPQ: @unchecked Sendable {
  /// The first version with pipeline mode.
  static let oldestVersion: Int32 = 14_00_00

  private static let loaded = Result { try LibPQ(loading: "libpq.so.5") }

  /// The functions of the library that is installed.
  ///
  /// - Throws: 134080 when there is none, or one that is too old.
  static func functions() throws -> LibPQ { try loaded.get() }

  let parseConninfo: clibpq_PQconninfoParse
  let freeConninfo: clibpq_PQconninfoFree
  let connect: clibpq_PQconnectdbParams
  let finish: clibpq_PQfinish
  let status: clibpq_of_connection
  let transactionStatus: clibpq_of_connection
  let serverVersion: clibpq_of_connection
  let socket: clibpq_of_connection
  let backendProcess: clibpq_of_connection
  let needsPassword: clibpq_of_connection
  let usedPassword: clibpq_of_connection
  let errorMessage: clibpq_text_of_connection
  let host: clibpq_text_of_connection
  let port: clibpq_text_of_connection
  let database: clibpq_text_of_connection
  let user: clibpq_text_of_connection

  let setNonblocking: clibpq_PQsetnonblocking
  let flush: clibpq_on_connection
  let consumeInput: clibpq_on_connection
  let isBusy: clibpq_on_connection
  let enterPipeline: clibpq_on_connection
  let exitPipeline: clibpq_on_connection
  let pipelineSync: clibpq_on_connection
  let sendQuery: clibpq_PQsendQueryParams
  let sendPrepare: clibpq_PQsendPrepare
  let sendPrepared: clibpq_PQsendQueryPrepared
  let nextResult: clibpq_PQgetResult

  let resultStatus: clibpq_of_result
  let rowCount: clibpq_of_result
  let columnCount: clibpq_of_result
  let errorField: clibpq_PQresultErrorField
  let resultMessage: clibpq_PQresultErrorMessage
  let affectedRows: clibpq_PQcmdTuples
  let columnName: clibpq_PQfname
  let value: clibpq_PQgetvalue
  let length: clibpq_of_cell
  let isNull: clibpq_of_cell
  let memorySize: clibpq_PQresultMemorySize
  let clear: clibpq_PQclear

  let putCopyData: clibpq_PQputCopyData
  let putCopyEnd: clibpq_PQputCopyEnd
  let nextNotification: clibpq_PQnotifies
  let setNoticeReceiver: clibpq_PQsetNoticeReceiver
  let freeMemory: clibpq_PQfreemem

  /// - Parameter name: A parameter for tests.
  init(loading name: String) throws {
    let library: DynamicLibrary
    do {
      library = try DynamicLibrary(loading: name)
    } catch {
      throw CoreDataError(
        .persistentStoreOpen,
        "PostgreSQL stores need PostgreSQL's client library, which cannot be loaded (\(error)). Install "
          + "it: apt-get install libpq5")
    }
    // Asked first: an old library lacks some of the functions below.
    guard let version = try? library.function("PQlibVersion", as: clibpq_PQlibVersion.self),
      version() >= Self.oldestVersion
    else {
      throw CoreDataError(
        .persistentStoreOpen,
        "PostgreSQL's client library \(name) is older than version \(Self.oldestVersion / 10_000), which "
          + "PostgreSQL stores need. Install a newer one: apt-get install libpq5")
    }
    func function<Function>(_ symbol: String) throws -> Function {
      do {
        return try library.function(symbol, as: Function.self)
      } catch {
        throw CoreDataError(
          .persistentStoreOpen,
          "PostgreSQL's client library \(name) lacks \(symbol), so it is not PostgreSQL's own or is "
            + "damaged. Install it: apt-get install libpq5")
      }
    }
    parseConninfo = try function("PQconninfoParse")
    freeConninfo = try function("PQconninfoFree")
    connect = try function("PQconnectdbParams")
    finish = try function("PQfinish")
    status = try function("PQstatus")
    transactionStatus = try function("PQtransactionStatus")
    serverVersion = try function("PQserverVersion")
    socket = try function("PQsocket")
    backendProcess = try function("PQbackendPID")
    needsPassword = try function("PQconnectionNeedsPassword")
    usedPassword = try function("PQconnectionUsedPassword")
    errorMessage = try function("PQerrorMessage")
    host = try function("PQhost")
    port = try function("PQport")
    database = try function("PQdb")
    user = try function("PQuser")
    setNonblocking = try function("PQsetnonblocking")
    flush = try function("PQflush")
    consumeInput = try function("PQconsumeInput")
    isBusy = try function("PQisBusy")
    enterPipeline = try function("PQenterPipelineMode")
    exitPipeline = try function("PQexitPipelineMode")
    pipelineSync = try function("PQpipelineSync")
    sendQuery = try function("PQsendQueryParams")
    sendPrepare = try function("PQsendPrepare")
    sendPrepared = try function("PQsendQueryPrepared")
    nextResult = try function("PQgetResult")
    resultStatus = try function("PQresultStatus")
    rowCount = try function("PQntuples")
    columnCount = try function("PQnfields")
    errorField = try function("PQresultErrorField")
    resultMessage = try function("PQresultErrorMessage")
    affectedRows = try function("PQcmdTuples")
    columnName = try function("PQfname")
    value = try function("PQgetvalue")
    length = try function("PQgetlength")
    isNull = try function("PQgetisnull")
    memorySize = try function("PQresultMemorySize")
    clear = try function("PQclear")
    putCopyData = try function("PQputCopyData")
    putCopyEnd = try function("PQputCopyEnd")
    nextNotification = try function("PQnotifies")
    setNoticeReceiver = try function("PQsetNoticeReceiver")
    freeMemory = try function("PQfreemem")
  }
}

/// What `PQresultStatus` says.
enum ResultStatus: Int32 {
  case emptyQuery, commandOK, rows, copyOut, copyIn, badResponse, notice, failure, copyBoth
  case singleRow, pipelineSync, pipelineAborted
}

/// What `PQtransactionStatus` says.
enum TransactionStatus: Int32 {
  case idle, active, inTransaction, inFailedTransaction, unknown
}
