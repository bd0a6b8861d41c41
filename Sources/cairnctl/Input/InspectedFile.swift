// A store or model file that a person names on the command line.
import Cairn
import CairnControl
import CairnPlatform
import CairnRecords
import Foundation

/// Reads files for the commands that need no daemon, with errors that people understand.
enum InspectedFile {
  /// - Throws: ``CommandFailure`` that says what is wrong with which file.
  static func store(
    _ path: String, model modelPath: String?, checks: Bool, timeout: Double?
  ) throws -> StoreInspection {
    do {
      let model = try modelPath.map {
        try ManagedObjectModel.load(contentsOf: URL(fileURLWithPath: $0))
      }
      return try StoreInspection(
        contentsOf: URL(fileURLWithPath: path), model: model, checks: checks, timeout: timeout ?? 5)
    } catch let error as CoreDataError {
      throw CommandFailure(store: error, at: path)
    } catch let error as ModelFileError {
      throw CommandFailure(model: error, at: modelPath ?? path)
    } catch let error as CocoaError {
      throw CommandFailure(error, at: path)
    }
  }

  /// The versions of a model file, a model package, or the one that a store remembers.
  ///
  /// - Parameter name: what a version is called that has no name of its own.
  /// - Throws: ``CommandFailure``, also where one of the versions cannot be read.
  static func versions(
    _ path: String, name: String, timeout: Double?
  ) throws -> (list: [ModelPackage.Version], current: String) {
    let found = try modelVersions(path, timeout: timeout)
    do {
      let list = try found.versions.map {
        ModelPackage.Version(name: found.isPackage ? $0.name : name, model: try $0.model.get())
      }
      return (list, found.isPackage ? found.current : name)
    } catch {
      throw CommandFailure(model: error, at: path)
    }
  }

  /// One version of a model as the daemon tells of its own.
  ///
  /// - Parameter version: The current one when left out.
  /// - Throws: ``CommandFailure``, also where there is no such version.
  static func summary(_ path: String, version: String?, timeout: Double?) throws -> ModelSummary {
    let name = URL(fileURLWithPath: path).lastPathComponent
    let versions = try versions(path, name: name, timeout: timeout)
    let wanted = version ?? versions.current
    guard let found = versions.list.first(where: { $0.name == wanted }) else {
      let known = versions.list.map(\.name).joined(separator: ", ")
      throw CommandFailure(
        message: "\(path) has no version \(wanted)", hint: "its versions are \(known)")
    }
    return ModelSummary(found.model, name: name)
  }

  /// The same, with those versions that cannot be read.
  static func modelVersions(_ path: String, timeout: Double?) throws -> ModelVersions {
    let url = URL(fileURLWithPath: path)
    // A pipe would keep its reader waiting for ever.
    if let facts = try? FileFacts(path: path), !facts.isFolder, !facts.isRegularFile {
      throw CommandFailure(
        message: "\(path) is a device, a pipe or a socket",
        hint: "name a model file, a package or a store")
    }
    guard isDatabase(path) else {
      do {
        return try ModelVersions(contentsOf: url)
      } catch {
        throw CommandFailure(model: error, at: path)
      }
    }
    let store = try store(path, model: nil, checks: false, timeout: timeout)
    switch store.rememberedModel {
    case .model(let model):
      return ModelVersions(model, named: url.lastPathComponent, of: url)
    case .none:
      throw CommandFailure(
        message: "\(path) keeps no model inside",
        hint: "stores written before 2015 or so do not; name the program's model file instead")
    case .unreadable(let reason):
      throw CommandFailure(
        message: "the model that \(path) keeps inside cannot be read: \(reason)",
        hint: "name the program's model file instead")
    }
  }

  private static func isDatabase(_ path: String) -> Bool {
    let file = try? FileHandle(forReadingFrom: URL(fileURLWithPath: path))
    defer { try? file?.close() }
    return (try? file?.read(upToCount: 16)) == Data("SQLite format 3\0".utf8)
  }
}
