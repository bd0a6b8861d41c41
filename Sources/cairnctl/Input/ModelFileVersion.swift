// One version of a model file that a person names on the command line.
import Cairn
import CairnRecords
import Foundation

/// A version that can be read, and the file that it is from.
struct ModelFileVersion {
  let file: ModelVersions
  let name: String
  let model: ManagedObjectModel

  /// - Parameter version: Its name in a package; the current one when nil.
  /// - Throws: ``CommandFailure`` for a version that is not there, cannot be read or breaks rules of models.
  init(_ path: String, version: String?, timeout: Double?) throws {
    file = try InspectedFile.modelVersions(path, timeout: timeout)
    let wanted = version ?? file.current
    guard let found = file.versions.first(where: { $0.name == wanted }) else {
      throw CommandFailure(
        message: "\(path) has no version \(wanted)",
        hint: "its versions are \(file.versions.map(\.name).joined(separator: ", "))")
    }
    name = found.name
    do {
      model = try found.model.get()
      let problems = ModelValidation.problems(of: model)
      if !problems.isEmpty { throw ModelError(problems: problems) }
    } catch let error as ModelError {
      throw CommandFailure(
        message: "\(found.url.path): \(error)", hint: "`cairnctl model check \(path)` lists it")
    } catch {
      throw CommandFailure(model: error, at: path)
    }
  }

  var side: ModelComparison.Side {
    ModelComparison.Side(file: file.url.path, version: name, checksum: model.versionChecksum)
  }
}
