import CairnModel
import CairnStore

// Transactions that write rows: over the connection that holds others up, where the caller has one, and each done anew
// where others came in between.

extension PostgreSQLStore: WriteHolding, WriterReporting {
  /// How often work is done anew that others came in between of.
  private static let attempts = 5

  package func holdingWrites<Result>(_ work: () throws -> Result) throws -> Result {
    try checkIsWritable()
    let state = try openState()
    // Who holds already goes on.
    if WriteHold.current?.isOf(state) == true { return try work() }
    var result: Swift.Result<Result, any Error>?
    try onWriter {
      try self.work("hold other writers of") { state, connection in
        let hold = try WriteHold(connection, of: state.content.schema, in: state.pool)
        defer { hold.end() }
        WriteHold.$current.withValue(hold) { result = Swift.Result(catching: work) }
      }
    }
    guard let result else { return try work() }
    return try result.get()
  }

  /// Runs work that writes on a connection, and says of a failure where it happened.
  func write<Result>(
    _ purpose: String, _ body: (State, PostgreSQLConnection) throws -> Result
  ) throws -> Result {
    try checkIsWritable()
    return try onWriter {
      let state = try openState()
      guard let hold = WriteHold.current, hold.isOf(state) else { return try work(purpose, body) }
      do {
        return try hold.write { try body(state, $0) }
      } catch let failure as PostgreSQLFailure {
        throw located(failure.error(purpose, state.place.description))
      } catch let error as CoreDataError {
        throw located(error)
      }
    }
  }

  /// Tries work until no other program has come in between.
  ///
  /// - Parameters:
  ///   - isRepeatable: Whether the body can be run again once it has begun with rows.
  ///   - isOfOthers: Whether a failure comes of what other programs did meanwhile, beside those that always do.
  ///   - body: Gets the state of the store that it may count on; nil from it means that rows were not as it had found them.
  func repeating<Result>(
    _ work: String, _ state: State, isRepeatable: Bool = true,
    where isOfOthers: (PostgreSQLFailure) -> Bool = { _ in false },
    _ body: (StoreState) throws -> Result?
  ) throws -> Result {
    var known = state.known
    for attempt in 1...Self.attempts {
      do {
        if let result = try body(known) { return result }
        if !isRepeatable { break }
      } catch let change as StoreChange {
        known = try take(change, of: state)
      } catch let failure as PostgreSQLFailure
        where isRepeatable && attempt < Self.attempts
        && (failure.isWorthRepeating || isOfOthers(failure))
      {
        continue
      }
    }
    throw CoreDataError(
      .persistentStoreTimeout,
      "The \(work) \(state.place.description) met rows that did not take the change at the version at which they were "
        + "found, however often it was tried; nothing was written. Other programs may keep changing them: try again. If it "
        + "stays so, a trigger of another program suppresses the change (it returns NULL): psql's \\d names it."
    )
  }

  func checkIsWritable() throws {
    guard isReadOnly else { return }
    throw CoreDataError(
      .persistentStoreSave,
      "The store was opened read-only; open it without \(StoreOptionKey.readOnly).")
  }

  /// Tells those who watch over the process of work that writes.
  private func onWriter<Result>(_ work: () throws -> Result) throws -> Result {
    writerWork.begin()
    defer { writerWork.end() }
    return try writerWork.run(work)
  }
}
