import CairnModel
import CairnStore
import Foundation

// Reading and purging persistent history.

extension PostgreSQLStore: HistoryKeeping {
  package func lastTransactionNumber() throws -> Int64 {
    try read("read the history of") { state, connection in
      try PostgreSQLHistoryReading(content: state.content, connection: connection).ends().last
    }
  }

  package func lastPurgedTransactionNumber() throws -> Int64 {
    try read("read the history of") { state, connection in
      try PostgreSQLHistoryReading(content: state.content, connection: connection).ends().purged
    }
  }

  package func readHistory(
    _ request: HistoryReadRequest
  ) throws -> [HistoryTransactionRecord] {
    try read("read the history of") { state, connection in
      // Commits, their changes and what was taken out, as of one moment.
      let transaction = try PostgreSQLTransaction(on: connection, .repeatableRead, readOnly: true)
      do {
        let reading = PostgreSQLHistoryReading(content: state.content, connection: connection)
        if let after = request.after { try reading.check(after, state.place.description) }
        let records = try reading.read(request)
        transaction.rollBack()
        return records
      } catch {
        transaction.rollBack()
        throw error
      }
    }
  }

  package func births(of objects: [ManagedObjectID]) throws -> [ManagedObjectID: RowBirth] {
    try read("read the history of") { state, connection in
      try PostgreSQLHistoryReading(content: state.content, connection: connection)
        .births(of: Set(objects))
    }
  }

  package func purgeHistory(before number: Int64?, date: Date?) throws -> Int {
    try write("purge the history of") { state, connection in
      try repeating("purge of", state) { known in
        let frame = RowTransaction(schema: state.place.schema, state: known)
        do {
          let transaction = PostgreSQLTransaction(begunOn: connection)
          var results = try connection.run(frame.beginning)[...]
          _ = try frame.check(&results)
          let count = try HistoryPurge(content: state.content, connection: connection).run(
            before: number, date: date)
          try transaction.commit(reconnect: state.pool.separateConnection)
          return count
        } catch {
          if connection.end == nil { _ = try? connection.run("ROLLBACK") }
          throw error
        }
      }
    }
  }
}
