import CLibPQ
import CairnPlatform
import CairnStore

// Statements, one at a time and many in one round trip.

/// A statement and its values.
package struct Statement: Sendable {
  package let text: String
  package let parameters: ParameterList
  /// Whether the server shall keep the text for the next time.
  package let isKept: Bool

  /// - Parameter isKept: false for a text that is used once.
  package init(_ text: String, _ parameters: ParameterList = ParameterList(), isKept: Bool = true) {
    self.text = text
    self.parameters = parameters
    self.isKept = isKept
  }
}

/// A statement that goes to the server behind others, in one round trip with them.
struct CompanionStatement {
  let statement: Statement
  /// Looks at its answer; what it throws, the caller of the others gets.
  let check: (PostgreSQLRows) throws -> Void
}

extension PostgreSQLConnection {
  /// Has a statement go along with the first ones that the work runs and the server does not fail at.
  func run<Result>(
    with companion: CompanionStatement, _ work: () throws -> Result
  ) throws -> Result {
    self.companion = companion
    defer { self.companion = nil }
    return try work()
  }

  /// Runs one statement.
  @discardableResult
  package func run(
    _ text: String, _ parameters: ParameterList = ParameterList(), isKept: Bool = true
  ) throws -> PostgreSQLRows {
    try checkIsUsable()
    if companion != nil {
      let results = try run([Statement(text, parameters, isKept: isKept)])
      guard let rows = results.last else { throw lost() }
      return rows
    }
    guard isKept else {
      try check(
        parameters.withPointers { values, lengths, formats in
          libpq.sendQuery(
            handle, text, parameters.count, parameters.types, values, lengths, formats, 1)
        })
      return try finishStatement()
    }
    let key = StatementCache.Key(text, parameters)
    let name = try prepared(key, parameters)
    try check(sendPrepared(name, parameters))
    do {
      return try finishStatement()
    } catch let failure as PostgreSQLFailure {
      forget(key, after: failure)
      throw failure
    }
  }

  /// Has the server begin with a text that is used once; ``finishStatement()`` gives its result.
  func begin(_ text: String) throws {
    try checkIsUsable()
    try check(libpq.sendQuery(handle, text, 0, nil, nil, nil, nil, 1))
    try flush()
  }

  /// Runs statements that need no answer of each other, in one round trip.
  ///
  /// Outside of a transaction they are one: all or none happens.
  ///
  /// - Returns: One result a statement.
  /// - Throws: The first failure; the server skips the statements behind it.
  @discardableResult
  package func run(_ batch: [Statement]) throws -> [PostgreSQLRows] {
    if batch.isEmpty { return [] }
    return try run { pipeline in for statement in batch { try pipeline.send(statement) } }
  }

  /// The same with statements that are made one after the other, while the server works at those before.
  ///
  /// - Throws: What the server failed at, else what the closure throws: the server has run what was sent until then.
  @discardableResult
  func run(_ produce: (StatementPipeline) throws -> Void) throws -> [PostgreSQLRows] {
    try checkIsUsable()
    try check(libpq.enterPipeline(handle))
    let pipeline = StatementPipeline(on: self)
    var refusal: (any Error)?
    do {
      do {
        try produce(pipeline)
        if let companion { try pipeline.send(companion.statement) }
      } catch {
        guard pipeline.takesMore else { throw error }
        refusal = error
      }
      try check(libpq.pipelineSync(handle))
      try pipeline.receive()
    } catch {
      // Nothing says what is still under way.
      let failure = error as? PostgreSQLFailure ?? PostgreSQLFailure(.lost, "\(error)")
      throw end ?? lose(PostgreSQLFailure(.lost, failure.message))
    }
    guard libpq.exitPipeline(handle) == 1 else { throw lost() }
    for (key, name) in pipeline.prepared { statements.note(key, preparedAs: name) }
    if let (key, failure) = pipeline.failure {
      if let key { forget(key, after: failure) }
      throw failure
    }
    if let refusal { throw refusal }
    try dropSurplus()
    guard let companion, let answer = pipeline.results.last else { return pipeline.results }
    self.companion = nil
    try companion.check(answer)
    return pipeline.results.dropLast()
  }

  /// The name under which the server knows a text, which is prepared where it does not.
  private func prepared(
    _ key: StatementCache.Key, _ parameters: ParameterList
  ) throws -> String {
    if let name = statements.name(of: key) { return name }
    let name = statements.newName(of: key)
    try check(libpq.sendPrepare(handle, name, key.text, parameters.count, key.types))
    _ = try finishStatement()
    statements.note(key, preparedAs: name)
    try dropSurplus()
    return name
  }

  private func dropSurplus() throws {
    for name in statements.takeSurplus() {
      try check(libpq.sendQuery(handle, "DEALLOCATE \(name)", 0, nil, nil, nil, nil, 1))
      _ = try finishStatement()
    }
  }

  /// A text that the server knows no more, or whose tables have changed since, is prepared anew next time.
  private func forget(_ key: StatementCache.Key, after failure: PostgreSQLFailure) {
    if failure.state == .changedPlan || failure.state == .unknownStatement {
      statements.forget(key)
    }
  }

  func sendPrepared(_ name: String, _ parameters: ParameterList) -> Int32 {
    parameters.withPointers { values, lengths, formats in
      libpq.sendPrepared(handle, name, parameters.count, values, lengths, formats, 1)
    }
  }

  /// - Throws: When libpq did not take what it was given.
  func check(_ result: Int32) throws {
    guard result != 1 else { return }
    if libpq.status(handle) != 0 { throw lost() }
    throw PostgreSQLFailure(
      .client,
      settings.redacted(libpq.errorMessage(handle).map { String(cString: $0).trimmedLine } ?? ""))
  }
}

/// One use of pipeline mode: what was sent, and the results as they come.
///
/// Used by the caller that has the connection, for as long as that runs statements.
final class StatementPipeline {
  private enum Sent {
    case preparation(StatementCache.Key, name: String)
    /// Without a key where the server does not keep the text.
    case statement(StatementCache.Key?)
  }

  private let connection: PostgreSQLConnection
  private var sent: [Sent] = []
  private var pending: [StatementCache.Key: String] = [:]
  private var heldBack = 0
  private(set) var results: [PostgreSQLRows] = []
  /// What the server has prepared on the way.
  private(set) var prepared: [(key: StatementCache.Key, name: String)] = []
  private(set) var failure: (key: StatementCache.Key?, failure: PostgreSQLFailure)?
  /// False once a statement could not be sent.
  private(set) var takesMore = true

  private static let longestHeldBack = 1 << 20

  fileprivate init(on connection: PostgreSQLConnection) { self.connection = connection }

  /// Sends a statement, or hands it to libpq to be sent.
  func send(_ statement: Statement) throws {
    takesMore = false
    try pass(statement)
    takesMore = true
  }

  private func pass(_ statement: Statement) throws {
    let libpq = connection.libpq
    let parameters = statement.parameters
    // libpq keeps all that the network does not take at once, in one piece of memory.
    if heldBack > Self.longestHeldBack {
      try connection.flush()
      heldBack = 0
    }
    heldBack += parameters.byteCount
    guard statement.isKept else {
      try connection.check(
        parameters.withPointers { values, lengths, formats in
          libpq.sendQuery(
            connection.handle, statement.text, parameters.count, parameters.types, values,
            lengths, formats, 1)
        })
      sent.append(.statement(nil))
      return
    }
    let key = StatementCache.Key(statement.text, parameters)
    var name = connection.statements.name(of: key) ?? pending[key]
    if name == nil {
      let new = connection.statements.newName(of: key)
      try connection.check(
        libpq.sendPrepare(
          connection.handle, new, statement.text, parameters.count, parameters.types))
      sent.append(.preparation(key, name: new))
      pending[key] = new
      name = new
    }
    try connection.check(connection.sendPrepared(name ?? "", parameters))
    sent.append(.statement(key))
  }

  /// Reads up to the end of the pipeline, which comes after a failure, too.
  fileprivate func receive() throws {
    var position = 0
    var hasEnded = false
    while true {
      guard let result = try connection.nextResult() else {
        // One nil stands between two statements; two mean that the connection is gone.
        if hasEnded { throw connection.lost() }
        hasEnded = true
        position += 1
        continue
      }
      hasEnded = false
      if result.status == .pipelineSync { return }
      if let problem = connection.failure(in: result) {
        if failure == nil { failure = (key(at: position), problem) }
        if connection.end != nil { throw problem }
        continue
      }
      guard result.status != .pipelineAborted, position < sent.count else { continue }
      switch sent[position] {
      case .preparation(let key, let name): prepared.append((key, name))
      case .statement: results.append(result)
      }
    }
  }

  private func key(at position: Int) -> StatementCache.Key? {
    guard position < sent.count else { return nil }
    switch sent[position] {
    case .preparation(let key, _): return key
    case .statement(let key): return key
    }
  }
}
