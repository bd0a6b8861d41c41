import CairnModel
import Foundation

/// Where a program keeps its models and mapping models.
package enum ProgramResources {
  /// The main bundle's resources, the executable's folder, and the resource bundles that SwiftPM
  /// puts next to it (`Package_Target.resources`).
  package static var folders: [URL] {
    var folders: [URL] = []
    if let resources = Bundle.main.resourceURL { folders.append(resources) }
    guard let executable = Bundle.main.executableURL else { return folders }
    let folder = executable.resolvingSymlinksInPath().deletingLastPathComponent()
    folders.append(folder)
    let names = (try? FileManager.default.contentsOfDirectory(atPath: folder.path)) ?? []
    for name in names.sorted() where name.hasSuffix(".resources") || name.hasSuffix(".bundle") {
      folders.append(folder.appendingPathComponent(name))
    }
    return folders
  }

  /// How models are stored, compiled ones first.
  package static let modelExtensions = ["momd", "mom", "xcdatamodeld", "xcdatamodel"]

  /// The models directly in the folders, each name once: a model that is there compiled and as
  /// source is read compiled.
  package static func models(in folders: [URL] = folders) -> [URL] {
    var seen: Set<String> = []
    return folders.flatMap { folder in
      modelExtensions.flatMap { files(withExtensions: [$0], in: [folder]) }
    }.filter { seen.insert($0.deletingPathExtension().lastPathComponent).inserted }
  }

  /// The files and folders with one of the extensions, directly in the folders, sorted by name.
  package static func files(withExtensions extensions: [String], in folders: [URL]) -> [URL] {
    var seen: Set<String> = []
    return folders.flatMap { folder in
      ((try? FileManager.default.contentsOfDirectory(atPath: folder.path)) ?? []).sorted()
        .filter { extensions.contains(($0 as NSString).pathExtension) }
        .map { folder.appendingPathComponent($0) }
    }.filter { seen.insert($0.resolvingSymlinksInPath().path).inserted }
  }

  /// The first model version among the program's models that a test accepts.
  ///
  /// Models that cannot be read are passed over.
  package static func model(
    in folders: [URL] = folders, where accepts: (ManagedObjectModel) -> Bool
  ) -> ManagedObjectModel? {
    for url in files(withExtensions: ["momd", "xcdatamodeld"], in: folders) {
      guard let package = try? ModelPackage(contentsOf: url) else { continue }
      for name in package.versionNames {
        if let model = try? package.model(named: name), accepts(model) { return model }
      }
    }
    for url in files(withExtensions: ["mom", "xcdatamodel"], in: folders) {
      if let model = try? ManagedObjectModel.read(contentsOf: url), accepts(model) { return model }
    }
    return nil
  }
}
