import Foundation

/// Finds models in bundles under the names that Xcode's builds give them.
///
/// Xcode compiles `Shop.xcdatamodeld` to `Shop.momd` and its versions to `.mom` files inside, and
/// sources ask bundles for these. SwiftPM on Linux copies models as they are, most often into a
/// resource bundle beside the program, so the search goes on to the models' sources, and from the
/// main bundle to the resource bundles. The build plugin leads a target's own questions here.
public enum ModelResources {
  private static let sources = [
    "momd": "xcdatamodeld", "mom": "xcdatamodel", "cdm": "xcmappingmodel",
  ]

  /// As `Bundle.url(forResource:withExtension:subdirectory:)`.
  public static func url(
    forResource name: String?, withExtension ext: String?, subdirectory: String? = nil,
    in bundle: Bundle
  ) -> URL? {
    if let found = bundle.url(
      forResource: name, withExtension: ext, subdirectory: subdirectory)
    {
      return found
    }
    let wanted = kind(ext) ?? (name as NSString?)?.pathExtension ?? ""
    guard sources[wanted] != nil else { return nil }
    guard let name, !name.isEmpty else {
      return urls(forResourcesWithExtension: wanted, subdirectory: subdirectory, in: bundle).first
    }
    let hasExtension = (name as NSString).pathExtension == wanted
    let path = (subdirectory.map { $0 + "/" } ?? "") + (hasExtension ? name : "\(name).\(wanted)")
    for folder in folders(of: bundle) {
      let url = folder.appendingPathComponent(path)
      if let found = existing(url) { return found }
    }
    return nil
  }

  /// As `Bundle.urls(forResourcesWithExtension:subdirectory:)`; empty when there are none.
  public static func urls(
    forResourcesWithExtension ext: String?, subdirectory: String? = nil, in bundle: Bundle
  ) -> [URL] {
    let own = bundle.urls(forResourcesWithExtension: ext, subdirectory: subdirectory) ?? []
    guard own.isEmpty, let wanted = kind(ext), let source = sources[wanted] else {
      return own.map { $0 as URL }
    }
    let within = folders(of: bundle).compactMap { folder in
      subdirectory.map { existing(folder.appendingPathComponent($0)) } ?? folder
    }
    return ProgramResources.files(withExtensions: [wanted, source], in: within)
  }

  /// The file, or the source that it would have been compiled from; nil when there is neither.
  static func existing(_ url: URL) -> URL? {
    if FileManager.default.fileExists(atPath: url.path) { return url }
    let names = url.pathComponents.map { name -> String in
      guard let source = sources[(name as NSString).pathExtension] else { return name }
      return (name as NSString).deletingPathExtension + "." + source
    }
    let source = URL(fileURLWithPath: NSString.path(withComponents: names))
    return FileManager.default.fileExists(atPath: source.path) ? source : nil
  }

  private static func kind(_ ext: String?) -> String? {
    guard let ext, !ext.isEmpty else { return nil }
    return ext.hasPrefix(".") ? String(ext.dropFirst()) : ext
  }

  /// A program's bundle on Linux is the folder of its executable: the resource bundles of its
  /// targets stand there.
  private static func folders(of bundle: Bundle) -> [URL] {
    let own = [bundle.resourceURL].compactMap { $0 }
    return isMain(bundle) ? own + ProgramResources.folders : own
  }

  static func isMain(_ bundle: Bundle) -> Bool {
    bundle === Bundle.main || bundle.bundlePath == Bundle.main.bundlePath
  }
}
