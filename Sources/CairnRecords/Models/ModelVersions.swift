// The versions of a model that a file holds.

import Cairn
import CairnModel
import CairnModelFiles
import Foundation

/// A model file with all its versions, those that cannot be read among them.
public struct ModelVersions: Sendable {
  public struct Version: Sendable {
    public let name: String
    /// The file or folder of this version.
    public let url: URL
    public let model: Result<ManagedObjectModel, ModelFileError>
  }

  public let url: URL
  public let versions: [Version]
  /// The version that new stores are made with.
  public let current: String
  /// Whether the file is a package, which can have several versions.
  public let isPackage: Bool

  /// Reads every version of a model file or package.
  ///
  /// - Throws: ``CairnModel/ModelFileError`` where no version can be named: a file that is not there, a folder
  ///   that is no package. What is wrong inside one version is in that version.
  public init(contentsOf url: URL) throws {
    self.url = url
    if ["xcdatamodeld", "momd"].contains(url.pathExtension) {
      let package = try ModelPackage(contentsOf: url)
      isPackage = true
      current = package.currentVersionName
      versions = package.versionNames.map { name in
        Version(
          name: name, url: package.url(ofVersion: name),
          model: Self.read(package.url(ofVersion: name)))
      }
      return
    }
    let name = url.deletingPathExtension().lastPathComponent
    let model = Self.read(url)
    if case .failure(let error) = model, error.problems.contains(where: { $0.code == .unreadable })
    {
      throw error
    }
    isPackage = false
    current = name
    versions = [Version(name: name, url: url, model: model)]
  }

  /// One model that is known already, such as the one inside a store.
  public init(_ model: ManagedObjectModel, named name: String, of url: URL) {
    self.url = url
    isPackage = false
    current = name
    versions = [Version(name: name, url: url, model: .success(model))]
  }

  private static func read(_ url: URL) -> Result<ManagedObjectModel, ModelFileError> {
    do {
      return .success(try ManagedObjectModel.load(contentsOf: url))
    } catch let error as ModelFileError {
      return .failure(error)
    } catch {
      return .failure(ModelFileError(file: url.path, .unreadable, "\(error)"))
    }
  }

  /// A mapping model from one version to another, in the package or beside it.
  ///
  /// Files that cannot be read, or lead elsewhere, are passed over.
  public func mapping(
    from source: ManagedObjectModel, to destination: ManagedObjectModel
  ) -> (model: MappingModel, url: URL)? {
    let folder = url.deletingLastPathComponent()
    return MappingModelSearch(folders: isPackage ? [url, folder] : [folder]).found(
      from: source, to: destination)
  }
}
