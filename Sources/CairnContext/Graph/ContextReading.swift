/// Where a context reads, and what it has read last.
struct ContextReading {
  /// Nil for a context that is attached to nothing.
  var source: (any RowSource)?
  /// The relationship whose members were listed last without the rows of all.
  weak var lastMembers: ToManyValue?
}
