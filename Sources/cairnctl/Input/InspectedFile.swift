// A store or model file that a person names on the command line.
import Cairn
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
      throw CommandFailure(message: error.message)
    } catch let error as ModelFileError {
      throw CommandFailure(message: "\(error)")
    } catch let error as CocoaError {
      throw CommandFailure(message: "\(path): \(error.localizedDescription)")
    }
  }

  /// The versions of a model file, a model package, or the one that a store remembers.
  ///
  /// - Parameter name: what a version is called that has no name of its own.
  static func versions(
    _ path: String, name: String, timeout: Double?
  ) throws -> (list: [ModelPackage.Version], current: String) {
    let url = URL(fileURLWithPath: path)
    do {
      if isDatabase(path) {
        let store = try store(path, model: nil, checks: false, timeout: timeout)
        switch store.rememberedModel {
        case .model(let model): return ([.init(name: name, model: model)], name)
        case .none:
          throw CommandFailure(
            message: "\(path) keeps no model inside",
            hint:
              "stores written before 2015 or so do not; convert the program's model file instead")
        case .unreadable(let reason):
          throw CommandFailure(
            message: "the model that \(path) keeps inside cannot be read: \(reason)")
        }
      }
      if ["xcdatamodeld", "momd"].contains(url.pathExtension) {
        let package = try ModelPackage(contentsOf: url)
        let list = try package.versionNames.map {
          ModelPackage.Version(name: $0, model: try package.model(named: $0))
        }
        return (list, package.currentVersionName)
      }
      return ([.init(name: name, model: try ManagedObjectModel.load(contentsOf: url))], name)
    } catch let error as ModelFileError {
      throw CommandFailure(message: "\(error)")
    }
  }

  private static func isDatabase(_ path: String) -> Bool {
    let file = try? FileHandle(forReadingFrom: URL(fileURLWithPath: path))
    defer { try? file?.close() }
    return (try? file?.read(upToCount: 16)) == Data("SQLite format 3\0".utf8)
  }
}
