import Foundation

/// Models in the form that model compilers write (`.mom`) and stores keep (`Z_MODELCACHE`).
public enum CompiledModel {
  static func read(_ data: Data, file: String) throws -> ManagedObjectModel {
    throw ModelFileError(file: file, .notAModel, "Compiled models are read by the next commit.")
  }
}
