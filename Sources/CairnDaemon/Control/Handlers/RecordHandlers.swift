// Serves io.cairn.Data.
import Cairn
import CairnControl
import CairnRecords
import CairnSync
import Foundation

extension HandlerTable {
  mutating func serveRecords() {
    serve(GetModel.self, reads: true) { _, engine in
      let group = try await engine.current()
      return .init(
        model: ModelSummary(group.coordinator.managedObjectModel, name: group.configuredModel.name))
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

    stream(ExportRecords.self, reads: true) { parameters, engine, send in
      do {
        try await Self.export(parameters, in: engine.current(), send)
      } catch {
        throw ControlError(describing: error, store: parameters.store ?? "local") ?? error
      }
      return .init(rows: [])
    }

    serve(SaveRecords.self) { parameters, engine in
      try check(author: parameters.author)
      let group = try await engine.current()
      let save = RecordSave(
        parameters, model: group.coordinator.managedObjectModel, naming: group.naming)
      let context = group.newContext(named: "cairnctl")
      context.transactionAuthor = parameters.author ?? "cairnctl"
      let reply = try await context.perform {
        var reply = try save.run(in: context, store: group.local)
        // Others' commits since then only move it further.
        reply.token = try? group.local.historyToken()
        return reply
      }
      group.health.noteWritten()
      return reply
    }

    serve(ImportRecords.self) { parameters, engine in
      let current = RowParts.current
      if let part = parameters.part {
        guard let parts = current, parameters.rows.isEmpty, parameters.lines.isEmpty else {
          throw ControlError.invalidParameter("part")
        }
        try parts.add(part)
        return .init(inserted: 0, updated: 0, unchanged: 0, created: 0)
      }
      guard let parts = current, parts.hasBegun else {
        return try await Self.importBatch(parameters, in: engine.current())
      }
      guard parameters.rows.isEmpty, parameters.lines.count == 1 else {
        parts.drop()
        throw ControlError.invalidParameter("rows")
      }
      return try await parts.takeRow(line: parameters.lines[0]) { row in
        var whole = parameters
        whole.rows = [row]
        return try await Self.importBatch(whole, in: engine.current())
      }
    }
  }

  /// How long finding a page of rows may take, whatever the condition.
  private static let readLimit = Duration.seconds(30)

  private static func fetch(
    _ parameters: FetchRecords.Parameters, in group: OpenGroup,
    _ send: @Sendable (FetchRecords.Reply) async throws -> Void
  ) async throws {
    let (store, coordinator) = try group.store(named: parameters.store)
    let fetch = try RecordFetch(
      parameters, model: coordinator.managedObjectModel, naming: group.naming)
    let context = group.newContext(named: "cairnctl")
    context.persistentStoreCoordinator = coordinator
    let cursor = try await context.perform {
      try fetch.start(in: context, stores: [store], within: readLimit)
    }
    while let batch = try await context.perform({ try cursor.next() }) {
      try await naming(batch.rows) { try await send(batch) }
      try Task.checkCancellation()
    }
  }

  private static func export(
    _ parameters: ExportRecords.Parameters, in group: OpenGroup,
    _ send: @Sendable (ExportRecords.Reply) async throws -> Void
  ) async throws {
    let (store, coordinator) = try group.store(named: parameters.store)
    let name = parameters.store ?? StoreReference.localName
    let snapshot = try await Blocking.run {
      let snapshot = try RecordSnapshot(of: store, model: coordinator.managedObjectModel)
      guard try snapshot.keepsState() else {
        throw ControlError.notPossible(
          code: "no-snapshot",
          reason: "\(name) keeps no write-ahead log, so that it cannot be read at one moment")
      }
      return snapshot
    }
    defer { snapshot.close() }
    for (index, fetch) in parameters.fetches.enumerated() {
      let cursor = try await Blocking.run {
        try snapshot.cursor(fetch, within: fetch.predicate == nil ? nil : readLimit)
      }
      while let batch = try await Blocking.run({ try cursor.next() }) {
        var rows = batch.rows
        if fetch.records ?? false { try Self.addRecords(to: &rows, coordinator, group.naming) }
        let reply = ExportRecords.Reply(fetch: index, properties: batch.properties, rows: rows)
        try await naming(rows) { try await send(reply) }
        try Task.checkCancellation()
      }
    }
  }

  /// Names the record that is too large for an answer, where one is.
  private static func naming(
    _ rows: [[String: JSONValue]], _ send: () async throws -> Void
  ) async throws {
    do {
      try await send()
    } catch ControlError.limitExceeded(let limit, let reason) {
      guard rows.count == 1, let row = rows.first else {
        throw ControlError.limitExceeded(limit: limit, reason: reason)
      }
      let name = [row["entity"], row["record"] ?? row["id"]].compactMap { $0?.stringValue }
      throw ControlError.limitExceeded(
        limit: limit,
        reason:
          "\(reason) for \(name.joined(separator: " ")) alone; leave its long values out, or read the "
          + "store's file (--file)")
    }
  }

  /// Adds the IDs of records to rows that have the URIs of objects.
  private static func addRecords(
    to rows: inout [[String: JSONValue]], _ coordinator: PersistentStoreCoordinator,
    _ naming: RecordIDNaming
  ) throws {
    let known: [(index: Int, object: ManagedObjectID)] = rows.indices.compactMap { index in
      rows[index]["id"]?.stringValue.flatMap(URL.init(string:))
        .flatMap(coordinator.managedObjectID(forURIRepresentation:)).map { (index, $0) }
    }
    for (place, name) in zip(known, try naming.names(of: known.map(\.object))) {
      rows[place.index]["record"] = .string(name)
    }
  }

  private static func importBatch(
    _ parameters: ImportRecords.Parameters, in group: OpenGroup
  ) async throws -> ImportRecords.Reply {
    guard parameters.lines.count == parameters.rows.count else {
      throw ControlError.invalidParameter("lines")
    }
    try check(author: parameters.author)
    let batch = try RecordImport(
      parameters, model: group.coordinator.managedObjectModel, naming: group.naming)
    // Another program may write the same records meanwhile; then the batch is looked up anew.
    for _ in 0..<4 {
      do {
        return try await importOnce(batch, author: parameters.author, in: group)
      } catch ControlError.saveConflict {
        continue
      }
    }
    return try await importOnce(batch, author: parameters.author, in: group)
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
