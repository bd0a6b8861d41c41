import GRDBSQLite

/// The object that an aggregate function collects into: SQLite keeps a pointer to it for each group.
///
/// The pointer's reference is taken back by ``take(_:)``, which SQLite's final call of each group leads
/// to, also where the statement fails.
enum AggregateState {
  /// The group's object, made by its first row; nil without memory.
  static func get<State: AnyObject>(_ context: OpaquePointer?, making make: () -> State) -> State? {
    let size = Int32(MemoryLayout<UnsafeRawPointer?>.size)
    guard let place = sqlite3_aggregate_context(context, size) else { return nil }
    let slot = place.assumingMemoryBound(to: UnsafeMutableRawPointer?.self)
    let known = slot.pointee ?? CallbackContext.retained(make())
    slot.pointee = known
    return CallbackContext.object(known)
  }

  /// Ends the group and gives its object; nil for a group of no rows.
  static func take<State: AnyObject>(_ context: OpaquePointer?, as type: State.Type) -> State? {
    let place = sqlite3_aggregate_context(context, 0)
    guard let slot = place?.assumingMemoryBound(to: UnsafeMutableRawPointer?.self),
      let known = slot.pointee
    else { return nil }
    slot.pointee = nil
    return Unmanaged<State>.fromOpaque(known).takeRetainedValue()
  }
}
