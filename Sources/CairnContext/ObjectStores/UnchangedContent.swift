import CairnPlatform
import CairnStore
import Foundation

/// A file of a program's own kind of store, which is replaced only if its content is still the same.
final class UnchangedContent: StoreHold {
  private let store: URL
  private let replacement: URL
  private let kind: StoreClassKind
  private let options: StoreOptions
  private let content: Data?

  init(of store: URL, for replacement: URL, kind: StoreClassKind, _ options: StoreOptions) {
    self.store = store
    self.replacement = replacement
    self.kind = kind
    self.options = options
    content = store.isFileURL ? try? Data(contentsOf: store) : nil
  }

  func replace() throws {
    guard let content, kind.storeClass is AtomicStore.Type else {
      // It knows what to say of stores that are no file.
      return try kind.replace(at: store, withStoreAt: replacement, options: options)
    }
    _ = try kind.metadata(at: replacement, options: options)
    let path = store.resolvingSymlinksInPath().path
    let isReplaced: Bool
    do {
      isReplaced = try AtomicFileWrite.replace(
        path: path, with: Data(contentsOf: replacement), mode: FileFacts(path: path).mode
      ) { old in
        try old.map { try Data(contentsOf: URL(fileURLWithPath: $0)) == content } ?? false
      }
    } catch let error as PlatformError {
      throw CoreDataError(
        .persistentStoreSave, "The store at \(path) cannot be replaced: \(error).",
        userInfo: [NSFilePathErrorKey: path], underlyingError: error)
    }
    guard isReplaced else {
      throw CoreDataError(
        .persistentStoreSaveConflicts,
        "The store at \(path) was changed by another program while it was migrated.",
        userInfo: [NSFilePathErrorKey: path])
    }
  }

  func release() {}
}
