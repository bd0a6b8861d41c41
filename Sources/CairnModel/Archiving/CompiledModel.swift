import Foundation

/// Models in the form that model compilers write (`.mom`) and stores keep (`Z_MODELCACHE`): a
/// binary keyed archive.
public enum CompiledModel {
  /// Reads a compiled model.
  ///
  /// Nothing in the archive is instantiated by its class name, and no bytes do worse than throw.
  ///
  /// Default values of classes of the model's own program are not kept.
  ///
  /// - Throws: ``ModelFileError``.
  public static func read(_ data: Data) throws -> ManagedObjectModel {
    try read(data, file: "compiled model")
  }

  package static func read(_ data: Data, file: String) throws -> ManagedObjectModel {
    try ModelUnarchiving.model(data, file: file)
  }

  /// The compiled form of a model, which Apple's frameworks read as well.
  ///
  /// A localization dictionary has no place in it: programs set it, or keep strings files.
  ///
  /// - Throws: ``ModelFileError`` for what archives cannot hold, such as a block predicate.
  public static func write(_ model: ManagedObjectModel) throws -> Data {
    try ModelArchiving.archive(model)
  }
}
