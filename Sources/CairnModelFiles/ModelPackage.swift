import CairnModel
import Foundation

/// A folder that holds all versions of one model: `.xcdatamodeld` as the editor writes it, or
/// `.momd` as the compiler does.
public struct ModelPackage: Sendable {
  /// How the versions are stored.
  public enum Form: Sendable, Hashable {
    /// `.xcdatamodeld`: one `.xcdatamodel` folder a version.
    case source
    /// `.momd`: one `.mom` file a version.
    case compiled
  }

  /// The folder.
  public let url: URL
  public let form: Form
  /// The versions' names without extension, sorted.
  public let versionNames: [String]
  /// The version that new stores are made with.
  public let currentVersionName: String

  /// Lists the versions of a package; no model is read yet.
  ///
  /// - Throws: ``ModelFileError`` when the folder is no package or names a current version that it
  ///   does not hold.
  public init(contentsOf url: URL) throws {
    let names: [String]
    do {
      names = try FileManager.default.contentsOfDirectory(atPath: url.path)
    } catch {
      throw ModelFileError(
        file: url.path, .unreadable,
        FileManager.default.fileExists(atPath: url.path)
          ? "It is no model package, or it may not be read: \((error as NSError).localizedDescription)"
          : "There is no such file.")
    }
    let sources = Self.stems(of: names, extension: "xcdatamodel")
    let compiled = Self.stems(of: names, extension: "mom")
    let isSource = url.pathExtension == "xcdatamodeld" || (!sources.isEmpty && compiled.isEmpty)
    let versions = isSource ? sources : compiled
    guard !versions.isEmpty else {
      throw ModelFileError(
        file: url.path, .notAModel,
        "The folder holds no model versions (\(isSource ? ".xcdatamodel" : ".mom")).")
    }
    self.url = url
    form = isSource ? .source : .compiled
    versionNames = versions
    let package = url.deletingPathExtension().lastPathComponent
    let recorded =
      isSource ? try Self.recordedSourceVersion(in: url) : try Self.recordedVersion(in: url)
    if let recorded {
      guard versions.contains(recorded) else {
        throw ModelFileError(
          file: url.path, .unknownName,
          "The current version is \(recorded), but the package only holds "
            + versions.joined(separator: ", ") + ".")
      }
      currentVersionName = recorded
    } else if versions.count == 1 {
      currentVersionName = versions[0]
    } else if versions.contains(package) {
      currentVersionName = package
    } else {
      throw ModelFileError(
        file: url.path, .missingValue,
        "The package holds several versions and does not say which is current; choose one in "
          + (isSource ? ".xccurrentversion." : "VersionInfo.plist."))
    }
  }

  /// Where a version is stored.
  public func url(ofVersion name: String) -> URL {
    url.appendingPathComponent(name + (form == .source ? ".xcdatamodel" : ".mom"))
  }

  /// Reads one version.
  ///
  /// - Throws: ``ModelFileError``, also when there is no such version.
  public func model(named name: String) throws -> ManagedObjectModel {
    guard versionNames.contains(name) else {
      throw ModelFileError(
        file: url.path, .unknownName,
        "There is no version \(name); there are \(versionNames.joined(separator: ", ")).")
    }
    return try ManagedObjectModel.read(contentsOf: url(ofVersion: name))
  }

  /// Reads the current version.
  ///
  /// - Throws: ``ModelFileError``.
  public func currentModel() throws -> ManagedObjectModel { try model(named: currentVersionName) }

  /// Reads the version that a store with these entity hashes was made with, nil when there is none.
  ///
  /// Versions that cannot be read are passed over.
  public func model(matchingStoreMetadata metadata: [String: Any]) -> ManagedObjectModel? {
    for name in versionNames {
      if let model = try? model(named: name),
        model.isConfiguration(withName: nil, compatibleWithStoreMetadata: metadata)
      {
        return model
      }
    }
    return nil
  }

  private static func stems(of names: [String], extension wanted: String) -> [String] {
    names.filter { ($0 as NSString).pathExtension == wanted }
      .map { ($0 as NSString).deletingPathExtension }.sorted()
  }

  private static func recordedSourceVersion(in url: URL) throws -> String? {
    let file = url.appendingPathComponent(".xccurrentversion")
    let name = try propertyList(at: file)?["_XCCurrentVersionName"] as? String
    return name.map { ($0 as NSString).deletingPathExtension }
  }

  private static func recordedVersion(in url: URL) throws -> String? {
    let file = url.appendingPathComponent("VersionInfo.plist")
    return try propertyList(at: file)?["NSManagedObjectModel_CurrentVersionName"] as? String
  }

  /// The dictionary in a property list, nil when there is no such file.
  private static func propertyList(at file: URL) throws -> [String: Any]? {
    guard FileManager.default.fileExists(atPath: file.path) else { return nil }
    do {
      let data = try Data(contentsOf: file)
      let list = try PropertyListReading.value(in: data)
      if let dictionary = list as? [String: Any] { return dictionary }
    } catch {
      throw ModelFileError(
        file: file.path, .malformed, "The property list cannot be read: \(error)")
    }
    throw ModelFileError(file: file.path, .malformed, "The property list holds no dictionary.")
  }
}
