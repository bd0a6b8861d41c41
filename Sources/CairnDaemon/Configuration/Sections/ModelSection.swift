// `model`: where the shape of the data comes from.

/// Where the model is read from.
public enum ModelSection: Sendable, Hashable {
  /// A file or bundle: `.xcdatamodeld`, `.xcdatamodel`, `.momd` or `.mom`.
  case file(String)
  /// The model that the local store keeps inside itself.
  case fromStore

  static let kinds = [".xcdatamodeld", ".xcdatamodel", ".momd", ".mom"]

  static func read(_ reader: SectionReader) -> ModelSection? {
    let remedy = "name a \(kinds.joined(separator: ", ")) or write from-store"
    guard let text = reader.requiredText("model", remedy: remedy) else { return nil }
    if text == "from-store" { return .fromStore }
    guard let path = reader.absolutePath(text, key: "model") else { return nil }
    let bare = path.hasSuffix("/") ? String(path.dropLast()) : path
    guard kinds.contains(where: bare.hasSuffix) else {
      reader.report("model", "\"\(text)\" does not look like a model", remedy)
      return nil
    }
    return .file(bare)
  }
}
