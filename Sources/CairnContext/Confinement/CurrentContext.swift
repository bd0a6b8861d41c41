import CairnStore

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
