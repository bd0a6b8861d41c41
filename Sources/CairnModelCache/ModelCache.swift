import CairnModel
import Foundation

/// The copy of its model that a SQL store keeps in `Z_MODELCACHE`: a compiled model as a raw
/// DEFLATE stream.
package enum ModelCache {
  /// - Throws: ``ModelFileError`` for a value that archives cannot hold, such as a block predicate.
  package static func encode(_ model: ManagedObjectModel) throws -> Data {
    Deflate.compress(try CompiledModel.write(model))
  }

  /// - Throws: ``ModelFileError``, never anything worse, whatever the bytes.
  package static func decode(_ data: Data) throws -> ManagedObjectModel {
    let archive: Data
    do {
      archive = try Inflate.decompress(data, limit: 64 << 20)
    } catch {
      throw ModelFileError(file: fileName, .malformed, error.description)
    }
    return try CompiledModel.read(archive, file: fileName)
  }

  /// What errors name instead of a file.
  package static let fileName = "Z_MODELCACHE"
}
