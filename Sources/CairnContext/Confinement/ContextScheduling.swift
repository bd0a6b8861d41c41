import CairnStore

/// Runs a block on a context's queue for a caller that awaits its result.
enum ContextScheduling {
  nonisolated(nonsending) static func run<T>(
    _ block: @escaping () throws -> T, on context: ManagedObjectContext,
    schedule: ManagedObjectContext.ScheduledTaskType
  ) async rethrows -> T {
    let outcome = await outcome(of: block, on: context, schedule: schedule)
    return try rethrowing(outcome.value, as: block)
  }

  nonisolated(nonsending) private static func outcome<T>(
    of block: @escaping () throws -> T, on context: ManagedObjectContext,
    schedule: ManagedObjectContext.ScheduledTaskType
  ) async -> Transferred<Result<T, any Error>> {
    context.confinement.requireQueue()
    if schedule == .immediate, context.confinement.isCurrent {
      // On the main actor, outside of any block of the context, the block is an event by itself.
      defer { if CurrentContext.context !== context { context.endEvent() } }
      return Transferred(value: Result { try block() })
    }
    let work = Transferred(value: block)
    return await withCheckedContinuation { continuation in
      context.confinement.async {
        let result = Transferred(value: Result { try work.value() })
        context.endEvent()
        continuation.resume(returning: result)
      }
    }
  }

  /// `Result.get()` throws whatever `T`'s closure does; this ties it to the closure, so that a
  /// block that cannot throw makes a call that cannot throw.
  private static func rethrowing<T>(
    _ result: Result<T, any Error>, as block: () throws -> T
  ) rethrows -> T {
    switch result {
    case .success(let value): return value
    case .failure(let error):
      func fail(_ body: () throws -> T) rethrows -> T {
        try { throw error }()
      }
      return try fail(block)
    }
  }
}

extension ManagedObjectContext {
  /// Runs the block on the context's queue, waits, and returns what it returns.
  ///
  /// May be nested.
  @discardableResult
  public func performAndWait<T>(_ block: () throws -> T) rethrows -> T {
    try confinement.sync { try CurrentContext.$context.withValue(self) { try block() } }
  }

  /// Runs the block on the context's queue without blocking the caller's thread.
  ///
  /// `.immediate` runs it at once when the caller is on the queue already; `.enqueued` always
  /// appends it. A context that belongs to a thread has no queue, and traps.
  ///
  /// The call itself goes on where its caller is, so that the caller's values may be used in the
  /// block, also in the language mode of Swift 6; the block runs on the context's queue.
  ///
  /// A block that is written in code of the main actor belongs to it in Swift 6, and closures in the block that
  /// the standard library calls check that: write `{ @Sendable in … }` there.
  nonisolated(nonsending) public func perform<T>(
    schedule: ScheduledTaskType = .immediate, _ block: @escaping () throws -> T
  ) async rethrows -> T {
    try await ContextScheduling.run(
      { try CurrentContext.$context.withValue(self) { try block() } }, on: self,
      schedule: schedule)
  }

  /// Runs what a child asks of its parent, on the parent's queue.
  final func serve<Result>(_ block: () throws -> Result) rethrows -> Result {
    try confinement.sync(for: .ancestor) {
      try CurrentContext.$context.withValue(self) { try block() }
    }
  }
}

/// The context whose block is running, for requests that are executed without naming one.
enum CurrentContext {
  /// Set around every block of a context.
  ///
  /// Unstructured tasks started by the block inherit it; ``required()`` tells them apart.
  @TaskLocal static var context: ManagedObjectContext?

  /// The context of the running block.
  ///
  /// - Throws: 134060 when there is none.
  static func required() throws -> ManagedObjectContext {
    guard let context, context.confinement.isCurrent else {
      throw CoreDataError(
        .coreData,
        "execute() was called outside of a context's block. Call it inside perform or "
          + "performAndWait, or give the request to the context's fetch(_:).")
    }
    return context
  }
}
