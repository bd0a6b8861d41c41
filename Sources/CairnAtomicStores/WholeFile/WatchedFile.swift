import CairnPlatform
import CairnStore
import Foundation

/// A store file that is replaced only if it is still as it was.
final class WatchedFile: StoreHold {
  private let file: WholeFile
  private let facts: FileFacts?
  private let replacement: WholeFile

  init(_ store: URL, for replacement: URL) {
    file = WholeFile(url: store)
    facts = file.facts
    self.replacement = WholeFile(url: replacement)
  }

  func replace() throws { try file.write(replacement.read(), replacing: facts) }

  func release() {}
}

extension WholeFileStoreKind {
  public func hold(
    _ store: URL, for replacement: URL, options: StoreOptions
  ) throws -> (any StoreHold)? { WatchedFile(store, for: replacement) }
}
