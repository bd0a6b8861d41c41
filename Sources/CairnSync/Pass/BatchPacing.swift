/// How many records one commit of a link moves: the configured number, and fewer while programs write to the
/// destination, which wait for as long as a commit takes.
struct BatchPacing: Hashable, Sendable {
  private(set) var size: Int
  private let most: Int
  /// Below that, what each commit costs by itself outweighs what is moved.
  private static let least = 64

  init(most: Int) {
    self.most = most
    size = most
  }

  /// - Parameter metWriters: Whether a program has written to the destination since the commit before.
  mutating func moved(metWriters: Bool) {
    size = metWriters ? max(min(Self.least, most), size / 4) : min(most, size * 2)
  }
}
