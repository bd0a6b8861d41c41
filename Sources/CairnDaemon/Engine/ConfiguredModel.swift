import CairnModel

/// The model that the configuration named when an engine began to work with it.
struct ConfiguredModel: Sendable {
  private let section: ModelSection
  /// All that is in it, since checksums leave out delete rules and validation.
  ///
  /// Nil where an archive cannot hold it.
  private let content: [UInt8]?

  init(_ section: ModelSection, _ model: ManagedObjectModel) {
    self.section = section
    content = Self.content(of: model)
  }

  /// The name under which it is shown.
  var name: String {
    switch section {
    case .file(let path): path
    case .fromStore: "from-store"
    }
  }

  /// Whether it is another model, or another version, than its file holds by now.
  ///
  /// - Parameter model: What the file holds.
  func differs(from model: ManagedObjectModel) -> Bool {
    guard case .file = section, let content else { return false }
    return Self.content(of: model).map { $0 != content } ?? false
  }

  private static func content(of model: ManagedObjectModel) -> [UInt8]? {
    (try? CompiledModel.write(model)).map { [UInt8]($0) }
  }
}
