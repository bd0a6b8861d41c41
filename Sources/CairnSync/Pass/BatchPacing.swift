/// How many records one commit of a link moves: the configured number, and fewer while programs write to the
/// destination, which wait for as long as a commit takes.
struct BatchPacing: Hashable, Sendable {
  private(set) var size: Int
  private let most: Int
  /// Below that, what each commit costs by itself outweighs what is moved.
  static let least = 128
  /// Commits that met no program, since one did or the last growth.
  private var calm = 0
  /// Not each small commit meets a program that saves at times: they grow after so many.
  private static let calmBeforeGrowth = 8

  init(most: Int) {
    self.most = most
    size = most
  }

  /// - Parameter metWriters: Whether a program has written to the destination since the commit before.
  mutating func moved(metWriters: Bool) {
    if metWriters {
      (size, calm) = (max(min(Self.least, most), size / 4), 0)
    } else if size < most {
      calm += 1
      if calm >= Self.calmBeforeGrowth { (size, calm) = (min(most, size * 2), 0) }
    }
  }
}
