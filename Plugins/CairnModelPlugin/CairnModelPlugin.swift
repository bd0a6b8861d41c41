import Foundation
import PackagePlugin

/// Generates what a target that uses Cairn or CoreData needs on Linux, while it is built.
///
/// - The classes of every `.xcdatamodeld` and `.xcdatamodel` of the target. A model is regenerated
///   when a document in its package changes. Entities choose what is generated through their code
///   generation setting.
/// - A companion file to the target's own sources: the accessors behind `@NSManaged`, the names of
///   properties behind key paths, and aliases for names that Foundation has too.
///
/// See `cairn-modelgen`.
@main
struct CairnModelPlugin: BuildToolPlugin {
  func createBuildCommands(context: PluginContext, target: any Target) async throws -> [Command] {
    let tool = try context.tool(named: "cairn-modelgen")
    let module = importedModule(of: target)
    var commands: [Command] = []
    if let sources = target.sourceModule {
      let files = sources.sourceFiles(withSuffix: "swift").map(\.url).sorted { $0.path < $1.path }
      let output = context.pluginWorkDirectoryURL
        .appendingPathComponent("\(sources.moduleName)+Companion.swift")
      commands.append(
        .buildCommand(
          displayName: "Generate accessors of \(sources.moduleName)", executable: tool.url,
          arguments: [
            "companion", "--module", sources.moduleName, "--output", output.path, "--import",
            module,
          ] + files.map(\.path),
          inputFiles: files, outputFiles: [output]))
    }
    return commands
      + models(in: target.directoryURL).map { model in
        let name = model.deletingPathExtension().lastPathComponent
        let output = context.pluginWorkDirectoryURL.appendingPathComponent("\(name)+Model.swift")
        return .buildCommand(
          displayName: "Generate classes of \(model.lastPathComponent)",
          executable: tool.url,
          arguments: ["generate", model.path, "--output", output.path, "--import", module],
          inputFiles: documents(in: model), outputFiles: [output])
      }
  }

  /// `CoreData` for a target that uses Cairn under Apple's names only, otherwise `Cairn`.
  private func importedModule(of target: any Target) -> String {
    let products = products(of: target)
    return products.contains("CoreData") && !products.contains("Cairn") ? "CoreData" : "Cairn"
  }

  /// The products that a target uses, those of targets it depends on included.
  private func products(of target: any Target) -> Set<String> {
    var result: Set<String> = []
    for dependency in target.dependencies {
      switch dependency {
      case .product(let product): result.insert(product.name)
      case .target(let other):
        // Cairn's own package has no products of its own to depend on.
        result.insert(other.name)
        result.formUnion(products(of: other))
      @unknown default: break
      }
    }
    return result
  }

  /// The model packages below a folder, and versions that are in no package.
  private func models(in folder: URL) -> [URL] {
    var result: [URL] = []
    let files = FileManager.default.enumerator(at: folder, includingPropertiesForKeys: nil)
    while let url = files?.nextObject() as? URL {
      guard ["xcdatamodeld", "xcdatamodel"].contains(url.pathExtension) else { continue }
      result.append(url)
      files?.skipDescendants()
    }
    return result.sorted { $0.path < $1.path }
  }

  /// The files that decide what is generated.
  private func documents(in model: URL) -> [URL] {
    var result: [URL] = []
    let files = FileManager.default.enumerator(at: model, includingPropertiesForKeys: nil)
    while let url = files?.nextObject() as? URL {
      if ["contents", ".xccurrentversion"].contains(url.lastPathComponent) { result.append(url) }
    }
    return result.sorted { $0.path < $1.path }
  }
}
