// Serves io.cairn.Data.
import Cairn
import CairnControl
import CairnRecords

extension HandlerTable {
  mutating func serveRecords() {
    serve(GetModel.self, reads: true) { _, engine in
      let group = try await engine.current()
      return .init(
        model: ModelSummary(group.coordinator.managedObjectModel, name: group.modelName))
    }

    stream(FetchRecords.self, reads: true) { parameters, engine, send in
      if let limit = parameters.limit, limit < 0 { throw ControlError.invalidParameter("limit") }
      if let offset = parameters.offset, offset < 0 {
        throw ControlError.invalidParameter("offset")
      }
      do {
        try await Self.fetch(parameters, in: engine.current(), send)
      } catch {
        throw ControlError(describing: error, store: parameters.store ?? "local") ?? error
      }
      // The end is an answer of its own, so that a batch need not know that it is the last.
      return .init(rows: [])
    }

    serve(SaveRecords.self) { parameters, engine in
      try check(author: parameters.author)
      let group = try await engine.current()
      let save = RecordSave(
        parameters, model: group.coordinator.managedObjectModel, naming: group.naming)
      let context = group.newContext(named: "cairnctl")
      context.transactionAuthor = parameters.author ?? "cairnctl"
      let reply = try await context.perform { try save.run(in: context, store: group.local) }
      group.health.noteWritten()
      return reply
    }

    serve(ImportRecords.self) { parameters, engine in
      guard parameters.lines.count == parameters.rows.count else {
        throw ControlError.invalidParameter("lines")
      }
      try check(author: parameters.author)
      let group = try await engine.current()
      let batch = try RecordImport(
        parameters, model: group.coordinator.managedObjectModel, naming: group.naming)
      // Another program may write the same records meanwhile; then the batch is looked up anew.
      for _ in 0..<4 {
        do {
          return try await Self.importOnce(batch, author: parameters.author, in: group)
        } catch ControlError.saveConflict {
          continue
        }
      }
      return try await Self.importOnce(batch, author: parameters.author, in: group)
    }
  }

  private static func fetch(
    _ parameters: FetchRecords.Parameters, in group: OpenGroup,
    _ send: @Sendable (FetchRecords.Reply) async throws -> Void
  ) async throws {
    let (store, coordinator) = try group.store(named: parameters.store)
    let fetch = try RecordFetch(
      parameters, model: coordinator.managedObjectModel, naming: group.naming)
    let context = group.newContext(named: "cairnctl")
    context.persistentStoreCoordinator = coordinator
    let cursor = try await context.perform { try fetch.start(in: context, stores: [store]) }
    while let batch = try await context.perform({ try cursor.next() }) {
      try await send(batch)
      try Task.checkCancellation()
    }
  }

  private static func importOnce(
    _ batch: RecordImport, author: String?, in group: OpenGroup
  ) async throws -> ImportRecords.Reply {
    let context = group.newContext(named: "import")
    context.transactionAuthor = author ?? "cairnctl"
    let reply = try await context.perform { try batch.run(in: context, store: group.local) }
    group.health.noteWritten()
    return reply
  }
}
