// What a support bundle shows instead of IDs.

/// Replaces record and store IDs by names that are the same within one bundle and tell nothing to who has another.
struct IDMasking: Sendable {
  private let salt = UInt64.random(in: 0 ... .max)

  /// A text with each UUID in it replaced.
  func masked(_ text: String) -> String {
    text.replacing(
      /[0-9A-Fa-f]{8}-[0-9A-Fa-f]{4}-[0-9A-Fa-f]{4}-[0-9A-Fa-f]{4}-[0-9A-Fa-f]{12}/
    ) { match in
      // Seeded anew in each process, and by the salt in each bundle.
      var hasher = Hasher()
      hasher.combine(salt)
      hasher.combine(match.output.lowercased())
      return "id-" + String(UInt64(bitPattern: Int64(hasher.finalize())), radix: 36)
    }
  }
}
